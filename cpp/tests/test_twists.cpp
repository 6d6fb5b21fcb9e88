#include <functional>
#include <random>

#include "worlds.hpp"

using namespace armillary;
using tests::World;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kCloseRate = 1e-6;  // of a central difference over 2e-4 s
constexpr std::int64_t kStep = 100'000;

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  double number(double low = -1.0, double high = 1.0) { return std::uniform_real_distribution<double>(low, high)(random_); }
  Vector3 vector(double size = 1.0) { return {size * number(), size * number(), size * number()}; }
  Transform pose() { return {Rotation::exp(vector(1.5)), vector(2.0)}; }

 private:
  std::mt19937_64 random_;
};

/// Two samples at 0 and 1 s: in between everything is smooth.
void move(World& world, std::string_view of, std::string_view in, Dice& dice) {
  const Transform first = dice.pose();
  (void)world.forest.set_pose({of, in, ""}, {0}, first);
  (void)world.forest.set_pose({of, in, ""}, {kSecond}, first * Transform::exp({dice.vector(), dice.vector()}));
}

struct Ask {
  std::string_view of, relative_to;
  std::string_view axes = "", point = "";
  std::int64_t window_ns = 0;
  QueryContext context{};
};

Result<TwistAnswer> twist(const World& world, const Ask& ask, When at) {
  const Forest& forest = world.forest;
  const auto frame = [&](std::string_view name) { return name.empty() ? kNone : forest.find_frame(name); };
  return forest.twist({.of = frame(ask.of),
                       .reference = forest.find_frame(ask.relative_to),
                       .relative_to = forest.find_body(ask.relative_to),
                       .expressed_in = frame(ask.axes),
                       .point = frame(ask.point),
                       .at = at,
                       .window = {ask.window_ns},
                       .context = ask.context});
}

Result<TwistAnswer> twist(const World& world, const Ask& ask, std::int64_t at) { return twist(world, ask, When::exactly({at})); }

/// Central difference of the poses: of `of` in `in`, at the origin of `of`, along the axes of `in`.
Velocity difference(const World& world, std::string_view of, std::string_view in, std::int64_t at,
                    const QueryContext& context = {}) {
  const Transform before = world.pose(of, in, at - kStep, context).value.transform;
  const Transform after = world.pose(of, in, at + kStep, context).value.transform;
  const double per_s = 1e9 / (2.0 * static_cast<double>(kStep));
  const Transform now = world.pose(of, in, at, context).value.transform;
  const Vector3 body_rate = per_s * (before.rotation.inverse() * after.rotation).log();
  return {per_s * (after.translation - before.translation), now.rotation * body_rate};
}

void check_close(const Velocity& a, const Velocity& b, double tolerance, int line) {
  check::close(norm(a.linear - b.linear), 0.0, tolerance, __FILE__, line);
  check::close(norm(a.angular - b.angular), 0.0, tolerance, __FILE__, line);
}
#define CHECK_VELOCITY(a, b, tolerance) check_close((a), (b), (tolerance), __LINE__)

Failure measure(World& world, std::string_view of, std::string_view relative_to, std::int64_t at, const Velocity& velocity,
                std::string_view axes = "", std::string_view source = "", const Covariance* covariance = nullptr) {
  return world.forest.set_twist({of, relative_to, source},
                                {.at = {at}, .expressed_in = axes, .velocity = velocity, .covariance = covariance});
}

Covariance diagonal(double linear, double angular) {
  Covariance c;
  for (int i = 0; i < 3; ++i) c.at(i, i) = linear, c.at(3 + i, 3 + i) = angular;
  return c;
}

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

