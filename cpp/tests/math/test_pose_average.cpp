// The mean of poses: exact examples, outliers, and what moves it.

#include <random>

#include "armillary/math/pose_average.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

Covariance diagonal(double m2, double rad2) {
  Covariance covariance;
  for (int i = 0; i < 6; ++i) covariance.at(i, i) = i < 3 ? m2 : rad2;
  return covariance;
}

double apart(const Transform& a, const Transform& b) {
  const Tangent difference = between(a, b).log();
  return std::max(norm(difference.translation), norm(difference.rotation));
}

std::vector<Transform> around(const Transform& truth, std::size_t count, double size) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.0, size);
  std::vector<Transform> poses;
  for (std::size_t k = 0; k < count; ++k) {
    const Vector3 t{normal(random), normal(random), normal(random)}, r{normal(random), normal(random), normal(random)};
    poses.push_back(truth * Transform::exp({t, r}));
  }
  return poses;
}

const Transform kTruth = Transform::exp({{1, 2, 3}, {0.4, -0.2, 0.9}});

}  // namespace

TEST(the_mean_of_one_pose_is_that_pose, "the mean of one pose is that pose") {
  const std::vector<Transform> poses{kTruth};
  const std::vector<Covariance> covariances{diagonal(0.01, 0.02)};
  const PoseAverage found = average_poses(poses, covariances);
  CHECK(apart(found.mean, kTruth) < 1e-12);
  CHECK(std::abs(found.inverse_information[0] - 0.01) < 1e-12 && std::abs(found.inverse_information[35] - 0.02) < 1e-12);
  CHECK(apart(average_poses(poses, {}).mean, kTruth) < 1e-12);
}

TEST(the_mean_of_many_is_as_much_surer, "the mean of many is as much surer") {
  const std::vector<Transform> poses = around(kTruth, 100, 0.01);
  const std::vector<Covariance> covariances(poses.size(), diagonal(1e-4, 1e-4));
  const PoseAverage found = average_poses(poses, covariances);
  CHECK(apart(found.mean, kTruth) < 0.005);
  CHECK(std::abs(found.inverse_information[0] - 1e-6) < 2e-8);
}

TEST(the_mean_leaves_outliers_out, "the mean leaves outliers out") {
  std::vector<Transform> poses = around(kTruth, 30, 0.01);
  const std::vector<Covariance> covariances(poses.size(), diagonal(1e-4, 1e-4));
  const Transform before = average_poses(poses, covariances).mean;
  poses[11] = poses[11] * Transform::exp({{0.5, 0, 0}, {0, 0, 0.4}});
  for (const bool is_known : {true, false}) {
    const PoseAverage found =
        average_poses(poses, is_known ? std::span<const Covariance>(covariances) : std::span<const Covariance>());
    CHECK(!found.parts[11].is_used && found.parts[11].distance > 20.0);
    CHECK(found.parts[11].gain == Matrix6{});
    CHECK(apart(found.mean, before) < 0.005);
  }
}

TEST(the_mean_of_poses_that_are_exact_along_an_axis_is_finite, "the mean of poses that are exact along an axis is finite") {
  const std::vector<Transform> poses = around(kTruth, 3, 0.01);
  std::vector<Covariance> covariances(3, diagonal(1e-4, 1e-4));
  for (int k = 0; k < 3; ++k) covariances[k].at(2 * k, 2 * k) = 0.0;
  const PoseAverage found = average_poses(poses, covariances);
  CHECK(apart(found.mean, kTruth) < 0.1);
  for (const double value : found.inverse_information) CHECK(std::isfinite(value));
}
