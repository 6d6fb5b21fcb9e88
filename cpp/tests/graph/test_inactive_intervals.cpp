// The frame of a thing that comes and goes: assertions of others are active while the thing exists, in any order.

#include <algorithm>
#include <random>

#include "endings.hpp"

using namespace armillary;
using tests::at_x;
using tests::World;

namespace {

using InactiveIntervals = std::vector<SetInactiveIntervals::Interval>;

Failure set_inactive(World& world, std::string of, InactiveIntervals inactive_intervals, std::vector<std::string> but = {}) {
  const FrameEdit edit = SetInactiveIntervals{std::move(of), std::move(inactive_intervals), std::move(but)};
  return world.forest.transact({&edit, 1});
}

}  // namespace

TEST(absent_fixed, "absence: what is fixed ends, and holds again when the thing is back") {
  World world;
  (void)world.fix("cup", "map", at_x(3.0));
  const RelationId relation = world.relation("cup", "map");
  CHECK(!set_inactive(world, "cup", {{{5}, {8}}, {{12}, Stamp::never()}}));
  for (const std::int64_t at : {5, 7, 12, 20}) CHECK(world.kind("cup", "map", at) == FailureKind::not_connected);
  for (const std::int64_t at : {4, 8, 11}) CHECK_CLOSE(world.x("cup", "map", at), 3.0, tests::kCloseM);
  CHECK(world.latest("cup", "map").failure.kind() == FailureKind::not_connected);
  CHECK(world.relation("cup", "map") == relation);
  CHECK(world.forest.fixed_poses().size() == 1);  // what goes on was not asserted again
  CHECK(!set_inactive(world, "cup", {}));
  for (const std::int64_t at : {4, 5, 7, 9, 20}) CHECK_CLOSE(world.x("cup", "map", at), 3.0, tests::kCloseM);
}

TEST(absent_driven, "absence: a driven frame ends and goes on") {
  World world;
  (void)world.forest.drive({"drawer", "map", ""}, Stamp::always(), std::make_shared<tests::Slider>());
  CHECK(!set_inactive(world, "drawer", {{{5}, {8}}}));
  CHECK_CLOSE(world.x("drawer", "map", 4), 4.0, tests::kCloseM);
  CHECK(world.kind("drawer", "map", 7) == FailureKind::not_connected);
  CHECK_CLOSE(world.x("drawer", "map", 9), 9.0, tests::kCloseM);
  CHECK(world.forest.driven_poses().size() == 1);  // what goes on was not asserted again
}

TEST(absent_sampled, "absence: a sampled frame goes on from its last sample, and no sample is lost") {
  World world;
  (void)world.put("cup", "map", {1, 3});
  CHECK(!set_inactive(world, "cup", {{{5}, {8}}}));
  CHECK(world.kind("cup", "map", 9) == FailureKind::after_history);
  CHECK_CLOSE(world.x("cup", "map", 9, tests::holding()), 3.0, tests::kCloseM);
  CHECK(world.samples("cup", "map") == 2);
  (void)world.put("cup", "map", {9, 10});
  CHECK_CLOSE(world.x("cup", "map", 9), 9.0, tests::kCloseM);
  CHECK_CLOSE(world.x("cup", "map", 8), 8.0, tests::kCloseM);  // between the samples before and after
  CHECK(world.kind("cup", "map", 6) == FailureKind::not_connected);
  CHECK(!set_inactive(world, "cup", {}));
  for (const std::int64_t at : {2, 5, 6, 9}) CHECK_CLOSE(world.x("cup", "map", at), static_cast<double>(at), tests::kCloseM);
  CHECK(world.samples("cup", "map") == 4);
}

