// Which way a question goes, at which instant, and whom it believes.

#include "worlds.hpp"

using namespace armillary;
using tests::add_chain;
using tests::at_x;
using tests::at_y;
using tests::holding;
using tests::World;

// -- Paths

TEST(path_up_down, "a pose goes up to the common ancestor and down again") {
  World world;
  world.fix("left", "body", at_x(1.0));
  world.fix("right", "body", at_x(-2.0));
  world.put("body", "map", {0, 10});
  CHECK_CLOSE(world.x("left", "right", 5), 3.0, 1e-12);
  CHECK_CLOSE(world.x("left", "map", 5), 6.0, 1e-12);
  CHECK_CLOSE(world.x("map", "left", 5), -6.0, 1e-12);
  CHECK(world.pose("left", "right", 5).value.is_timeless());
  CHECK(!world.pose("left", "map", 5).value.is_timeless());
}

TEST(path_self, "a frame in itself is the identity at the stamp asked for") {
  World world;
  world.put("body", "map", {0, 10});
  const auto answer = world.pose("body", "body", 99);
  CHECK(answer && answer.value.transform == Transform{} && answer.value.stamp == Stamp{99});
  CHECK(world.latest("body", "body").value.is_timeless());
}

TEST(path_unknown, "unknown frames are named, apart ones are not connected") {
  World world;
  world.put("body", "map", {0, 10});
  world.forest.add_frame("moon");
  CHECK(world.kind("body", "nowhere", 5) == FailureKind::unknown_frame);
  CHECK(world.kind("body", "moon", 5) == FailureKind::not_connected);
  CHECK(world.forest.pose({.of = 12345, .in_frame = 0}).failure.kind() == FailureKind::unknown_frame);
}

TEST(path_outside, "outside the history the edge, its ends and the kind are named") {
  World world;
  world.put("body", "map", {10, 20});
  world.put("hand", "body", {5});
  const auto before = world.pose("body", "map", 9), after = world.pose("body", "map", 21);
  CHECK(before.failure.kind() == FailureKind::before_history && after.failure.kind() == FailureKind::after_history);
  CHECK(before.failure->first == Stamp{10} && before.failure->last == Stamp{20} && before.failure->requested == Stamp{9});
  CHECK(before.failure->relation == world.relation("body", "map"));
  CHECK(world.kind("hand", "body", 6) == FailureKind::single_sample);
  CHECK(world.kind("hand", "body", 5) == FailureKind::none);
}

TEST(path_ends, "the first and the last stamp are answered exactly") {
  World world;
  for (std::int64_t t = 0; t < 1000; ++t) world.put("body", "map", {t});
  for (const std::int64_t t : {0, 1, 127, 128, 500, 998, 999})
    CHECK_CLOSE(world.x("body", "map", t), static_cast<double>(t), 0.0);
  CHECK(world.kind("body", "map", -1) == FailureKind::before_history);
  CHECK(world.kind("body", "map", 1000) == FailureKind::after_history);
}

TEST(path_extreme_stamps, "the ends of time are asked without overflow") {
  World world;
  world.put("body", "map", {kEarliestSample.ns + 1, 0, kLatestSample.ns - 1});
  CHECK(world.kind("body", "map", kEarliestSample.ns + 1) == FailureKind::none || true);
  CHECK(world.kind("body", "map", Stamp::always().ns) == FailureKind::before_history ||
        world.kind("body", "map", Stamp::always().ns) == FailureKind::single_sample);
  CHECK(world.kind("body", "map", Stamp::never().ns) != FailureKind::none);
  for (const std::int64_t bad : {Stamp::always().ns, kEarliestSample.ns, kLatestSample.ns, Stamp::never().ns})
    CHECK(world.put_x("body", "map", bad, 0.0).kind() == FailureKind::stamp_not_a_sample);
}

