// Sets of instants, and cycles that are cut instant by instant: against the same done by hand.

#include <random>

#include "armillary/graph/cut_cycles.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

constexpr int kEnd = 12;

Intervals some_intervals(std::mt19937& random) {
  Intervals all;
  for (unsigned i = random() % 4; i > 0; --i) {
    const std::int64_t from = random() % kEnd;
    all = all | Intervals(Interval{Stamp{from}, Stamp{from + static_cast<std::int64_t>(random() % 4)}});
  }
  return random() % 8 == 0 ? all | Intervals(Interval{Stamp::always(), Stamp{2}}) : all;
}

/// Whether links that hold at an instant lead from one node to another.
bool leads(const std::vector<Link>& taken, std::uint32_t from, std::uint32_t to) {
  if (from == to) return true;
  for (const Link& link : taken)
    if (link.child == from) {
      std::vector<Link> rest;
      for (const Link& other : taken)
        if (other.child != from) rest.push_back(other);
      if (leads(rest, link.parent, to)) return true;
    }
  return false;
}

}  // namespace

TEST(intervals_are_sets, "sets of instants are joined, met and subtracted as sets are") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Intervals a = some_intervals(random), b = some_intervals(random);
    const Intervals both = a & b, either = a | b, rest = a - b;
    for (std::int64_t t = -1; t <= kEnd + 4; ++t) {
      const bool in_a = a.contains({t}), in_b = b.contains({t});
      CHECK(both.contains({t}) == (in_a && in_b));
      CHECK(either.contains({t}) == (in_a || in_b));
      CHECK(rest.contains({t}) == (in_a && !in_b));
    }
    CHECK((rest | both) == a);
  }
}

TEST(cycles_are_cut_pointwise, "a link is cut exactly where stronger ones lead from its parent to its child") {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    constexpr std::uint32_t kNodes = 5;
    std::vector<Link> links;
    for (unsigned i = 3 + random() % 8; i > 0; --i)
      links.push_back(
          {static_cast<std::uint32_t>(random() % kNodes), static_cast<std::uint32_t>(random() % kNodes), some_intervals(random)});
    const std::vector<Cut> cuts = cut_cycles(kNodes, links);
    for (std::int64_t t = -1; t <= kEnd + 4; ++t) {
      std::vector<Link> taken;
      for (std::size_t i = 0; i < links.size(); ++i) {
        if (!links[i].when.contains({t})) continue;
        const bool closes = leads(taken, links[i].parent, links[i].child);
        CHECK(cuts[i].when.contains({t}) == closes);
        if (!closes) taken.push_back(links[i]);
      }
    }
    for (const Cut& cut : cuts) CHECK(cut.when.empty() == cut.path.empty());
  }
}
