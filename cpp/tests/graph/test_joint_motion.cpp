// Closed forms of joints: what they are, and that velocities and Jacobians are their derivatives.

#include <numbers>
#include <vector>

#include "armillary/graph/joint_motion.hpp"
#include "worlds.hpp"

using namespace armillary;

namespace {

constexpr double kStep = 1e-6;
constexpr double kCloseToNumeric = 2e-9;

const Transform kOrigin{Rotation::exp({0.3, -0.2, 0.9}), {0.1, -0.4, 0.7}};
const Vector3 kAxis = (1.0 / norm(Vector3{1.0, 2.0, -0.5})) * Vector3{1.0, 2.0, -0.5};
const Vector3 kSecond = (1.0 / norm(Vector3{-0.3, 0.2, 1.0})) * Vector3{-0.3, 0.2, 1.0};

constexpr JointKind kKinds[] = {JointKind::revolute,    JointKind::prismatic, JointKind::screw, JointKind::planar,
                                JointKind::cylindrical, JointKind::universal, JointKind::ball,  JointKind::floating};

JointMotion motion_of(JointKind kind) {
  JointMotion motion{.kind = kind, .origin = kOrigin, .axis = kAxis, .second_axis = kSecond, .pitch = 0.05};
  if (variables_of(kind) == 1) motion.multiplier = -1.5, motion.offset = 0.2;
  return motion;
}

bool is_part(JointKind kind, std::size_t i) { return kind == JointKind::ball || (kind == JointKind::floating && i >= 3); }

/// Positions at `t` seconds, each on its own way; a rotation turns about a fixed axis.
std::vector<double> positions_at(JointKind kind, double t) {
  const Rotation q = Rotation::exp((0.4 + 0.6 * t) * kSecond);
  const double parts[] = {q.w, q.x, q.y, q.z};
  std::vector<double> positions;
  std::size_t part = 0;
  for (std::size_t i = 0; i < variables_of(kind); ++i)
    positions.push_back(is_part(kind, i) ? parts[part++]
                                         : 0.3 + 0.1 * static_cast<double>(i) + (0.7 - 0.2 * static_cast<double>(i)) * t);
  return positions;
}

std::vector<double> velocities_at(JointKind kind, double t) {
  const std::vector<double> before = positions_at(kind, t - kStep), after = positions_at(kind, t + kStep);
  std::vector<double> velocities;
  for (std::size_t i = 0; i < before.size(); ++i) velocities.push_back((after[i] - before[i]) / (2.0 * kStep));
  return velocities;
}

Velocity numeric_velocity(const JointMotion& motion, double t) {
  const Transform before = motion.pose(positions_at(motion.kind, t - kStep).data());
  const Transform after = motion.pose(positions_at(motion.kind, t + kStep).data());
  const Tangent way = between(before, after).log();
  return {(0.5 / kStep) * way.translation, (0.5 / kStep) * way.rotation};
}

}  // namespace

TEST(joint_velocity, "the velocity of every closed form is the derivative of its pose") {
  for (const JointKind kind : kKinds)
    for (const double t : {-0.8, 0.0, 1.3}) {
      const JointMotion motion = motion_of(kind);
      const Velocity body = motion.body_velocity(positions_at(kind, t).data(), velocities_at(kind, t).data());
      const Velocity numeric = numeric_velocity(motion, t);
      CHECK(norm(body.linear - numeric.linear) < kCloseToNumeric && norm(body.angular - numeric.angular) < kCloseToNumeric);
    }
}

TEST(joint_jacobian, "the Jacobian of every closed form times velocities is its velocity") {
  for (const JointKind kind : kKinds) {
    const JointMotion motion = motion_of(kind);
    const std::vector<double> q = positions_at(kind, 0.4), v = velocities_at(kind, 0.4);
    const JointMotion::Jacobian jacobian = motion.body_jacobian(q.data());
    const auto body = values_of(motion.body_velocity(q.data(), v.data()));
    for (std::size_t row = 0; row < 6; ++row) {
      double sum = 0.0;
      for (std::size_t i = 0; i < v.size(); ++i) sum += jacobian[row * v.size() + i] * v[i];
      CHECK_CLOSE(sum, body[row], 1e-14);
    }
  }
}

TEST(joint_forms, "closed forms are where they should be") {
  const double quarter = 0.5 * std::numbers::pi;
  const double q1[] = {quarter}, planar[] = {1.0, 2.0, quarter};
  const JointMotion screw{.kind = JointKind::screw, .pitch = 0.1};
  CHECK(tests::is_close(screw.pose(q1), {Rotation::exp({0, 0, quarter}), {0, 0, 0.1 * quarter}}));
  const JointMotion plane{.kind = JointKind::planar};
  CHECK(tests::is_close(plane.pose(planar), {Rotation::exp({0, 0, quarter}), {1.0, 2.0, 0.0}}));
  const JointMotion wall{.kind = JointKind::planar, .axis = {1.0, 0.0, 0.0}};
  CHECK(tests::is_close(wall.pose(planar), {Rotation::exp({quarter, 0, 0}), {0.0, 2.0, -1.0}}));
  const JointMotion ceiling{.kind = JointKind::planar, .axis = {0.0, 0.0, -1.0}};
  CHECK(tests::is_close(ceiling.pose(planar), {Rotation::exp({0, 0, -quarter}), {1.0, -2.0, 0.0}}));
  const JointMotion mimic{.kind = JointKind::prismatic, .axis = {0.0, 1.0, 0.0}, .multiplier = -2.0, .offset = 0.5};
  CHECK(tests::is_close(mimic.pose(q1), {{}, {0.0, 0.5 - 2.0 * quarter, 0.0}}));
}

TEST(joint_names, "joints are known by name, and a continuous one turns") {
  for (const JointKind kind : kKinds) CHECK(joint_kind_named(to_string(kind)) == kind);
  CHECK(joint_kind_named("continuous") == JointKind::revolute);
  CHECK(!joint_kind_named("fixed") && !joint_kind_named(""));
}
