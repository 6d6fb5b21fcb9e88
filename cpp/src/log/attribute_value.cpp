#include "armillary/log/attribute_value.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <optional>

#include "armillary/detail/mix.hpp"

namespace armillary {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

// Kinds as they enter hashes and digests: never change one.
enum class Kind : std::uint64_t { truth = 1, integer = 2, fraction = 3, text = 4, list = 5 };

/// The integer that `number` is, if it is one that fits.
std::optional<std::int64_t> as_integer(double number) {
  if (!(number >= -kTwoTo63 && number < kTwoTo63) || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> as_integer(const AttributeValue& value) {
  if (const auto* integer = value.get_if<std::int64_t>()) return *integer;
  const auto* number = value.get_if<double>();
  return number != nullptr ? as_integer(*number) : std::nullopt;
}

std::strong_ordering order(double a, double b) {
  if (a == b) return std::strong_ordering::equal;
  return a < b ? std::strong_ordering::less : std::strong_ordering::greater;
}

std::strong_ordering order(std::int64_t integer, double number) {
  if (number >= kTwoTo63) return std::strong_ordering::less;
  if (number < -kTwoTo63) return std::strong_ordering::greater;
  const double whole = std::floor(number);
  const auto below = integer <=> static_cast<std::int64_t>(whole);
  return below == 0 && number > whole ? std::strong_ordering::less : below;
}

/// The nearest double: rounding never swaps two numbers.
double nearest_double(const AttributeValue& number) {
  if (const auto* integer = number.get_if<std::int64_t>()) return static_cast<double>(*integer);
  return std::get<double>(number.storage());
}

std::uint64_t text_hash(std::string_view text) {
  std::uint64_t hash = text.size();
  for (std::size_t i = 0; i < text.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t j = i; j < std::min(i + 8, text.size()); ++j)
      word |= std::uint64_t{static_cast<std::uint8_t>(text[j])} << (8 * (j - i));
    hash = detail::mixed(hash + word);
  }
  return hash;
}

std::uint64_t list_hash(const AttributeValue::List& values) {
  std::uint64_t hash = values.size();
  for (const AttributeValue& value : values) hash = detail::mixed(hash) + value.hash();
  return hash;
}

std::uint64_t hash_of(Kind kind, std::uint64_t bits) {
  return detail::mixed(detail::mixed(static_cast<std::uint64_t>(kind)) + bits);
}

void add_kind(Sha256& hash, Kind kind, std::uint64_t bits) {
  hash.add(static_cast<std::uint64_t>(kind));
  hash.add(bits);
}

}  // namespace

AttributeValue::AttributeValue(double number) : storage_(number) { assert(!std::isnan(number)); }

bool AttributeValue::operator==(const AttributeValue& other) const {
  if (is_number() && other.is_number()) return compare_number(other) == 0;
  return storage_ == other.storage_;
}

std::strong_ordering AttributeValue::compare_number(const AttributeValue& other) const {
  assert(is_number() && other.is_number());
  const auto* mine = get_if<std::int64_t>();
  const auto* theirs = other.get_if<std::int64_t>();
  if (mine != nullptr && theirs != nullptr) return *mine <=> *theirs;
  if (mine != nullptr) return order(*mine, std::get<double>(other.storage_));
  if (theirs != nullptr) return 0 <=> order(*theirs, std::get<double>(storage_));
  return order(std::get<double>(storage_), std::get<double>(other.storage_));
}

std::uint64_t AttributeValue::hash() const {
  if (const auto integer = as_integer(*this)) return hash_of(Kind::integer, static_cast<std::uint64_t>(*integer));
  if (const auto* number = get_if<double>()) return hash_of(Kind::fraction, std::bit_cast<std::uint64_t>(*number));
  if (const auto* truth = get_if<bool>()) return hash_of(Kind::truth, *truth ? 1 : 0);
  if (const auto* text = get_if<std::string>()) return hash_of(Kind::text, text_hash(*text));
  return hash_of(Kind::list, list_hash(std::get<List>(storage_)));
}

std::uint64_t AttributeValue::order_bits() const {
  assert(is_number());
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(nearest_double(*this) + 0.0);  // -0.0 becomes 0.0
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

void AttributeValue::add_to(Sha256& hash) const {
  if (const auto integer = as_integer(*this)) return add_kind(hash, Kind::integer, static_cast<std::uint64_t>(*integer));
  if (const auto* number = get_if<double>()) return add_kind(hash, Kind::fraction, std::bit_cast<std::uint64_t>(*number));
  if (const auto* truth = get_if<bool>()) return add_kind(hash, Kind::truth, *truth ? 1 : 0);
  if (const auto* text = get_if<std::string>()) {
    add_kind(hash, Kind::text, text->size());
    return hash.add(*text);
  }
  const List& values = std::get<List>(storage_);
  add_kind(hash, Kind::list, values.size());
  for (const AttributeValue& value : values) value.add_to(hash);
}

}  // namespace armillary
