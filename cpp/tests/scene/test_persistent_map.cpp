// A persistent map against std::map, through random histories and every kind of hash.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "maps.hpp"

using namespace armillary;
using namespace tests;

namespace {

template <typename M>
void change(M& map, Model& model, std::uint64_t key, const std::string& value) {
  if (value.back() < '2') {
    CHECK(map.erase(key) == (model.erase(key) == 1));
  } else if (value.back() == '2') {
    map.update(key, [](auto& text) { text = std::string(); });
    model.erase(key);
  } else if (value.back() == '3') {
    map.update(key, [&](auto& text) { text = static_cast<const std::string&>(text) + value; });
    model[key] += value;
  } else if (auto* own = value.back() < '6' ? map.find_own(key) : nullptr) {
    *own = value;
    model[key] = value;
  } else {
    map.set(key, value);
    model[key] = value;
  }
  CHECK((map.find(key) != nullptr) == model.contains(key));
}

/// Versions branch off, go on side by side, and are dropped in any order.
template <typename M>
void follow_a_model() {
  std::mt19937_64 random(7);
  std::vector<std::pair<M, Model>> versions(1);
  for (int step = 0; step < 6000; ++step) {
    if (step % 20 == 19) versions.push_back(versions[random() % versions.size()]);
    auto& [map, model] = versions[random() % 3 == 0 ? random() % versions.size() : versions.size() - 1];
    change(map, model, random() % 200, std::to_string(random() % 100'000));
    if (versions.size() > 12) versions.erase(versions.begin() + static_cast<std::ptrdiff_t>(random() % versions.size()));
    if (step % 500 == 0)
      for (const auto& [kept, its_model] : versions) CHECK(equals(kept, its_model));
  }
  for (const auto& [map, model] : versions) {
    CHECK(equals(map, model));
    M anew;
    for (const auto& [key, value] : model) anew.set(key, value);
    CHECK(map.digest() == anew.digest());
  }
}

/// The keys in a random order, with others set and erased in between: nothing of that may be seen in the end.
template <std::uint64_t (*Spread)(std::uint64_t)>
Map<Spread> built(std::vector<std::uint64_t> keys, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::ranges::shuffle(keys, random);
  Map<Spread> map;
  for (std::uint64_t key = 0; key < seed; ++key) map.set(key, "passing");
  for (const std::uint64_t key : keys) map.set(key, "other");
  for (std::uint64_t key = 0; key < seed; ++key) map.erase(key);
  for (const std::uint64_t key : keys) map.set(key, std::to_string(key));
  return map;
}

template <std::uint64_t (*Spread)(std::uint64_t)>
void digests_tell_contents() {
  std::vector<std::uint64_t> keys;
  CHECK(built<Spread>(keys, 9).digest() == Map<Spread>().digest());
  for (std::uint64_t key = 0; key < 120; ++key) {
    const Digest before = built<Spread>(keys, 3).digest();
    keys.push_back(key * 7);
    Map<Spread> map = built<Spread>(keys, 60);
    CHECK(map.digest() == built<Spread>(keys, 0).digest());
    CHECK(map.digest() != before);
    map.set(key * 7, "changed");
    CHECK(map.digest() != built<Spread>(keys, 0).digest());
    map.erase(key * 7);
    CHECK(map.digest() == before);
  }
}

template <std::uint64_t (*Spread)(std::uint64_t)>
Model between(const Map<Spread>& map, std::uint64_t first, std::uint64_t last) {
  Model found;
  map.for_each_between(first, last, [&](std::uint64_t key, const std::string& value) { found[key] = value; });
  return found;
}

template <std::uint64_t (*Spread)(std::uint64_t)>
void find_by_range() {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 0; key < 250; ++key) keys.push_back(key);
  const Map<Spread> map = built<Spread>(keys, 0);
  const std::uint64_t ends[] = {
      0, 1, Spread(17), Spread(17) + 1, Spread(200), random(), std::numeric_limits<std::uint64_t>::max()};
  for (const std::uint64_t first : ends) {
    for (const std::uint64_t last : ends) {
      Model expected;
      for (const std::uint64_t key : keys) {
        if (first <= Spread(key) && Spread(key) <= last) expected[key] = std::to_string(key);
      }
      CHECK(between(map, first, last) == expected);
    }
  }
}

using NumberSet = PersistentSet<std::uint64_t, LendingTraits<scattered>>;
using SetsByNumber = PersistentMap<std::uint64_t, NumberSet, LendingTraits<low_bits>>;
using ModelSets = std::map<std::uint64_t, std::set<std::uint64_t>>;

bool equals(const SetsByNumber& map, const ModelSets& model) {
  ModelSets found;
  map.for_each([&](std::uint64_t key, const NumberSet& set) {
    set.for_each([&](std::uint64_t number, const Nothing&) { found[key].insert(number); });
  });
  return found == model && map.size() == model.size();
}

/// As an index does: a value with nothing in it is not kept.
void change(SetsByNumber& map, ModelSets& model, std::uint64_t key, std::uint64_t number) {
  const bool comes = number % 3 != 0;
  map.update(key, [&](NumberSet& set) { comes ? set.set(number / 3) : void(set.erase(number / 3)); });
  if (comes)
    model[key].insert(number / 3);
  else if (model.contains(key))
    model[key].erase(number / 3);
  if (model.contains(key) && model[key].empty()) model.erase(key);
}

}  // namespace

TEST(map_of_sets, "a map of sets follows the model, and sets go when they are empty") {
  std::mt19937_64 random(11);
  std::vector<std::pair<SetsByNumber, ModelSets>> versions(1);
  for (int step = 0; step < 6000; ++step) {
    if (step % 5 == 4) versions.push_back(versions.back());
    if (versions.size() > 8) versions.erase(versions.begin() + static_cast<std::ptrdiff_t>(random() % versions.size()));
    auto& [map, model] = versions[random() % 3 == 0 ? random() % versions.size() : versions.size() - 1];
    change(map, model, random() % 90, random() % 12);
    if (step % 100 == 0)
      for (const auto& [kept, its_model] : versions) CHECK(equals(kept, its_model));
  }
}

TEST(map_digest_low, "a digest tells contents, not history: last bits") { digests_tell_contents<low_bits>(); }
TEST(map_digest_scattered, "a digest tells contents, not history: scattered") { digests_tell_contents<scattered>(); }
TEST(map_digest_colliding, "a digest tells contents, not history: equal hashes") { digests_tell_contents<colliding>(); }

TEST(map_range_low, "a range of hashes is found: last bits") { find_by_range<low_bits>(); }
TEST(map_range_high, "a range of hashes is found: first bits") { find_by_range<high_bits>(); }
TEST(map_range_scattered, "a range of hashes is found: scattered") { find_by_range<scattered>(); }
TEST(map_range_colliding, "a range of hashes is found: equal hashes") { find_by_range<colliding>(); }

TEST(map_order, "entries come in the order of their hashes, until the caller has enough") {
  Map<low_bits> map;
  for (std::uint64_t key = 500; key > 0; --key) map.set(key * key * key, "");
  std::vector<std::uint64_t> keys;
  const bool is_through = map.for_each([&](std::uint64_t key, const std::string&) {
    keys.push_back(key);
    return keys.size() < 100;
  });
  CHECK(!is_through && keys.size() == 100);
  for (std::uint64_t i = 0; i < keys.size(); ++i) CHECK(keys[i] == (i + 1) * (i + 1) * (i + 1));
}

TEST(map_moved, "a map that was moved from is empty") {
  Map<low_bits> map;
  map.set(1, "one");
  const Map<low_bits> moved = std::move(map);
  CHECK(moved.size() == 1 && *moved.find(1) == "one");
  CHECK(map.empty() && map.find(1) == nullptr);
}

TEST(map_set, "a set knows its keys, and a key that is set again stays one") {
  PersistentSet<std::uint64_t, KeyTraits<colliding>> set;
  for (const std::uint64_t key : {4, 9, 4, 14}) set.set(key);
  CHECK(set.size() == 3 && set.contains(9) && !set.contains(5));
  CHECK(set.erase(9) && !set.erase(9) && !set.contains(9) && set.contains(14));
}

TEST(map_model_low, "a map follows the model where keys differ in the last bits") { follow_a_model<Map<low_bits>>(); }
TEST(map_model_high, "a map follows the model where keys differ in the first bits") { follow_a_model<Map<high_bits>>(); }
TEST(map_model_scattered, "a map follows the model where hashes are scattered") { follow_a_model<Map<scattered>>(); }
TEST(map_model_colliding, "a map follows the model where hashes are equal") { follow_a_model<Map<colliding>>(); }
TEST(map_all_lending_low, "a map that lends entries follows the model: last bits") { follow_a_model<AllLendingMap<low_bits>>(); }
TEST(map_all_lending_scattered, "a map that lends entries follows the model: scattered") {
  follow_a_model<AllLendingMap<scattered>>();
}
TEST(map_all_lending_colliding, "a map that lends entries follows the model: equal hashes") {
  follow_a_model<AllLendingMap<colliding>>();
}
TEST(map_lending_low, "a map whose copies borrow follows the model: last bits") { follow_a_model<LendingMap<low_bits>>(); }
TEST(map_lending_high, "a map whose copies borrow follows the model: first bits") { follow_a_model<LendingMap<high_bits>>(); }
TEST(map_lending_scattered, "a map whose copies borrow follows the model: scattered") { follow_a_model<LendingMap<scattered>>(); }
TEST(map_lending_colliding, "a map whose copies borrow follows the model: equal hashes") {
  follow_a_model<LendingMap<colliding>>();
}
