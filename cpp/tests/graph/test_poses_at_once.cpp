// Several frames at one instant, motions at many, and what is stored and waited for of motions.

#include <array>

#include "worlds.hpp"

using namespace armillary;
using tests::at_x;
using tests::keeping;
using tests::World;

namespace {

/// Two frames in one, of which one is known longer.
struct TwoInOne : World {
  TwoInOne() {
    (void)put("a", "map", {0, 10, 20, 30});
    (void)put("b", "map", {5, 10});
  }
};

std::array<FramePair, 2> both(const World& world) {
  const FrameId map = world.forest.find_frame("map");
  return {FramePair{world.forest.find_frame("a"), map}, {map, world.forest.find_frame("b")}};
}

Failure give(World& world, std::string_view of, std::int64_t at, double speed) {
  return world.forest.set_twist({of, "map", "imu"}, {.at = {at}, .velocity = {{speed, 0, 0}, {}}});
}

TwistQuestion motion(const World& world, std::string_view of) {
  return {.of = world.forest.find_frame(of), .reference = world.forest.find_frame("map")};
}

struct Bell : Watcher {
  int rings = 0;
  void wake(WaitId) override { ++rings; }
};

}  // namespace

TEST(together_latest, "LATEST of several poses is the newest instant that all of them cover") {
  const TwoInOne world;
  const auto found = world.forest.poses_at_once(both(world), When::newest(), {});
  CHECK(found && found.value.size() == 2);
  CHECK(found.value[0].stamp == Stamp{10} && found.value[1].stamp == Stamp{10});
  CHECK(found.value[0].transform.translation.x == 10.0);
}

TEST(together_fixed, "where all of them are fixed they have no stamp") {
  World world;
  (void)world.fix("a", "map", at_x(1));
  (void)world.fix("b", "map", at_x(2));
  const auto found = world.forest.poses_at_once(both(world), When::newest(), {});
  CHECK(found && found.value[0].is_timeless() && found.value[1].is_timeless());
}

TEST(together_apart, "without a common instant the pair that begins later is named") {
  World world;
  (void)world.put("a", "map", {0, 10});
  (void)world.put("b", "map", {20, 30});
  const auto found = world.forest.poses_at_once(both(world), When::newest(), {});
  CHECK(!found && found.failure->kind == FailureKind::before_history && found.failure->row == 1);
  CHECK(found.failure->limiting == world.relation("a", "map"));
}

TEST(together_unknown, "a frame that is gone is named") {
  TwoInOne world;
  const auto pairs = both(world);
  (void)world.forest.remove_frame(world.forest.find_frame("b"), true);
  CHECK(world.forest.poses_at_once(pairs, When::newest(), {}).failure.kind() == FailureKind::unknown_frame);
}

TEST(twists_batch, "motions at many instants are those of one after the other, and the first that is missing is named") {
  TwoInOne world;
  (void)give(world, "b", 5, 3.0);
  (void)give(world, "b", 10, 7.0);
  const std::vector<std::int64_t> stamps{5, 7, 10};
  std::vector<double> rows(18);
  CHECK(!world.forest.twists(motion(world, "b"), stamps, rows.data()));
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    TwistQuestion question = motion(world, "b");
    question.at = When::exactly({stamps[i]});
    CHECK(world.forest.twist(question).value.velocity.linear.x == rows[6 * i]);
  }
  const std::vector<std::int64_t> late{5, 99};
  const Failure failure = world.forest.twists(motion(world, "b"), late, rows.data());
  CHECK(failure && failure->row == 1);
}

TEST(twists_kept, "stored twists are read back, and fewer of them are kept on request") {
  World world;
  for (const std::int64_t t : {0, 10, 20}) CHECK(!give(world, "a", t, 1.0));
  const RelationId twist = world.forest.find_twist({"a", "map", "imu"});
  CHECK(world.forest.find_twist({"a", "map", "nobody"}) == kNone);
  const SampleTable table = world.forest.samples(twist, {5}, {20});
  CHECK(table.width == 6 && table.stamps.size() == 2 && table.values.size() == 12 && table.covariances.empty());
  CHECK(!world.forest.keep(twist, keeping(10)));
  CHECK(world.forest.samples(twist, Stamp::always(), Stamp::never()).stamps.size() == 2);
}

TEST(twists_awaited, "a wait for a motion is woken by the measurement that makes it known, and by no other") {
  World world;
  (void)world.put("a", "map", {10});
  CHECK(!give(world, "a", 0, 1.0) && !give(world, "other", 0, 1.0));
  Bell bell;
  const NamedTwistQuestion question{.of = "a", .relative_to = "map", .at = When::exactly({10})};
  CHECK(!world.forest.answer_or_watch(question, {1, &bell}) && world.forest.is_watching(1));
  CHECK(!give(world, "a", 5, 2.0) && bell.rings == 0);
  CHECK(!give(world, "a", 15, 3.0) && bell.rings > 0);
  CHECK(world.forest.answer_or_watch(question, {1, &bell}) && world.forest.waits_pending() == 0);
}