TEST(absent_asserted, "absence: what is asserted is listed as it was asserted, and holds where the thing is there") {
  World world;
  (void)world.fix("cup", "map", at_x(3.0), {2});
  (void)world.fix("lid", "cup");
  (void)set_inactive(world, "cup", {{{5}, {8}}, {{12}, Stamp::never()}});
  const std::vector<FixedInfo> fixed = world.forest.fixed_poses();
  CHECK(fixed.size() == 2 && fixed[0].from == Stamp{2});
  const FrameId cup = world.forest.find_frame("cup");
  CHECK(world.forest.sources_at(cup, {6}).empty() && world.forest.sources_at(cup, {9}).size() == 1);
  const auto info = world.forest.relation(world.relation("cup", "map"));
  CHECK(info->coverage.first == Stamp{2} && info->coverage.last == Stamp{11});
  const std::vector<std::string> map{"map"};
  CHECK(world.forest.frames_under(map, {9}).size() == 2 && world.forest.frames_under(map, {12}).empty());
  CHECK(!world.forest.ends_with({"cup", "map", ""}, {20}));
}

TEST(absent_moved, "absence: poses are integrated until the thing is gone, whatever came first") {
  const auto move = [](World& world, int step) {
    if (step == 0) (void)world.put("cup", "map", {1, 3});
    if (step == 1)
      for (const std::int64_t at : {2, 4, 6, 11})
        (void)world.forest.set_twist({"cup", "map", ""}, {.at = {at}, .velocity = {{1e9, 0.0, 0.0}, {}}});
    if (step == 2) (void)set_inactive(world, "cup", {{{5}, {8}}});
    if (step == 3) (void)world.put("cup", "map", {9});
  };
  std::vector<int> steps{0, 1, 2, 3};
  do {
    World world;
    for (const int step : steps) move(world, step);
    for (const std::int64_t at : {4, 8, 9, 11}) CHECK_CLOSE(world.x("cup", "map", at), static_cast<double>(at), tests::kCloseM);
    CHECK(world.kind("cup", "map", 5) == FailureKind::not_connected && world.kind("cup", "map", 7) == FailureKind::not_connected);
    (void)set_inactive(world, "cup", {});
    for (const std::int64_t at : {4, 6, 8, 11}) CHECK_CLOSE(world.x("cup", "map", at), static_cast<double>(at), tests::kCloseM);
  } while (std::ranges::next_permutation(steps).found);
}

TEST(absent_refused, "absence: a transaction that is refused leaves it as it was") {
  World world;
  (void)world.fix("cup", "map");
  (void)set_inactive(world, "cup", {{{5}, Stamp::never()}});
  const std::vector<FrameEdit> edits{SetInactiveIntervals{"cup", {{{7}, Stamp::never()}}, {}},
                                     SetInactiveIntervals{"jug", {{{7}, Stamp::never()}}, {}}, EraseFrame{"nobody"}};
  CHECK(world.forest.transact(edits).kind() == FailureKind::unknown_frame);
  (void)world.fix("jug", "map");
  CHECK(world.kind("cup", "map", 6) == FailureKind::not_connected && world.kind("jug", "map", 8) == FailureKind::none);
  (void)world.fix("cup", "map", {}, {2});
  CHECK(world.kind("cup", "map", 6) == FailureKind::not_connected && world.kind("cup", "map", 4) == FailureKind::none);
}

TEST(absent_between, "inactive: an assertion from an instant between places the frame from there on") {
  World world;
  (void)world.fix("cup", "map", at_x(1.0));
  CHECK(!set_inactive(world, "cup", {{{5}, {9}}}));
  CHECK(!world.fix("cup", "map", at_x(2.0), {7}));
  CHECK(world.kind("cup", "map", 6) == FailureKind::not_connected);
  for (const std::int64_t at : {7, 9, 12}) CHECK_CLOSE(world.x("cup", "map", at), 2.0, tests::kCloseM);
}

TEST(absent_but, "inactive: the source of the thing itself is not affected") {
  World world;
  (void)world.fix("cup", "map", at_x(1.0), Stamp::always(), "camera");
  (void)world.fix("cup", "map", at_x(2.0), Stamp::always(), "scene");
  CHECK(!set_inactive(world, "cup", {{{5}, Stamp::never()}}, {"scene"}));
  CHECK(world.kind("cup", "map", 4) == FailureKind::ambiguous_path);
  CHECK_CLOSE(world.x("cup", "map", 6), 2.0, tests::kCloseM);
}

