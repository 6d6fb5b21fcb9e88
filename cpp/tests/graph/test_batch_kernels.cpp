// Poses of a batch are those of single questions, on every processor: each kernel against the arithmetic of one pose.

#include <cmath>
#include <numbers>
#include <random>

#include "check.hpp"
#include "graph/batch_poses.hpp"

using namespace armillary;
using batch::Ends;
using batch::kBlock;
using batch::Poses;

namespace {

constexpr int kRounds = 200;
constexpr double kRounding = 1e-13;  // of numbers up to ten

/// Turns where the arithmetic changes its way among them: none, almost none, around the limit of the series, half a turn.
double nasty_angle(std::mt19937_64& chance) {
  constexpr double kLimit = 0.2830783;  // twice the arc cosine of 0.99
  const double angles[] = {0.0, 1e-9, 1e-4, kLimit - 1e-6, kLimit + 1e-6, 3.0, std::numbers::pi - 1e-6};
  return chance() % 2 == 0 ? angles[chance() % std::size(angles)] : std::uniform_real_distribution<>(0.0, 3.0)(chance);
}

Vector3 vector(std::mt19937_64& chance, double bound) {
  std::uniform_real_distribution<> number(-bound, bound);
  return {number(chance), number(chance), number(chance)};
}

Transform any_pose(std::mt19937_64& chance) {
  const Vector3 axis = vector(chance, 1.0);
  const double length = std::sqrt(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z) + 1e-12;
  Rotation turn = Rotation::exp(nasty_angle(chance) / length * axis);
  if (chance() % 2 == 0) turn = {-turn.w, -turn.x, -turn.y, -turn.z};
  return {turn, vector(chance, 10.0)};
}

/// The largest difference of a number; q and -q are the same rotation.
double difference(const Transform& a, const Transform& b) {
  const auto x = values_of(a), y = values_of(b);
  const double sign = x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] < 0.0 ? -1.0 : 1.0;
  double most = 0.0;
  for (std::size_t k = 0; k < 7; ++k) most = std::max(most, std::abs(x[k] - (k < 4 ? sign : 1.0) * y[k]));
  return most;
}

Poses any_poses(std::mt19937_64& chance) {
  Poses poses;
  for (std::size_t i = 0; i < kBlock; ++i) put_pose(poses, i, any_pose(chance));
  return poses;
}

}  // namespace

TEST(batch_kernels_number, "the portable kernel is always among them, and the fastest is used") {
  CHECK(!batch::kernels().empty());
  CHECK(batch::kernels().front().compose == batch::base_kernel.compose);
  CHECK(batch::kernels().back().compose == batch::kernel().compose);
}

TEST(batch_kernels_compose, "every kernel composes as single poses are composed") {
  std::mt19937_64 chance(1);
  for (int round = 0; round < kRounds; ++round) {
    const Poses left = any_poses(chance), right = any_poses(chance);
    for (const batch::Kernel& kernel : batch::kernels()) {
      Poses product = right;
      kernel.compose(left, product);
      for (std::size_t i = 0; i < kBlock; ++i)
        CHECK(difference(pose_at(product, i), pose_at(left, i) * pose_at(right, i)) < 10 * kRounding);
    }
  }
}

TEST(batch_kernels_interpolate, "every kernel interpolates as single poses are interpolated") {
  std::mt19937_64 chance(2);
  Ends ends = batch::identities();
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const Transform before = any_pose(chance);
      const Transform step{Rotation::exp(nasty_angle(chance) * Vector3{0.6, 0.0, -0.8}), vector(chance, 1.0)};
      put_pose(ends.before, i, before);
      put_pose(ends.after, i, before * step);
      ends.u[i] = chance() % 4 == 0 ? static_cast<double>(chance() % 2) : std::uniform_real_distribution<>(0.0, 1.0)(chance);
    }
    batch::set_cosines(ends);
    for (const batch::Kernel& kernel : batch::kernels()) {
      Poses out;
      kernel.interpolate(ends, out);
      for (std::size_t i = 0; i < kBlock; ++i) {
        const Transform expected = interpolate_linear(pose_at(ends.before, i), pose_at(ends.after, i), ends.u[i]);
        CHECK(difference(pose_at(out, i), expected) < 100 * kRounding);
      }
    }
  }
}
