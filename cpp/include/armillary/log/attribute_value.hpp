#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "armillary/detail/sha256.hpp"

namespace armillary {

/// What an attribute may hold: a truth value, a number, a text, or a list of such values.
///
/// Equal is what people call equal: 1 and 1.0 are, true and 1 are not, lists are element by element.
/// Integers and fractions are compared exactly, without rounding. A number is never NaN.
class AttributeValue {
 public:
  using List = std::vector<AttributeValue>;
  using Storage = std::variant<bool, std::int64_t, double, std::string, List>;

  AttributeValue(std::same_as<bool> auto truth) : storage_(truth) {}
  AttributeValue(std::signed_integral auto number) : storage_(std::int64_t{number}) {}
  AttributeValue(double number);
  AttributeValue(std::string text) : storage_(std::move(text)) {}
  AttributeValue(const char* text) : storage_(std::string(text)) {}
  AttributeValue(List values) : storage_(std::move(values)) {}

  [[nodiscard]] const Storage& storage() const { return storage_; }
  template <typename T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&storage_);
  }
  [[nodiscard]] bool is_number() const { return get_if<std::int64_t>() != nullptr || get_if<double>() != nullptr; }

  [[nodiscard]] bool operator==(const AttributeValue& other) const;
  /// Which of two numbers is larger, exactly. Both must be numbers.
  [[nodiscard]] std::strong_ordering compare_number(const AttributeValue& other) const;

  /// Equal values give equal bits, on every machine.
  [[nodiscard]] std::uint64_t hash() const;
  /// Of a number: the larger of two never has the smaller bits, and equal numbers have equal bits.
  /// Different numbers beyond 2^53 may share bits: who searches by bits compares what was found.
  [[nodiscard]] std::uint64_t order_bits() const;
  /// Equal values add equal bytes, different ones different bytes.
  void add_to(Sha256& hash) const;

 private:
  Storage storage_;
};

static_assert(sizeof(AttributeValue) <= 40);

}  // namespace armillary
