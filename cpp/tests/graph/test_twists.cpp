#include "twists.hpp"

using namespace armillary;
using namespace tests;

namespace {

/// a - b - c below map, d - e below map as well: every edge moves.
void grow_random_tree(World& world, unsigned seed) {
  Dice dice(seed);
  for (const auto& [of, in] :
       std::initializer_list<std::pair<const char*, const char*>>{{"a", "map"}, {"b", "a"}, {"c", "b"}, {"d", "map"}, {"e", "d"}})
    move(world, of, in, dice);
  (void)world.forest.fix({"mount", "c", ""}, Stamp::always(), {.value = dice.pose()});
}

}  // namespace

// -- Along the poses

TEST(twist_difference, "a twist is the derivative of the pose, whatever the path and the interpolation") {
  for (unsigned seed = 0; seed < 5; ++seed) {
    World world;
    grow_random_tree(world, seed);
    QueryContext screw;
    screw.interpolation = Interpolation::screw;
    for (const QueryContext& context : {QueryContext{}, screw})
      for (const auto& [of, in] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
               {"a", "map"}, {"map", "a"}, {"c", "map"}, {"c", "e"}, {"e", "mount"}, {"mount", "d"}}) {
        const std::int64_t at = 300'000'000 + 100'000'000 * static_cast<std::int64_t>(seed);
        const auto answer = twist(world, {.of = of, .relative_to = in, .context = context}, at);
        CHECK(answer && answer.value.method == TwistMethod::differentiated && answer.value.stamp == Stamp{at});
        CHECK_VELOCITY(answer.value.velocity, difference(world, of, in, at, context), kCloseRate);
      }
  }
}

TEST(twist_axes, "other axes turn a twist, another point swings it") {
  World world;
  grow_random_tree(world, 7);
  const std::int64_t at = 400'000'000;
  const Velocity plain = twist(world, {.of = "c", .relative_to = "e"}, at).value.velocity;
  for (const std::string_view axes : {"map", "c", "d", "e"}) {
    const Velocity turned = twist(world, {.of = "c", .relative_to = "e", .axes = axes}, at).value.velocity;
    CHECK_VELOCITY(turned, world.pose("e", axes, at).value.transform.rotation * plain, 1e-9);
  }
  const Vector3 lever =
      world.pose("mount", "e", at).value.transform.translation - world.pose("c", "e", at).value.transform.translation;
  CHECK_VELOCITY(twist(world, {.of = "c", .relative_to = "e", .point = "mount"}, at).value.velocity, plain.at(lever), 1e-9);
  CHECK_VELOCITY(twist(world, {.of = "mount", .relative_to = "e"}, at).value.velocity, plain.at(lever), 1e-9);
}

TEST(twist_ends, "at a sample the interval after it counts, at the last one the interval before it") {
  World world;
  world.put_x("a", "map", 0, 0.0);
  world.put_x("a", "map", kSecond, 1.0);
  world.put_x("a", "map", 2 * kSecond, 3.0);
  const auto speed = [&](std::int64_t at) { return twist(world, {.of = "a", .relative_to = "map"}, at).value.velocity.linear.x; };
  CHECK_CLOSE(speed(0), 1.0, 1e-12);
  CHECK_CLOSE(speed(kSecond), 2.0, 1e-12);
  CHECK_CLOSE(speed(2 * kSecond), 2.0, 1e-12);
  const auto latest = twist(world, {.of = "a", .relative_to = "map"}, When::newest());
  CHECK(latest && latest.value.stamp == Stamp{2 * kSecond});
  CHECK_CLOSE(latest.value.velocity.linear.x, 2.0, 1e-12);
}

TEST(twist_window, "a window averages, as far as the edge covers it") {
  World world;
  world.put_x("a", "map", 0, 0.0);
  world.put_x("a", "map", kSecond, 1.0);
  world.put_x("a", "map", 2 * kSecond, 3.0);
  const auto speed = [&](std::int64_t at, std::int64_t window) {
    return twist(world, {.of = "a", .relative_to = "map", .window_ns = window}, at).value.velocity.linear.x;
  };
  CHECK_CLOSE(speed(kSecond, kSecond), 1.5, 1e-12);
  CHECK_CLOSE(speed(kSecond, 10 * kSecond), 1.5, 1e-12);
  CHECK_CLOSE(speed(2 * kSecond, kSecond), 2.0, 1e-12);
  CHECK_CLOSE(speed(0, 4 * kSecond), 1.5, 1e-12);
}

