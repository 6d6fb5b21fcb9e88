// Loops: at one instant, of all sources together.

#include <algorithm>
#include <map>
#include <random>

#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::World;

TEST(loop_instant, "a loop is a loop at one instant") {
  World world;
  CHECK(!world.put("a", "b", {1, 5}));
  CHECK(world.put("b", "a", {3}).kind() == FailureKind::frame_loop);
  CHECK(world.put("b", "a", {5}).kind() == FailureKind::frame_loop);
  CHECK(!world.put("b", "a", {6, 10}));
  CHECK_CLOSE(world.x("b", "a", 7), 7.0, 1e-12);
  CHECK_CLOSE(world.x("a", "b", 7), -7.0, 1e-12);
  CHECK_CLOSE(world.x("a", "b", 3), 3.0, 1e-12);
}

TEST(loop_nothing_changes, "a refused loop changes nothing") {
  World world;
  world.put("a", "b", {1, 5});
  world.put("c", "a", {1, 5});
  CHECK(world.put_many("b", "c", {2, 4}).kind() == FailureKind::frame_loop);
  CHECK(world.fix("b", "c").kind() == FailureKind::frame_loop);
  CHECK(world.relation("b", "c") == kNone);
  CHECK(world.forest.relations().size() == 2 && world.kind("c", "b", 3) == FailureKind::none);
}

TEST(loop_self, "a frame cannot be placed in itself") {
  World world;
  CHECK(world.put("a", "a", {1}).kind() == FailureKind::frame_in_itself);
  CHECK(world.fix("a", "a").kind() == FailureKind::frame_in_itself);
  CHECK(world.forest.find_frame("a") == kNone);
}

TEST(loop_rivals, "relations of all sources count together") {
  World world;
  world.put("a", "b", {1, 5}, "one");
  CHECK(world.put("b", "a", {3}, "two").kind() == FailureKind::frame_loop);
  world.put("b", "c", {1, 5}, "one");
  CHECK(world.put("c", "a", {3}, "two").kind() == FailureKind::frame_loop);
}

TEST(loop_joined, "a sample that joins two runs is checked for all it then covers") {
  World world;
  world.put("c", "p1", {1, 3});
  world.put("c", "p2", {50});
  world.put("c", "p1", {70, 90});
  CHECK(!world.put("p1", "c", {35, 45}));
  CHECK(world.put("c", "p1", {50}).kind() == FailureKind::frame_loop);
}

TEST(loop_batch_joined, "a batch is checked for all that its samples cover with their neighbours") {
  World world;
  world.put("c", "p1", {1, 3});
  world.put("c", "p2", {5});
  world.put("c", "p1", {20, 30});
  CHECK(!world.put("p1", "c", {16, 18}));
  CHECK(world.put_many("c", "p1", {4, 15}).kind() == FailureKind::frame_loop);
}

TEST(loop_batch_around, "a batch around another run does not cover it") {
  World world;
  world.put("c", "p1", {1, 3});
  world.put("c", "p2", {5, 7});
  CHECK(!world.put("p1", "c", {5, 7}));
  CHECK(!world.put_many("c", "p1", {2, 9}));
}

TEST(loop_fixed_end, "a fixing covers no more than until the next run of its track") {
  World world;
  world.put("c", "p2", {10, 20});
  CHECK(!world.put("p1", "c", {30, 40}));
  CHECK(!world.fix("c", "p1", {}, {5}));
  CHECK(world.fix("c", "p1", {}, {35}).kind() == FailureKind::frame_loop);
}

TEST(loop_many_paths, "checking for a loop does not walk every path of a ladder of rivals") {
  World world;
  constexpr int kRungs = 40;
  for (int i = 0; i < kRungs; ++i)
    for (const char* source : {"one", "two"}) world.put("f" + std::to_string(i), "f" + std::to_string(i + 1), {10, 20}, source);
  world.put("f40", "top", {1, 2});
  CHECK(!world.put("top", "f0", {15}));  // 2^40 ways up, none at one instant
}

