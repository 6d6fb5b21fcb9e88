// The orders of change records, and which of them a replica holds.

#include <random>

#include "armillary/log/timestamp.hpp"
#include "check.hpp"

using namespace armillary::log;

TEST(newer_by_time, "of two writes the one with the later timestamp is newer, whatever the authority") {
  const Signature early{{10, 0}, 1, {1, 1}}, late{{10, 1}, 0, {1, 2}};
  CHECK(newer(late, early));
  CHECK(!newer(early, late));
  CHECK(newer(Signature{{10, 0}, 1, {2, 1}}, early));
}

TEST(stronger_by_authority, "of two things that cannot hold together higher authority stays, then the earlier") {
  const Signature boss{{90, 0}, 1, {2, 1}}, early{{10, 0}, 0, {1, 1}}, late{{20, 0}, 0, {1, 2}};
  CHECK(stronger(boss, early));
  CHECK(stronger(early, late));
  CHECK(!stronger(late, late));
}

TEST(clock_never_back, "timestamps grow while the machine's clock stands still or is behind") {
  HybridClock clock;
  const HybridTimestamp first = clock.next(100), second = clock.next(100);
  CHECK(first < second);
  clock.observe({500, 7});
  CHECK((clock.next(200) == HybridTimestamp{500, 8}));
  CHECK((clock.next(600) == HybridTimestamp{600, 0}));
}

TEST(vector_as_set, "a version vector holds what was added to it, in whatever order") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    VersionVector one, two, both;
    std::vector<bool> in_one(40), in_two(40);
    for (int i = 0; i < 40; ++i) {
      const Dot dot{1 + random() % 2, 1 + random() % 20};
      const std::size_t place = (dot.author - 1) * 20 + dot.sequence - 1;
      if (random() % 2 == 0)
        one.add(dot), in_one[place] = true;
      else
        two.add(dot), in_two[place] = true;
    }
    both.add(two);
    both.add(one);
    for (std::size_t i = 0; i < 40; ++i) {
      const Dot dot{1 + i / 20, 1 + i % 20};
      CHECK(one.contains(dot) == in_one[i]);
      CHECK(both.contains(dot) == (in_one[i] || in_two[i]));
    }
    CHECK(both.contains(one));
    CHECK(both.contains(two));
    bool includes = true;
    for (std::size_t i = 0; i < 40; ++i) includes = includes && (!in_two[i] || in_one[i]);
    CHECK(one.contains(two) == includes);
  }
}

TEST(oldest_ranges_joined, "where there are far too many ranges the lowest become one, and nothing that was contained is lost") {
  VersionVector vector;
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) {
    vector.add({7, 2 * sequence});
    vector.join_oldest(10);
    CHECK(vector.entries().at(7).size() <= 20);
  }
  vector.add({8, 5});
  vector.join_oldest(10);
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) CHECK(vector.contains(Dot{7, 2 * sequence}));
  CHECK(vector.contains(Dot{7, 3}));
  CHECK(!vector.contains(Dot{7, 1}));
  CHECK(!vector.contains(Dot{7, 199}));
  CHECK(!vector.contains(Dot{7, 201}));
  CHECK(vector.of(8).entries().at(8).size() == 1);
}
