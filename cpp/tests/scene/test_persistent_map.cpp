// A persistent map against std::map, through random histories and every kind of hash.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
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

/// Some arenas, one of which, or none, is at work in each step.
class Arenas {
 public:
  explicit Arenas(std::size_t count) {
    while (arenas_.size() < count) arenas_.push_back(armillary::detail::TrieArena::make());
  }
  [[nodiscard]] std::unique_ptr<armillary::detail::TrieArena::Guard> next() {
    if (arenas_.empty()) return nullptr;
    const std::size_t chosen = random_() % (arenas_.size() == 1 ? 1 : arenas_.size() + 1);
    return chosen < arenas_.size() ? std::make_unique<armillary::detail::TrieArena::Guard>(*arenas_[chosen]) : nullptr;
  }

 private:
  std::mt19937_64 random_{3};
  std::vector<std::shared_ptr<armillary::detail::TrieArena>> arenas_;
};

/// Versions branch off, go on side by side, and are dropped in any order. What arenas made outlives them.
template <typename M>
void follow_a_model(std::size_t arena_count = 0) {
  std::mt19937_64 random(7);
  std::optional<Arenas> arenas(arena_count);
  std::vector<std::pair<M, Model>> versions(1);
  for (int step = 0; step < 6000; ++step) {
    const auto guard = arenas->next();
    if (step % 20 == 19) versions.push_back(versions[random() % versions.size()]);
    auto& [map, model] = versions[random() % 3 == 0 ? random() % versions.size() : versions.size() - 1];
    change(map, model, random() % 200, std::to_string(random() % 100'000));
    if (versions.size() > 12) versions.erase(versions.begin() + static_cast<std::ptrdiff_t>(random() % versions.size()));
    if (step % 500 == 0)
      for (const auto& [kept, its_model] : versions) CHECK(equals(kept, its_model));
  }
  arenas.reset();
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
  Arenas arenas(3);
  std::vector<std::pair<SetsByNumber, ModelSets>> versions(1);
  for (int step = 0; step < 6000; ++step) {
    const auto guard = step < 3000 ? arenas.next() : nullptr;
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
TEST(map_all_lending_low, "a map that lends entries follows the model: last bits") { follow_a_model<AllLendingMap<low_bits>>(1); }
TEST(map_all_lending_scattered, "a map that lends entries follows the model: scattered") {
  follow_a_model<AllLendingMap<scattered>>(1);
}
TEST(map_all_lending_colliding, "a map that lends entries follows the model: equal hashes") {
  follow_a_model<AllLendingMap<colliding>>(1);
}
TEST(map_lending_low, "a map whose copies borrow follows the model: last bits") { follow_a_model<LendingMap<low_bits>>(1); }
TEST(map_lending_high, "a map whose copies borrow follows the model: first bits") { follow_a_model<LendingMap<high_bits>>(1); }
TEST(map_lending_scattered, "a map whose copies borrow follows the model: scattered") {
  follow_a_model<LendingMap<scattered>>(1);
}
TEST(map_lending_colliding, "a map whose copies borrow follows the model: equal hashes") {
  follow_a_model<LendingMap<colliding>>(1);
}
TEST(map_arenas_low, "maps whose nodes are of several arenas follow the model: last bits") {
  follow_a_model<AllLendingMap<low_bits>>(3);
}
TEST(map_arenas_scattered, "maps whose nodes are of several arenas follow the model: scattered") {
  follow_a_model<AllLendingMap<scattered>>(3);
  follow_a_model<LendingMap<scattered>>(3);
}
TEST(map_arenas_colliding, "maps whose nodes are of several arenas follow the model: equal hashes") {
  follow_a_model<AllLendingMap<colliding>>(3);
}

namespace {

/// Goes on from a map that others have as well, in an arena of its own: what it changed is there, and the rest as it was.
bool goes_on(AllLendingMap<scattered> map, std::uint64_t seed) {
  const auto arena = armillary::detail::TrieArena::make();
  Model model;
  map.for_each([&](std::uint64_t key, const std::string& value) { model[key] = value; });
  std::mt19937_64 random(seed);
  std::vector<AllLendingMap<scattered>> older;
  for (int step = 0; step < 300; ++step) {
    older.push_back(map);
    if (older.size() > 3) older.erase(older.begin() + static_cast<std::ptrdiff_t>(random() % older.size()));
    const armillary::detail::TrieArena::Guard guard(*arena);
    const std::uint64_t key = random() % 400;
    if (random() % 3 == 0) {
      map.erase(key);
      model.erase(key);
    } else {
      map.set(key, std::to_string(step));
      model[key] = std::to_string(step);
    }
  }
  return equals(map, model);
}

}  // namespace

TEST(map_threads_of_arenas, "stress: maps that share nodes are changed, read and dropped by threads of different arenas") {
  const auto arena = armillary::detail::TrieArena::make();
  AllLendingMap<scattered> map;
  std::mutex lock;  // guards `map`, not what it shares with copies
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  const auto take = [&] {
    const std::lock_guard guard(lock);
    return map;
  };
  std::vector<std::thread> others;
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    others.emplace_back([&, seed] {
      for (std::uint64_t round = 0; !stop; ++round)
        if (!goes_on(take(), seed + 10 * round)) ++wrong;
    });
  for (std::uint64_t step = 0; step < 20'000; ++step) {
    AllLendingMap<scattered> next = take();
    const armillary::detail::TrieArena::Guard guard(*arena);
    next.set(step % 400, std::to_string(step));
    const std::lock_guard publishing(lock);
    map = std::move(next);
  }
  stop = true;
  for (std::thread& thread : others) thread.join();
  CHECK(wrong == 0 && map.size() == 400);
}
