// What differs between two maps is reported, and what they share is not visited.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "check.hpp"
#include "maps.hpp"

using namespace tests;

namespace {

using Pair = std::pair<std::string, std::string>;  // empty: not there
using Differences = std::map<std::uint64_t, Pair>;

template <typename M>
Differences difference(const M& a, const M& b) {
  Differences found;
  M::difference(a, b, [&](std::uint64_t key, const std::string* in_a, const std::string* in_b) {
    CHECK(!found.contains(key));
    found[key] = {in_a != nullptr ? *in_a : "", in_b != nullptr ? *in_b : ""};
  });
  return found;
}

template <typename M>
Differences expected_difference(const M& a, const M& b) {
  Differences expected;
  a.for_each([&](std::uint64_t key, const std::string& value) { expected[key].first = value; });
  b.for_each([&](std::uint64_t key, const std::string& value) { expected[key].second = value; });
  std::erase_if(expected, [](const auto& item) { return item.second.first == item.second.second; });
  return expected;
}

template <typename M>
void change_at_random(M& map, std::mt19937_64& random) {
  const std::uint64_t key = random() % 150;
  if (random() % 2 == 0) {
    map.erase(key);
  } else {
    map.set(key, std::to_string(random() % 3));
  }
}

template <typename M>
void differ_as_expected() {
  std::mt19937_64 random(11);
  M a, b;
  for (int step = 0; step < 600; ++step) {
    change_at_random(step % 2 == 0 ? a : b, random);
    if (step % 100 == 60) b = a;  // from here on they share
    if (step % 150 == 140) a = M();
    CHECK(difference(a, b) == expected_difference(a, b));
    CHECK(difference(b, a) == expected_difference(b, a));
  }
}

}  // namespace

TEST(difference_low, "differences are reported: last bits") {
  differ_as_expected<Map<low_bits>>();
  differ_as_expected<PlainMap<low_bits>>();
}
TEST(difference_high, "differences are reported: first bits") {
  differ_as_expected<Map<high_bits>>();
  differ_as_expected<PlainMap<high_bits>>();
}
TEST(difference_scattered, "differences are reported: scattered") {
  differ_as_expected<Map<scattered>>();
  differ_as_expected<PlainMap<scattered>>();
}
TEST(difference_colliding, "differences are reported: equal hashes") {
  differ_as_expected<Map<colliding>>();
  differ_as_expected<PlainMap<colliding>>();
}

TEST(difference_shared, "only what is not shared is looked at") {
  PlainMap<scattered> a;
  for (std::uint64_t key = 0; key < 20'000; ++key) a.set(key, "");
  PlainMap<scattered> b = a;
  const auto ignore = [](std::uint64_t, const std::string*, const std::string*) {};
  CHECK(PlainMap<scattered>::difference(a, b, ignore) == 0);
  b.set(77, "changed");
  b.erase(1234);
  CHECK(PlainMap<scattered>::difference(a, b, ignore) <= 8);
}

TEST(difference_equal, "one look at the digests is enough where nothing differs") {
  Map<scattered> a, b;
  for (std::uint64_t key = 0; key < 1000; ++key) a.set(key, "");
  for (std::uint64_t key = 1000; key > 0; --key) b.set(key - 1, "");
  const auto ignore = [](std::uint64_t, const std::string*, const std::string*) {};
  CHECK(Map<scattered>::difference(a, b, ignore) == 1);
}
