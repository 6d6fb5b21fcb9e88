// A map that could not finish is the map it was; nothing is lost and nothing is left over.

#include <atomic>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "failing_memory.hpp"
#include "maps.hpp"

using namespace armillary;
using namespace tests;

namespace {

int copies_left = -1;  // negative: as many as asked for
int alive = 0;

struct Fragile {
  explicit Fragile(std::uint64_t given) : number(given) { ++alive; }
  Fragile(const Fragile& other) : number(other.number) {
    if (copies_left == 0) throw std::runtime_error("no more copies");
    if (copies_left > 0) --copies_left;
    ++alive;
  }
  Fragile(Fragile&& other) noexcept : number(other.number) { ++alive; }
  Fragile& operator=(const Fragile&) = default;
  ~Fragile() { --alive; }
  bool operator==(const Fragile&) const = default;

  std::uint64_t number;
};

template <std::uint64_t (*Spread)(std::uint64_t)>
struct FragileTraits : KeyTraits<Spread> {
  static Digest digest(const std::uint64_t& key, const Fragile& value) {
    Sha256 hash;
    hash.add(key);
    hash.add(value.number);
    return hash.finish();
  }
};

template <std::uint64_t (*Spread)(std::uint64_t)>
using FragileMap = PersistentMap<std::uint64_t, Fragile, FragileTraits<Spread>>;

template <typename Act>
bool with_copies(int count, Act act) {
  copies_left = count;
  bool through = true;
  try {
    act();
  } catch (const std::runtime_error&) {
    through = false;
  }
  copies_left = -1;
  return through;
}

/// The digest of a map with the same contents that never failed.
template <typename M>
Digest fresh_digest(const M& map) {
  M fresh;
  map.for_each([&](std::uint64_t key, const auto& value) { fresh.set(key, value); });
  return fresh.digest();
}

/// Random edits, each tried with `scarce(how many, edit)` until there is enough; returns how many tries failed.
template <typename M, typename MakeValue, typename Scarce>
int edit_until_through(MakeValue make_value, Scarce scarce) {
  std::mt19937_64 random(3);
  int failures = 0;
  M map, kept;
  for (int step = 0; step < 1500; ++step) {
    if (step % 7 == 0) kept = map;
    const std::uint64_t key = random() % 60;
    const bool erases = random() % 2 == 0;
    const Digest before = map.digest();
    const std::size_t size_before = map.size();
    const auto edit = [&] { erases ? static_cast<void>(map.erase(key)) : map.set(key, make_value(step)); };
    for (int enough = 0; !scarce(enough, edit); ++enough) {
      ++failures;
      CHECK(map.size() == size_before && map.digest() == before && fresh_digest(map) == before);
    }
    CHECK(map.contains(key) == !erases && map.digest() == fresh_digest(map));
  }
  return failures;
}

template <std::uint64_t (*Spread)(std::uint64_t)>
void survive_copies_that_throw() {
  const auto make_value = [](int step) { return Fragile(static_cast<std::uint64_t>(step)); };
  const auto scarce = [](int count, auto edit) { return with_copies(count, edit); };
  CHECK(edit_until_through<FragileMap<Spread>>(make_value, scarce) > 100);
  CHECK(alive == 0);
}

template <std::uint64_t (*Spread)(std::uint64_t)>
void survive_lack_of_memory() {
  const auto make_value = [](int step) { return std::to_string(step); };
  const auto scarce = [](int count, auto edit) { return with_allocations(count, edit); };
  edit_until_through<Map<Spread>>(make_value, scarce);
}

}  // namespace

TEST(map_copies_low, "a map survives copies that throw: last bits") { survive_copies_that_throw<low_bits>(); }
TEST(map_copies_scattered, "a map survives copies that throw: scattered") { survive_copies_that_throw<scattered>(); }
TEST(map_copies_colliding, "a map survives copies that throw: equal hashes") { survive_copies_that_throw<colliding>(); }

TEST(map_memory_low, "a map survives a lack of memory: last bits") { survive_lack_of_memory<low_bits>(); }
TEST(map_memory_scattered, "a map survives a lack of memory: scattered") { survive_lack_of_memory<scattered>(); }
TEST(map_memory_colliding, "a map survives a lack of memory: equal hashes") { survive_lack_of_memory<colliding>(); }

TEST(map_threads, "threads change copies of one map, and ask for its digest, at once") {
  Map<scattered> shared;
  for (std::uint64_t key = 0; key < 2000; ++key) shared.set(key, "first");
  const Digest expected = fresh_digest(shared);
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&shared, &expected, thread] {
      Map<scattered> own = shared;
      for (std::uint64_t key = thread; key < 2000; key += 3) key % 2 == 0 ? own.set(key, "own") : void(own.erase(key));
      CHECK(shared.digest() == expected);
      CHECK(own.digest() == fresh_digest(own));
    });
  }
  threads.clear();
  CHECK(shared.size() == 2000 && shared.digest() == expected);
}
