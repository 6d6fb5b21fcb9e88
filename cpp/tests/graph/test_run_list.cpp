// The runs of a track in chunks, against a plain list.

#include <random>

#include "check.hpp"
#include "graph/run_list.hpp"

using namespace armillary;

namespace {

RunRecord run_of(std::int64_t from_ns, RelationId relation) {
  return {.from = {from_ns}, .parent = relation, .relation = relation, .provider = Fixed{std::make_shared<FixedPose>()}};
}

bool is_same(const RunList& list, const std::vector<RunRecord>& plain) {
  const auto is_equal = [](const RunRecord& a, const RunRecord& b) { return a.from == b.from && a.relation == b.relation; };
  bool same = list.size() == plain.size() && std::ranges::equal(list, plain, is_equal);
  for (std::size_t k = 0; k < plain.size(); ++k) same = same && is_equal(list[k], plain[k]);
  const auto is_seen = [](const Run& a, const RunRecord& b) { return a.from == b.from && a.provider.pointer == b.fixed(); };
  return same && std::ranges::equal(*list.published(), plain, is_seen);
}

}  // namespace

TEST(chunked_runs_are_a_plain_list, "a list of runs in chunks is what a plain list is, whatever is put in and taken out") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
  for (int story = 0; story < 20; ++story) {
    RunList list;
    std::vector<RunRecord> plain;
    for (int step = 0; step < 600; ++step) {
      const auto relation = static_cast<RelationId>(below(200));
      const bool grows = plain.empty() || below(5) > (story % 2 == 0 ? 1U : 2U);
      if (grows) {
        const RunRecord run = run_of(static_cast<std::int64_t>(below(100000)), relation);
        const std::ptrdiff_t before = list.run_at(run.from);
        list.insert(static_cast<std::size_t>(before + 1), run);
        plain.insert(plain.begin() + before + 1, run);
      } else {
        const std::size_t k = below(3) == 0 ? 0 : below(plain.size());
        list.erase(k);
        plain.erase(plain.begin() + static_cast<std::ptrdiff_t>(k));
      }
      const auto last =
          std::find_if(plain.rbegin(), plain.rend(), [&](const RunRecord& run) { return run.relation == relation; });
      CHECK(list.last_of(relation, list.size()) == plain.rend() - last - 1);
    }
    CHECK(is_same(list, plain));
  }
}

TEST(copies_of_runs_stay, "a copy of a list of runs stays as it is, and what did not change is seen as it is") {
  RunList list;
  for (std::int64_t t = 0; t < 200; ++t) list.push_back(run_of(t, 3));
  const std::vector<RunRecord> plain(list.begin(), list.end());
  const RunList copy = list;
  const std::shared_ptr<const Runs> seen = list.published();
  CHECK(*copy.published() == *seen);
  list.edit(150).from = {149};
  list.erase(0);
  list.push_back(run_of(1000, 4));
  CHECK(is_same(copy, plain));
  CHECK(*list.published() != *seen);
  CHECK(list.published()->at({100}).run == seen->at({100}).run);
}