TEST(twist_failures, "what is missing is reported as for poses") {
  World world;
  world.put("a", "map", {0, kSecond});
  world.put("lonely", "map", {0});
  world.forest.add_frame("moon");
  const auto kind = [&](std::string_view of, std::string_view in, std::int64_t at) {
    return twist(world, {.of = of, .relative_to = in}, at).failure.kind();
  };
  CHECK(kind("a", "map", 2 * kSecond) == FailureKind::after_history);
  CHECK(kind("a", "map", -1) == FailureKind::before_history);
  CHECK(kind("lonely", "map", 0) == FailureKind::single_sample);
  CHECK(kind("a", "moon", 0) == FailureKind::not_connected);
}

TEST(twist_fixed, "what is fixed does not move, exactly") {
  World world;
  world.fix("camera", "base", tests::at_x(1.0));
  for (const auto& [of, in] : {std::pair{"camera", "base"}, std::pair{"base", "base"}}) {
    const auto answer = twist(world, {.of = of, .relative_to = in}, 5);
    CHECK(answer && answer.value.velocity == Velocity{} && answer.value.is_timeless());
    CHECK(answer.value.method == TwistMethod::fixed && answer.value.certainty == Certainty::exact);
  }
}

// -- Bodies

TEST(body_adopts, "a body adopts frames, also later ones of its own name") {
  World world;
  world.fix("tip", "grip", tests::at_x(1.0));
  const std::string_view frames[] = {"tip", "grip"};
  CHECK(!world.forest.add_body("gun", frames));
  CHECK(world.forest.find_body("tip") == world.forest.find_body("gun"));
  CHECK(world.forest.body_name(world.forest.find_body("grip")) == "gun");
  world.forest.add_frame("gun");
  CHECK(world.forest.frames_of(world.forest.find_body("gun")).size() == 3);
  CHECK(!world.forest.add_body("gun", frames));
}

TEST(body_refuses, "frames that move against each other, or are on another body, are refused") {
  World world;
  world.put("tip", "grip", {0, 1});
  world.fix("lid", "box");
  const std::string_view moving[] = {"tip", "grip"}, rigid[] = {"lid", "box"}, stolen[] = {"lid", "new"};
  CHECK(world.forest.add_body("gun", moving).kind() == FailureKind::moves_in_body);
  CHECK(!world.forest.add_body("crate", rigid));
  CHECK(world.forest.add_body("gun", stolen).kind() == FailureKind::on_other_body);
  CHECK(world.forest.find_frame("new") == kNone);
  CHECK(world.forest.find_body("gun") == kNone);
}

TEST(body_constant, "within a body poses are constant") {
  World world;
  world.fix("lid", "box", tests::at_x(1.0));
  const std::string_view frames[] = {"lid", "box"};
  (void)world.forest.add_body("crate", frames);
  (void)world.put("box", "map", {0, 1});
  const Failure refused = world.put("lid", "box", {3});
  CHECK(refused.kind() == FailureKind::constant_in_body && refused->in_frame == world.forest.find_frame("box"));
  CHECK(!world.fix("lid", "box", tests::at_x(1.0)));
  CHECK(world.fix("lid", "box", tests::at_x(2.0)).kind() == FailureKind::constant_in_body);
  CHECK(!world.forest.fix({"lid", "box", ""}, Stamp::always(), {.value = tests::at_x(2.0)}, true));
  CHECK_CLOSE(world.latest("lid", "box").value.transform.translation.x, 2.0, 1e-12);
  CHECK(twist(world, {.of = "lid", .relative_to = "crate"}, 0).value.method == TwistMethod::fixed);
}

// -- Measured

TEST(measured_back, "a measured twist comes back along the axes it was given in") {
  World world;
  grow_random_tree(world, 3);
  const std::int64_t at = 500'000'000;
  const Velocity given{{0.2, 0.1, 0.1}, {0.05, 0.1, 0.2}};
  for (const std::string_view axes : {"", "c", "e", "map"}) {
    CHECK(!measure(world, "c", "e", at, given, axes));
    const auto answer = twist(world, {.of = "c", .relative_to = "e", .axes = axes.empty() ? "c" : axes}, at);
    CHECK(answer && answer.value.method == TwistMethod::measured);
    CHECK_VELOCITY(answer.value.velocity, given, 1e-12);
  }
}

