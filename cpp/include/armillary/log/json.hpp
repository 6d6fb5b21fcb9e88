#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace armillary::log {

/// Why a text is no change: one sentence for people.
class InvalidChange : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A JSON value as a tree. Whole numbers and fractions stay apart: 1 and 1.0 are written as they were.
struct Json {
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  ///< in the order in which it was written
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value = nullptr;

  Json() = default;
  template <typename T>
    requires(!std::same_as<std::remove_cvref_t<T>, Json>)
  Json(T&& given) : value(std::forward<T>(given)) {}

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::nullptr_t>(value); }
  template <typename T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&value);
  }
};

/// Reads one JSON value (RFC 8259), strictly: valid UTF-8, no key twice, numbers that fit, 64 levels at most.
/// Memory stays within a few times the length of the text. Throws InvalidChange.
[[nodiscard]] Json parse_json(std::string_view text);

/// Writes without blanks; fractions as the shortest text that reads back to the same bits. They must be finite.
[[nodiscard]] std::string write_json(const Json& json);

}  // namespace armillary::log