TEST(twist_failures, "what is missing is said as for poses") {
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
  CHECK(twist(world, {.of = "mount", .relative_to = "a"}, at).value.method == TwistMethod::differentiated);
  CHECK(twist(world, {.of = "mount", .relative_to = "map"}, at).value.method == TwistMethod::mixed);
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

TEST(measured_rivals, "rivals about one motion are named, and a preference settles it") {
  World world;
  world.put("a", "map", {0, kSecond});
  CHECK(!measure(world, "a", "map", 0, {{1, 0, 0}, {}}, "", "one"));
  CHECK(!measure(world, "a", "map", 0, {{2, 0, 0}, {}}, "", "two"));
  const auto contested = twist(world, {.of = "a", .relative_to = "map"}, 0);
  CHECK(contested.failure.kind() == FailureKind::ambiguous_path && contested.failure->about_twist);
  CHECK(world.forest.prefer(world.forest.find_frame("a"), "two"));
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

// -- Uncertainty

namespace {

/// By central differences: how the answer moves with an error on the right of one pose.
std::array<Velocity, 6> slopes(const std::function<Velocity(const Transform&)>& answer) {
  constexpr double step = 1e-6;
  std::array<Velocity, 6> columns;
  for (std::size_t k = 0; k < 6; ++k) {
    std::array<double, 6> e{};
    e[k] = step;
    const Tangent forth{{e[0], e[1], e[2]}, {e[3], e[4], e[5]}};
    const Tangent back{-forth.translation, -forth.rotation};
    columns[k] = (0.5 / step) * (answer(Transform::exp(forth)) - answer(Transform::exp(back)));
  }
  return columns;
}

Covariance propagated_by(const std::array<Velocity, 6>& columns, const Covariance& covariance) {
  Matrix6 jacobian{};
  for (std::size_t k = 0; k < 6; ++k) {
    const auto column = values_of(columns[k]);
    for (std::size_t i = 0; i < 6; ++i) jacobian[6 * i + k] = column[i];
  }
  return propagated(covariance, jacobian);
}

void check_same(const Covariance& a, const Covariance& b, double tolerance, int line) {
  for (std::size_t i = 0; i < 36; ++i) check::close(a.values[i], b.values[i], tolerance, __FILE__, line);
}

}  // namespace

TEST(uncertain_transport, "the poses that carry a measured twist add their own uncertainty") {
  Dice dice(5);
  const Transform map_T_a = dice.pose(), a_T_b = dice.pose(), map_T_e = dice.pose();
  const Covariance of_a = diagonal(1e-2, 2e-2), of_b = diagonal(3e-2, 1e-2), of_e = diagonal(2e-2, 3e-2);
  const Covariance of_twist = diagonal(1e-3, 2e-3);
  const Velocity motion{dice.vector(), dice.vector()};
  const auto build = [&](const Transform& da, const Transform& db, const Transform& de) {
    auto world = std::make_unique<World>();
    (void)world->forest.fix({"a", "map", ""}, Stamp::always(), {map_T_a * da, of_a, Certainty::known});
    (void)world->forest.fix({"b", "a", ""}, Stamp::always(), {a_T_b * db, of_b, Certainty::known});
    (void)world->forest.fix({"e", "map", ""}, Stamp::always(), {map_T_e * de, of_e, Certainty::known});
    (void)measure(*world, "a", "x", 0, motion, "", "", &of_twist);
    return world;
  };
  const Ask ask{.of = "a", .relative_to = "x", .axes = "e", .point = "b"};
  const auto velocity = [&](const World& world) { return twist(world, ask, 0).value.velocity; };
  Covariance expected = propagated_by(slopes([&](const Transform& d) { return velocity(*build(d, {}, {})); }), of_a) +
                        propagated_by(slopes([&](const Transform& d) { return velocity(*build({}, d, {})); }), of_b) +
                        propagated_by(slopes([&](const Transform& d) { return velocity(*build({}, {}, d)); }), of_e);
  const auto world = build({}, {}, {});
  const Transform e_T_a = world->latest("a", "e").value.transform;
  const Transform to_point{e_T_a.rotation, {}};
  expected = expected + transported(of_twist, to_point * Transform{{}, a_T_b.translation}.inverse());
  const auto answer = twist(*world, ask, 0);
  CHECK(answer && answer.value.certainty == Certainty::known);
  if (answer.value.covariance) check_same(*answer.value.covariance, expected, 1e-7, __LINE__);
}

TEST(uncertain_edges, "an edge's pose and its motion are uncertain, up and down the tree") {
  Dice dice(9);
  const Transform a0 = dice.pose(), a1 = a0 * Transform::exp({dice.vector(0.1), dice.vector(0.1)});
  const Transform map_T_d = dice.pose();
  const Covariance s0 = diagonal(1e-2, 2e-2), s1 = diagonal(2e-2, 1e-2), of_d = diagonal(1e-2, 3e-2);
  World world;
  (void)world.forest.set_pose({"a", "map", ""}, {0}, a0, &s0);
  (void)world.forest.set_pose({"a", "map", ""}, {kSecond}, a1, &s1);
  (void)world.forest.fix({"d", "map", ""}, Stamp::always(), {map_T_d, of_d, Certainty::known});
  // At the first sample the pose is its own; its error there moves axes and lever, not the difference.
  const Ask up{.of = "a", .relative_to = "map", .context = {.interpolation = Interpolation::screw}};
  const auto seen = twist(world, up, 0);
  CHECK(seen.value.certainty == Certainty::known);
  const Tangent way = between(a0, a1).log();
  const Velocity body{way.translation, way.rotation};
  const Covariance of_motion = propagated(transported(s0, between(a1, a0)) + s1, inverse_right_jacobian(way));
  const Transform turn{a0.rotation, {}};
  const auto turned = slopes([&](const Transform& d) { return (a0 * d).rotation * body; });
  if (seen.value.covariance)
    check_same(*seen.value.covariance, transported(of_motion, turn) + propagated_by(turned, s0), 1e-7, __LINE__);
  // The other way round: d relative to a, along d, at the origin of d.
  const Ask down{.of = "d", .relative_to = "a", .axes = "d", .context = {.interpolation = Interpolation::screw}};
  const auto back = [&](const Transform& da, const Transform& dd, const Velocity& v) {
    const Transform d_T_a = (map_T_d * dd).inverse() * (a0 * da);
    return -(d_T_a.rotation * v).at(-d_T_a.translation);
  };
  Covariance expected = propagated_by(slopes([&](const Transform& d) { return back(d, {}, body); }), s0) +
                        propagated_by(slopes([&](const Transform& d) { return back({}, d, body); }), of_d);
  expected = expected + propagated_by(slopes([&](const Transform& d) {
                                        const Tangent e = d.log();
                                        return back({}, {}, body + Velocity{e.translation, e.rotation});
                                      }),
                                      of_motion);
  const auto other = twist(world, down, 0);
  CHECK(other.value.certainty == Certainty::known);
  CHECK_VELOCITY(other.value.velocity, back({}, {}, body), 1e-9);
  if (other.value.covariance) check_same(*other.value.covariance, expected, 1e-6, __LINE__);
}
