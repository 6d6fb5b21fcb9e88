#include <functional>

#include "twists.hpp"

using namespace armillary;
using namespace tests;

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

TEST(uncertain_samples, "each sample counts once, as pose and as derivative, up and down the tree") {
  Dice dice(9);
  const Transform a0 = dice.pose(), a1 = a0 * Transform::exp({dice.vector(), dice.vector(1.5)}), map_T_d = dice.pose();
  const Covariance s0 = diagonal(1e-2, 2e-2), s1 = diagonal(2e-2, 1e-2), of_d = diagonal(1e-2, 3e-2);
  const auto build = [&](const Transform& d0, const Transform& d1, const Transform& dd) {
    auto world = std::make_unique<World>();
    (void)world->forest.set_pose({"a", "map", ""}, {0}, a0 * d0, &s0);
    (void)world->forest.set_pose({"a", "map", ""}, {kSecond}, a1 * d1, &s1);
    (void)world->forest.fix({"d", "map", ""}, Stamp::always(), {map_T_d * dd, of_d, Certainty::known});
    return world;
  };
  const auto world = build({}, {}, {});
  for (const Interpolation kind : {Interpolation::linear, Interpolation::screw})
    for (const std::int64_t at : {std::int64_t{0}, kSecond / 3, kSecond})
      for (const std::int64_t window : {std::int64_t{0}, kSecond / 2})
        for (const Ask& ask : {Ask{.of = "a", .relative_to = "map", .axes = "a"},
                               Ask{.of = "d", .relative_to = "a", .axes = "d", .point = "map"}}) {
          Ask asked = ask;
          asked.window_ns = window;
          asked.context.interpolation = kind;
          const auto velocity = [&](const World& pushed) { return twist(pushed, asked, at).value.velocity; };
          const Covariance expected =
              propagated_by(slopes([&](const Transform& d) { return velocity(*build(d, {}, {})); }), s0) +
              propagated_by(slopes([&](const Transform& d) { return velocity(*build({}, d, {})); }), s1) +
              propagated_by(slopes([&](const Transform& d) { return velocity(*build({}, {}, d)); }), of_d);
          const auto answer = twist(*world, asked, at);
          CHECK(answer && answer.value.certainty == Certainty::known);
          if (answer.value.covariance) check_same(*answer.value.covariance, expected, 1e-7, __LINE__);
        }
}

TEST(uncertain_axes, "asked along the axes it was given along, a twist has the covariance it was given with") {
  World world;
  const Covariance of_pose = diagonal(1e-2, 4e-2), of_twist = diagonal(1e-3, 2e-3);
  (void)world.forest.set_pose({"a", "map", ""}, {0}, Dice(3).pose(), &of_pose);
  CHECK(!measure(world, "a", "map", 0, {{1, 0, 0}, {0, 0, 1}}, "map", "", &of_twist));
  const auto as_given = twist(world, {.of = "a", .relative_to = "map"}, 0);
  CHECK(as_given.value.certainty == Certainty::known);
  if (as_given.value.covariance) check_same(*as_given.value.covariance, of_twist, 1e-15, __LINE__);
  const auto along_own = twist(world, {.of = "a", .relative_to = "map", .axes = "a"}, 0);
  CHECK_CLOSE(along_own.value.covariance->trace(), of_twist.trace() + 2 * 4e-2 + 2 * 4e-2, 1e-12);
}

TEST(uncertain_axes_gone, "when the axes it was given along are removed, the covariance of a twist is unknown") {
  World world;
  const Covariance of_pose = diagonal(1e-2, 4e-2), of_twist = diagonal(1e-3, 2e-3);
  (void)world.forest.set_pose({"a", "map", ""}, {0}, Dice(3).pose(), &of_pose);
  (void)world.forest.set_pose({"flag", "map", ""}, {0}, Dice(4).pose(), &of_pose);
  CHECK(!measure(world, "a", "map", 0, {{1, 0, 0}, {0, 0, 1}}, "flag", "", &of_twist));
  const Ask ask{.of = "a", .relative_to = "map", .axes = "a"};
  const Velocity before = twist(world, ask, 0).value.velocity;
  CHECK(twist(world, ask, 0).value.certainty == Certainty::known);
  CHECK(!world.forest.remove_frame(world.forest.find_frame("flag"), false));
  const auto after = twist(world, ask, 0);
  CHECK(after && after.value.certainty == Certainty::unknown && !after.value.covariance);
  CHECK_VELOCITY(after.value.velocity, before, 0.0);
}