namespace {

using Assertion = AlignTrack::PoseAssertion;

Assertion fixed_since(std::int64_t since, std::string in_frame, double x) {
  return {.since = {since}, .in_frame = std::move(in_frame), .pose = std::make_shared<const FixedPose>(FixedPose{at_x(x)})};
}

/// As of peers: nothing is refused, and sources are stronger in the order of their names.
Failure merge(World& world, std::vector<FrameEdit> edits) {
  const auto rank_of = [](const RunName& run) -> std::optional<ResolveCycles::Rank> {
    return ResolveCycles::Rank{run.source.empty() ? 0 : run.source.front(), run.since.ns, run.of.front(), 0, 0};
  };
  edits.emplace_back(ResolveCycles{rank_of});
  return world.forest.transact(edits);
}

/// "1": a in b from 5 until 10; "2": b in a from 1 on.
void put_in_each_other(World& world) {
  AlignTrack strong{"a", "1", {fixed_since(5, "b", 1.0)}}, weak{"b", "2", {fixed_since(1, "a", 2.0)}};
  strong.pose_assertions.push_back({.since = {10}, .is_closed = true});
  (void)merge(world, {std::move(weak), std::move(strong)});
}

}  // namespace

TEST(cycle_at_instants, "a cycle that peers close together: the weaker run is inactive at the instants of the cycle alone") {
  World world;
  put_in_each_other(world);
  for (const std::int64_t at : {1, 4, 10, 20}) CHECK_CLOSE(world.x("b", "a", at), 2.0, tests::kCloseM);
  for (const std::int64_t at : {5, 9}) CHECK_CLOSE(world.x("a", "b", at), 1.0, tests::kCloseM);
  CHECK(world.latest("b", "a").value.transform.translation.x == 2.0);
  CHECK(world.forest.sources_at(world.forest.find_frame("b"), {7}).empty());
}

TEST(cycle_reported, "a cycle that peers close together is reported with its first instant and its path") {
  World world;
  put_in_each_other(world);
  const std::vector<ClosingRun> closing = world.forest.closing_runs();
  CHECK(closing.size() == 1 && closing[0].of == "b" && closing[0].source == "2" && closing[0].since == Stamp{1});
  CHECK(closing[0].at == Stamp{5} && closing[0].path == (std::vector<std::string>{"a", "b"}));
  CHECK(!merge(world, {EraseFixed{"a", "1", {5}}}));
  CHECK(world.forest.closing_runs().empty());
  CHECK_CLOSE(world.x("b", "a", 7), 2.0, tests::kCloseM);
}

TEST(cycle_third, "a run that is inactive at some instants leaves out weaker ones at the others") {
  World world;
  put_in_each_other(world);
  CHECK(!merge(world, {AlignTrack{"a", "3", {fixed_since(1, "b", 3.0)}}}));
  CHECK(world.forest.closing_runs().size() == 2);
  CHECK_CLOSE(world.x("b", "a", 3), 2.0, tests::kCloseM);         // "2" goes before "3"
  CHECK_CLOSE(world.x("b", "a", 12), 2.0, tests::kCloseM);        // and here as well
  CHECK(world.kind("a", "b", 7) == FailureKind::ambiguous_path);  // "1" and "3" agree on the parent
}

TEST(cycle_samples, "samples in a cycle that peers close together: only those of its instants are refused") {
  World world;
  (void)merge(world, {AlignTrack{"a", "1", {fixed_since(5, "b", 1.0), {.since = {10}, .is_closed = true}}},
                      PlaceSample{"b", "a", "2", {1}, at_x(1.0)}, PlaceSample{"b", "a", "2", {12}, at_x(12.0)}});
  CHECK_CLOSE(world.x("b", "a", 4), 4.0, tests::kCloseM);
  CHECK_CLOSE(world.x("b", "a", 7), -1.0, tests::kCloseM);
  CHECK_CLOSE(world.x("b", "a", 11), 11.0, tests::kCloseM);
  const Failure refused = world.put("b", "a", {7}, "2");
  CHECK(refused.kind() == FailureKind::frame_loop && refused->requested == Stamp{7});
  CHECK(!world.put("b", "a", {3, 13}, "2"));
  CHECK_CLOSE(world.x("b", "a", 13), 13.0, tests::kCloseM);
  CHECK(!merge(world, {CloseFrame{"a", "1", {6}}}));
  CHECK_CLOSE(world.x("b", "a", 7), 7.0, tests::kCloseM);
  CHECK(world.forest.closing_runs().front().at == Stamp{5});
  CHECK(world.put("b", "a", {5}, "2").kind() == FailureKind::frame_loop);
}