TEST(measured_sum, "measured twists telescope over bodies and agree with the poses they were taken from") {
  World world;
  grow_random_tree(world, 11);
  for (const std::int64_t at : {200'000'000, 600'000'000})
    for (const auto& [of, in] : {std::pair{"c", "a"}, std::pair{"a", "map"}, std::pair{"d", "map"}})
      CHECK(!measure(world, of, in, at, twist(world, {.of = of, .relative_to = in}, at).value.velocity, in, "imu"));
  const std::int64_t at = 600'000'000;
  for (const std::string_view axes : {"map", "c", "e"}) {
    const auto answer = twist(world, {.of = "c", .relative_to = "d", .axes = axes, .point = "mount"}, at);
    CHECK(answer && answer.value.method == TwistMethod::measured);
    const Velocity expected =
        difference(world, "c", "d", at)
            .at(world.pose("mount", "d", at).value.transform.translation - world.pose("c", "d", at).value.transform.translation);
    CHECK_VELOCITY(answer.value.velocity, world.pose("d", axes, at).value.transform.rotation * expected, kCloseRate);
  }
  CHECK(twist(world, {.of = "c", .relative_to = "d"}, 700'000'000).value.method == TwistMethod::differentiated);
  CHECK(twist(world, {.of = "d", .relative_to = "c"}, at).value.method == TwistMethod::measured);
  for (const std::string_view in : {"a", "map"})  // it is fixed to what was measured, and moves with it
    CHECK(twist(world, {.of = "mount", .relative_to = in}, at).value.method == TwistMethod::measured);
}

TEST(measured_direct, "one link comes before two that only a fixed pose joins") {
  World world;
  world.put("a", "map", {0, kSecond});
  world.fix("b", "a", tests::at_x(1.0));
  world.put("c", "b", {0, kSecond});
  CHECK(!measure(world, "a", "map", 0, {{1, 0, 0}, {}}));
  CHECK(!measure(world, "c", "b", 0, {{2, 0, 0}, {}}));
  CHECK_CLOSE(twist(world, {.of = "c", .relative_to = "map"}, 0).value.velocity.linear.x, 3.0, 1e-12);
  CHECK(!measure(world, "c", "map", 0, {{7, 0, 0}, {}}, "", "gps"));
  CHECK_CLOSE(twist(world, {.of = "c", .relative_to = "map"}, 0).value.velocity.linear.x, 7.0, 1e-12);
}

TEST(measured_between, "between two measurements it is linear; the newest is the newest of all") {
  World world;
  world.put("a", "map", {0, 2 * kSecond});
  CHECK(!measure(world, "a", "map", 0, {{1, 0, 0}, {}}));
  CHECK(!measure(world, "a", "map", kSecond, {{3, 0, 0}, {}}));
  CHECK_CLOSE(twist(world, {.of = "a", .relative_to = "map"}, kSecond / 4).value.velocity.linear.x, 1.5, 1e-12);
  const auto latest = twist(world, {.of = "a", .relative_to = "map"}, When::newest());
  CHECK(latest.value.stamp == Stamp{kSecond} && latest.value.method == TwistMethod::measured);
  const auto later = twist(world, {.of = "a", .relative_to = "map"}, kSecond + 1);
  CHECK(later.value.method == TwistMethod::differentiated);
}

TEST(measured_rivals, "rivals about one motion are named, and a preference chooses one") {
  World world;
  world.put("a", "map", {0, kSecond});
  CHECK(!measure(world, "a", "map", 0, {{1, 0, 0}, {}}, "", "one"));
  CHECK(!measure(world, "a", "map", 0, {{2, 0, 0}, {}}, "", "two"));
  const auto contested = twist(world, {.of = "a", .relative_to = "map"}, 0);
  CHECK(contested.failure.kind() == FailureKind::ambiguous_path && contested.failure->about_twist);
  CHECK(!world.forest.prefer(world.forest.find_frame("a"), "two"));
  CHECK_CLOSE(twist(world, {.of = "a", .relative_to = "map"}, 0).value.velocity.linear.x, 2.0, 1e-12);
}

TEST(measured_refused, "a twist that cannot be turned, or is of nothing, stores nothing") {
  World world;
  world.put("a", "map", {0, kSecond});
  const Velocity motion{{1, 0, 0}, {}};
  CHECK(measure(world, "a", "map", 5 * kSecond, motion, "map").kind() == FailureKind::after_history);
  CHECK(measure(world, "new", "map", 0, motion, "map").kind() == FailureKind::unknown_frame);
  CHECK(measure(world, "a", "a", 0, motion).kind() == FailureKind::relative_to_itself);
  CHECK(measure(world, "a", "map", 0, {{std::nan(""), 0, 0}, {}}).kind() == FailureKind::not_a_twist);
  CHECK(world.forest.find_frame("new") == kNone);
  CHECK(world.forest.relations().size() == 1);
}

TEST(measured_removed, "with a frame go the twists of it and relative to it") {
  World world;
  world.put("a", "map", {0, kSecond});
  CHECK(!measure(world, "a", "map", 0, {{1, 0, 0}, {}}));
  CHECK(!measure(world, "drone", "a", 0, {{1, 0, 0}, {}}));
  CHECK(world.forest.relations().size() == 3);
  CHECK(!world.forest.remove_frame(world.forest.find_frame("a"), false));
  CHECK(world.forest.relations().empty());
}