TEST(absent_unknown, "absence: of a frame that nobody has named yet") {
  World world;
  CHECK(!set_inactive(world, "cup", {{{5}, Stamp::never()}}));
  CHECK(world.forest.find_frame("cup") == kNone);
  (void)world.fix("cup", "map", at_x(3.0));
  CHECK(world.kind("cup", "map", 6) == FailureKind::not_connected && world.kind("cup", "map", 4) == FailureKind::none);
}

TEST(absent_loop, "absence: one that ends with a loop is refused, and nothing has changed") {
  World world;
  (void)world.fix("a", "b");
  (void)set_inactive(world, "a", {{{5}, Stamp::never()}});
  CHECK(!world.fix("b", "a", {}, {6}));
  const std::string before = tests::portrait(world.forest);
  CHECK(set_inactive(world, "a", {{{5}, {8}}}).kind() == FailureKind::frame_loop);
  CHECK(tests::portrait(world.forest) == before);
  CHECK_CLOSE(world.x("b", "a", 9), 0.0, tests::kCloseM);
  CHECK(!world.fix("a", "hall", {}, {9}));  // and its end is where it was
  CHECK(world.kind("a", "hall", 8) == FailureKind::not_connected);
}

TEST(absent_copied, "absence: a forest that becomes like another knows it") {
  World world, other;
  (void)set_inactive(world, "cup", {{{5}, Stamp::never()}});
  other.forest.become(world.forest);
  (void)other.fix("cup", "map", at_x(3.0));
  CHECK(other.kind("cup", "map", 6) == FailureKind::not_connected);
}

TEST(absent_forgotten, "absence: is forgotten with its frame") {
  World world;
  (void)world.fix("cup", "map");
  (void)set_inactive(world, "cup", {{{5}, Stamp::never()}});
  for (const char* name : {"cup", "nobody"}) {
    const FrameEdit edit = EraseFrame{name, true};
    CHECK(!world.forest.transact({&edit, 1}));
  }
  (void)world.fix("cup", "map", at_x(3.0));
  CHECK_CLOSE(world.x("cup", "map", 6), 3.0, tests::kCloseM);
}

namespace {

struct Given {
  std::int64_t at = 0;
  unsigned what = 0;
};

/// Something that others say, or when the thing is away.
void give(World& world, const Given& given, const InactiveIntervals& inactive_intervals) {
  tests::give(world, given.at, given.what);
  if (given.what == 4) (void)set_inactive(world, "cup", inactive_intervals);
  if (given.what == 5) (void)set_inactive(world, "cup", {{{given.at}, Stamp::never()}});
}

}  // namespace

TEST(absent_any_order, "inactive: the answers depend on the assertions, and not on their order") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 400; ++round) {
    std::vector<Given> given;
    for (std::int64_t at = 1; at < 24; at += 1 + static_cast<std::int64_t>(random() % 4))
      given.push_back({at, static_cast<unsigned>(random() % 4)});
    InactiveIntervals inactive_intervals;
    for (std::int64_t at = 2; at < 20; at += 7) {
      const Stamp from{at + static_cast<std::int64_t>(random() % 3)};
      inactive_intervals.push_back(
          {from, at > 14 ? Stamp::never() : Stamp{from.ns + 1 + static_cast<std::int64_t>(random() % 4)}});
    }
    World in_order, shuffled;
    for (World* world : {&in_order, &shuffled}) {
      (void)world->fix("hand", "map", at_x(100.0));
      (void)world->forest.add_frame("cup");
    }
    for (const Given& one : given) give(in_order, one, inactive_intervals);
    give(in_order, {0, 4}, inactive_intervals);
    for (const std::int64_t at : {3, 9})
      given.insert(given.begin() + static_cast<std::ptrdiff_t>(random() % given.size()), {at, 5});
    std::ranges::shuffle(given, random);
    const std::size_t half = given.size() / 2;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (i == half) give(shuffled, {0, 4}, inactive_intervals);
      if (i < half || given[i].what != 5) give(shuffled, given[i], inactive_intervals);
    }
    CHECK(tests::answers(in_order) == tests::answers(shuffled));
  }
}