TEST(cycle_ended, "a sampled run that closes a cycle with its last sample is no rival after it") {
  World world;
  (void)world.fix("b", "map", at_x(4.0), Stamp::always(), "0");
  (void)merge(world, {AlignTrack{"a", "1", {fixed_since(5, "b", 1.0)}}, PlaceSample{"b", "a", "2", {3}, at_x(3.0)},
                      PlaceSample{"b", "a", "2", {8}, at_x(8.0)}});
  CHECK(world.kind("b", "map", 4) == FailureKind::ambiguous_path);
  for (const std::int64_t at : {2, 6, 8, 20}) CHECK_CLOSE(world.x("b", "map", at), 4.0, tests::kCloseM);
}

namespace {

/// One assertion as the rule reads it: stronger ones first.
struct Claim {
  std::string source;
  std::int64_t since = 0;
  std::string of, in_frame;  // empty: closed

  friend auto operator<=>(const Claim&, const Claim&) = default;
};

/// What is active at one instant, taken one by one.
std::vector<Claim> active_at(const std::map<std::pair<std::string, std::string>, std::vector<Claim>>& tracks, std::int64_t at) {
  std::vector<Claim> open, taken;
  for (const auto& [name, claims] : tracks) {
    const auto later = std::ranges::find_if(claims, [&](const Claim& claim) { return claim.since > at; });
    if (later != claims.begin() && !std::prev(later)->in_frame.empty()) open.push_back(*std::prev(later));
  }
  std::ranges::sort(open);
  for (const Claim& claim : open) {
    std::vector<std::string> above{claim.in_frame};
    for (std::size_t i = 0; i < above.size(); ++i)
      for (const Claim& other : taken)
        if (other.of == above[i] && std::ranges::find(above, other.in_frame) == above.end()) above.push_back(other.in_frame);
    if (std::ranges::find(above, claim.of) == above.end()) taken.push_back(claim);
  }
  return taken;
}

}  // namespace

TEST(cycle_greedy, "what peers assert together is active, instant by instant, in the order of strength") {
  std::mt19937_64 random(3);
  const std::vector<std::string> frames{"a", "b", "c", "d"}, sources{"1", "2", "3"};
  for (int round = 0; round < 200; ++round) {
    std::map<std::pair<std::string, std::string>, std::vector<Claim>> tracks;
    std::vector<FrameEdit> edits;
    for (const std::string& of : frames)
      for (const std::string& source : sources) {
        std::vector<Claim>& claims = tracks[{of, source}];
        AlignTrack edit{of, source};
        for (std::int64_t since = 1; since < 12; since += 1 + static_cast<std::int64_t>(random() % 6)) {
          const std::string& parent = frames[random() % frames.size()];
          claims.push_back({source, since, of, parent == of ? "" : parent});
          edit.pose_assertions.push_back(fixed_since(since, parent == of ? "" : parent, 1.0));
          if (parent == of) edit.pose_assertions.back() = {.since = {since}, .is_closed = true};
        }
        edits.emplace_back(std::move(edit));
      }
    std::ranges::shuffle(edits, random);
    World world;
    const std::size_t half = edits.size() / 2;
    (void)merge(world, {edits.begin(), edits.begin() + static_cast<std::ptrdiff_t>(half)});
    (void)merge(world, {edits.begin() + static_cast<std::ptrdiff_t>(half), edits.end()});
    for (std::int64_t at = 0; at < 14; ++at) {
      const std::vector<Claim> active = active_at(tracks, at);
      std::size_t count = 0;
      for (const std::string& of : frames)
        for (const std::string& source : world.forest.sources_at(world.forest.find_frame(of), {at})) {
          const auto is_it = [&](const Claim& claim) { return claim.of == of && claim.source == source; };
          CHECK(std::ranges::any_of(active, is_it));
          ++count;
        }
      CHECK(count == active.size());
    }
  }
}
