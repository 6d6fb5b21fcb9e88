// Values are equal as people expect, and hashes, digests and order follow.

#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "armillary/log/attribute_value.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

using List = AttributeValue::List;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kTwoTo53 = std::int64_t{1} << 53;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string digest_of(const AttributeValue& value) {
  Sha256 hash;
  value.add_to(hash);
  return hex(hash.finish());
}

/// Numbers in rising order, no two equal.
std::vector<AttributeValue> rising_numbers() {
  return {-kInfinity,
          -1e300,
          std::nextafter(-0x1p63, -kInfinity),
          kSmallest,
          kSmallest + 1,
          -kTwoTo53 - 1,
          -0x1p53,
          -2.5,
          -2,
          -0.5,
          -std::numeric_limits<double>::denorm_min(),
          0,
          std::numeric_limits<double>::denorm_min(),
          0.1,
          1,
          1.5,
          2,
          1e15,
          0x1p53,
          kTwoTo53 + 1,
          kTwoTo53 + 2,
          kLargest - 1,
          kLargest,
          0x1p63,
          1e300,
          kInfinity};
}

}  // namespace

TEST(attribute_equal, "numbers are equal by value, and everything follows") {
  const std::vector<std::pair<AttributeValue, AttributeValue>> pairs{
      {1, 1.0},           {0.0, -0.0},
      {0, -0.0},          {kSmallest, -0x1p63},
      {kTwoTo53, 0x1p53}, {List{1, "a", List{2.0}}, List{1.0, "a", List{2}}}};
  for (const auto& [a, b] : pairs) {
    CHECK(a == b && b == a);
    CHECK(a.hash() == b.hash());
    CHECK(digest_of(a) == digest_of(b));
    if (a.is_number()) CHECK(a.order_bits() == b.order_bits());
  }
}

TEST(attribute_different, "values that differ in kind or content differ in everything") {
  const std::vector<AttributeValue> values{true,
                                           false,
                                           1,
                                           0,
                                           0.5,
                                           "",
                                           "1",
                                           "true",
                                           std::string("a\0b", 3),
                                           "a",
                                           List{},
                                           List{AttributeValue(List{})},
                                           List{1},
                                           List{true},
                                           List{1, 2},
                                           List{AttributeValue(List{1, 2})},
                                           List{List{1}, 2},
                                           List{"ab"},
                                           List{"a", "b"},
                                           kTwoTo53,
                                           kTwoTo53 + 1,
                                           kLargest,
                                           0x1p63};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      CHECK((values[i] == values[j]) == (i == j));
      CHECK((values[i].hash() == values[j].hash()) == (i == j));
      CHECK((digest_of(values[i]) == digest_of(values[j])) == (i == j));
    }
  }
}

TEST(attribute_order, "numbers of both kinds have one exact order") {
  const std::vector<AttributeValue> numbers = rising_numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < numbers.size(); ++j) CHECK(numbers[i].compare_number(numbers[j]) == (i <=> j));
  }
}

TEST(attribute_bits, "the bits never fall where numbers rise, and rise up to 2^53") {
  const std::vector<AttributeValue> numbers = rising_numbers();
  for (std::size_t i = 1; i < numbers.size(); ++i) CHECK(numbers[i - 1].order_bits() <= numbers[i].order_bits());
  for (const AttributeValue& number :
       {AttributeValue(-7), AttributeValue(0), AttributeValue(0.1), AttributeValue(kTwoTo53 - 1)}) {
    for (const AttributeValue& larger : {AttributeValue(0.2), AttributeValue(3), AttributeValue(kTwoTo53)}) {
      if (number.compare_number(larger) < 0) CHECK(number.order_bits() < larger.order_bits());
    }
  }
}

TEST(attribute_kinds, "a value keeps the kind that it was given") {
  CHECK(AttributeValue(true).get_if<bool>() != nullptr && !AttributeValue(true).is_number());
  CHECK(AttributeValue(3).get_if<std::int64_t>() != nullptr && AttributeValue(3).is_number());
  CHECK(AttributeValue(3.0).get_if<double>() != nullptr && AttributeValue(3.0).is_number());
  CHECK(AttributeValue("three").get_if<std::string>() != nullptr && !AttributeValue("three").is_number());
  CHECK(AttributeValue(List{3}).get_if<List>() != nullptr);
}