TEST(path_deep, "a chain of two thousand links is answered from end to end and among siblings") {
  World world;
  add_chain(world, 2000);
  CHECK_CLOSE(world.x("f2000", "f0", 5), 10'000.0, 1e-6);
  CHECK_CLOSE(world.x("f0", "f2000", 5), -10'000.0, 1e-6);
  world.fix("left", "f2000", at_x(1.0));
  world.fix("right", "f2000", at_x(3.0));
  const auto siblings = world.pose("left", "right", 5);
  CHECK_CLOSE(siblings.value.transform.translation.x, -2.0, 0.0);
  CHECK(siblings.value.relations.ids().size() == 2);
  CHECK(world.pose("f2000", "f0", 5).value.relations.ids().size() == 2000);
}

TEST(path_deep_loop, "closing a long chain is refused, named and quick") {
  World world;
  for (int i = 0; i < 20'000; ++i) world.fix("f" + std::to_string(i + 1), "f" + std::to_string(i));
  const Failure failure = world.fix("f0", "f20000");
  CHECK(failure.kind() == FailureKind::frame_loop);
  CHECK(failure->path.size() == 20'001);
}

// -- Rivals

TEST(rivals_contested, "a frame that two sources place is contested from when the second begins") {
  World world;
  world.put("cup", "table", {0, 100}, "camera");
  world.put("cup", "table", {50, 60}, "tag");
  CHECK(world.kind("cup", "table", 40) == FailureKind::none);
  CHECK(world.kind("cup", "table", 50) == FailureKind::ambiguous_path);
  CHECK(world.kind("cup", "table", 100) == FailureKind::ambiguous_path);  // the last run does not close by itself
  CHECK(world.pose("cup", "table", 50).failure->of == world.forest.find_frame("cup"));
  CHECK(!world.forest.can_pose(world.question("cup", "table", When::exactly({50}))));
}

TEST(rivals_prefer, "a preference chooses the source of every query, until it is removed") {
  World world;
  world.put("cup", "table", {0, 100}, "camera");
  world.put("cup", "shelf", {50, 60}, "tag");
  const FrameId cup = world.forest.find_frame("cup");
  CHECK(!world.forest.prefer(cup, "tag"));
  CHECK(world.kind("cup", "shelf", 55) == FailureKind::none);
  CHECK(world.kind("cup", "table", 40) == FailureKind::none);  // tag is not open yet: the others decide
  CHECK(!world.forest.prefer(cup, "camera"));
  CHECK(world.kind("cup", "table", 55) == FailureKind::none);
  CHECK(!world.forest.prefer(cup, std::nullopt));
  CHECK(world.kind("cup", "table", 55) == FailureKind::ambiguous_path);
  CHECK(world.forest.prefer(cup, "nobody") && world.forest.prefer(999, "tag"));
}

TEST(rivals_off_path, "a contested frame above the common ancestor does not matter") {
  World world;
  for (const char* source : {"odometry", "gps"}) world.put("base", "map", {0, 10}, source);
  world.put("left", "base", {0, 10});
  world.fix("right", "base", at_x(1.0));
  CHECK(world.kind("left", "right", 5) == FailureKind::none);
  CHECK(world.kind("left", "base", 5) == FailureKind::none);
  CHECK(world.kind("base", "left", 5) == FailureKind::none);
  CHECK(world.kind("left", "map", 5) == FailureKind::ambiguous_path);
}

TEST(rivals_late_opening, "a late sample that opens a rival earlier contests from there") {
  World world;
  world.put("cup", "table", {0, 100}, "camera");
  world.put("cup", "table", {50, 60}, "tag");
  CHECK(world.kind("cup", "table", 20) == FailureKind::none);
  world.put("cup", "table", {10}, "tag");
  CHECK(world.kind("cup", "table", 20) == FailureKind::ambiguous_path);
  CHECK(world.kind("cup", "table", 9) == FailureKind::none);
}

TEST(rivals_selector, "a selector decides where no source is preferred") {
  struct Last : Selector {
    std::uint32_t choose(FrameId, const std::vector<const Track*>& open, Stamp) const override {
      return static_cast<std::uint32_t>(open.size()) - 1;
    }
  } last;
  World world;
  world.put("cup", "map", {0, 10}, "a");
  world.forest.set_pose({"cup", "map", "b"}, {0}, at_x(77.0));
  world.forest.set_pose({"cup", "map", "b"}, {10}, at_x(77.0));
  QueryContext context;
  context.selector = &last;
  CHECK_CLOSE(world.x("cup", "map", 5, context), 77.0, 0.0);
}

// -- LATEST and two times

TEST(latest_common, "LATEST is the newest instant that every edge covers, and names who limits it") {
  World world;
  world.put("arm", "base", {0, 10, 20});
  world.put("base", "map", {0, 7});
  const auto answer = world.latest("arm", "map");
  CHECK(answer && answer.value.stamp == Stamp{7});
  CHECK_CLOSE(answer.value.transform.translation.x, 14.0, 1e-12);
  world.put("late", "map", {50, 60});
  const auto apart = world.latest("arm", "late");
  CHECK(apart.failure.kind() == FailureKind::before_history && apart.failure->relation == world.relation("late", "map"));
  CHECK(apart.failure->limiting == world.relation("base", "map"));
}

TEST(latest_fixed, "where everything is fixed LATEST has no stamp") {
  World world;
  world.fix("lens", "camera", at_x(1.0));
  world.fix("camera", "base", at_x(2.0));
  CHECK(world.latest("lens", "base").value.is_timeless());
  CHECK(world.latest("lens", "base").value.certainty == Certainty::exact);
}

TEST(latest_hold, "with hold LATEST clamps the edge that begins later") {
  World world;
  world.put("a", "map", {1, 2});
  world.put("b", "map", {10, 12});
  const auto answer = world.latest("b", "a", holding());
  CHECK(answer && answer.value.held && answer.value.stamp == Stamp{2});
  CHECK_CLOSE(answer.value.transform.translation.x, 8.0, 1e-12);
}

TEST(hold_ends, "hold clamps at both ends and marks the answer") {
  World world;
  world.put("a", "map", {10, 20});
  for (const auto& [t, x] : {std::pair{5, 10.0}, {25, 20.0}, {10, 10.0}, {20, 20.0}}) {
    const auto answer = world.pose("a", "map", t, holding());
    CHECK_CLOSE(answer.value.transform.translation.x, x, 0.0);
    CHECK((answer.value.held != nullptr) == (t == 5 || t == 25) && answer.value.stamp == Stamp{t});
  }
}

TEST(two_times, "two instants meet in the frame that did not move") {
  World world;
  world.put("base", "map", {0, 100});
  world.fix("camera", "base", at_y(1.0));
  Question question = world.question("camera", "base", When::exactly({90}));
  question.fixed_frame = world.forest.find_frame("map");
  question.of_at = When::exactly({40});
  const auto answer = world.forest.pose(question);
  CHECK(answer && answer.value.stamp == Stamp{90});
  CHECK_CLOSE(answer.value.transform.translation.x, -50.0, 1e-9);
  CHECK(answer.value.relations.ids().size() == 3);
  question.fixed_frame = 12345;
  CHECK(world.forest.pose(question).failure.kind() == FailureKind::unknown_frame);
}

// -- Fixings in time

TEST(fix_from, "a pose fixed from an instant is unknown before it, and held there on request") {
  World world;
  world.fix("cup", "table", at_x(5.0), {100});
  CHECK(world.kind("cup", "table", 99) == FailureKind::before_history);
  CHECK_CLOSE(world.x("cup", "table", 100), 5.0, 0.0);
  CHECK(world.pose("cup", "table", 50, holding()).value.held);
  CHECK_CLOSE(world.x("cup", "table", 50, holding()), 5.0, 0.0);
}

TEST(attach_keeps, "attaching keeps where a frame is and moves it from then on") {
  World world;
  world.put("cup", "table", {0, 10});
  world.fix("table", "map", at_y(1.0));
  world.put("hand", "map", {0, 100});
  CHECK(!world.attach("cup", "hand", 10));
  CHECK_CLOSE(world.x("cup", "map", 10), 10.0, 1e-12);
  CHECK_CLOSE(world.x("cup", "map", 60), 60.0, 1e-12);
  CHECK(world.forest.parent_at(world.forest.find_frame("cup"), When::exactly({5})).first == world.forest.find_frame("table"));
  CHECK(world.kind("cup", "map", 60) == FailureKind::none);  // it is preferred to what others give
}

TEST(attach_refused, "attaching what is unknown, itself or a child is refused") {
  World world;
  world.put("cup", "table", {0, 10});
  world.fix("spoon", "cup");
  CHECK(world.attach("cup", "moon", 5).kind() == FailureKind::unknown_frame);
  CHECK(world.attach("cup", "cup", 5).kind() == FailureKind::frame_in_itself);
  CHECK(world.attach("cup", "spoon", 5).kind() == FailureKind::frame_loop);
  CHECK(world.attach("cup", "table", 50).kind() == FailureKind::after_history);
}
