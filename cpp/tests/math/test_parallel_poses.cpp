// Poses between the same two frames: their estimate, and where another way is to be taken.

#include <random>

#include "armillary/math/fusion.hpp"
#include "check.hpp"
#include "math/fusion_floor.hpp"
#include "math/parallel_poses.hpp"

using namespace armillary;

namespace {

Covariance random_covariance(std::mt19937& random, double size) {
  std::normal_distribution<double> normal;
  std::array<double, 36> factor;
  for (double& value : factor) value = normal(random);
  Covariance covariance;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      double sum = i == j ? 0.5 : 0.0;
      for (std::size_t k = 0; k < 6; ++k) sum += factor[6 * i + k] * factor[6 * j + k];
      covariance.values[6 * i + j] = size * sum;
    }
  return covariance;
}

Tangent random_tangent(std::mt19937& random, double size) {
  std::normal_distribution<double> normal(0.0, size);
  return {{normal(random), normal(random), normal(random)}, {normal(random), normal(random), normal(random)}};
}

double apart(const Transform& a, const Transform& b) {
  const Tangent difference = between(a, b).log();
  return std::max(norm(difference.translation), norm(difference.rotation));
}

}  // namespace

TEST(parallel_poses_are_fused_as_by_orthogonal_transformations, "parallel poses are fused as by orthogonal transformations") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const double size = std::pow(10.0, -2.0 - round % 5);
    const Transform truth = Transform::exp(random_tangent(random, 1.0));
    std::vector<FusionEdge> edges;
    std::vector<ParallelPose> poses;
    for (int k = 0; k < 2 + round % 3; ++k) {
      const Covariance covariance = random_covariance(random, size);
      const Transform seen = truth * Transform::exp(random_tangent(random, std::sqrt(size)));
      edges.push_back({.from = 0, .to = 1, .value = seen, .covariance = covariance});
      poses.push_back(*ParallelPose::of(seen, covariance));
    }
    const std::optional<ParallelEstimate> found = fuse_parallel(poses, true);
    // Who wants the effects of single errors gets them by the general way.
    const Fusion general = fuse(edges, 0, 1, {.want_effects = true});
    CHECK(found.has_value() && apart(found->value, general.value) < 1e-9);
    const Covariance floored = with_floor(found->covariance, found->value).covariance();
    for (std::size_t i = 0; i < 36; ++i) CHECK(std::abs(floored.values[i] - general.covariance.values[i]) < 1e-6 * size);
  }
}

TEST(parallel_poses_with_an_exact_direction_are_not_taken, "parallel poses with an exact direction are not taken") {
  std::mt19937 random(2);
  Covariance flat = random_covariance(random, 1e-4);
  for (std::size_t i = 0; i < 6; ++i) flat.values[12 + i] = flat.values[6 * i + 2] = 0.0;
  CHECK(!ParallelPose::of({}, flat));
  CHECK(!ParallelPose::of({}, Covariance{}));
}

TEST(a_floor_lifts_what_is_nearly_exact_alone, "a floor lifts what is nearly exact alone") {
  std::mt19937 random(3);
  const Covariance usual = random_covariance(random, 1e-4);
  CHECK(with_floor(Symmetric6::of(usual), {}).covariance().values == usual.values);
  Covariance thin;
  for (std::size_t i = 0; i < 6; ++i) thin.values[7 * i] = i == 2 ? 1e-20 : 1e-4;
  const Covariance lifted = with_floor(Symmetric6::of(thin), {}).covariance();
  CHECK(lifted.at(2, 2) > 1e-18 && lifted.at(2, 2) < 1e-8);
  CHECK(std::abs(lifted.at(0, 0) - 1e-4) < 1e-12);
  CHECK(with_floor({}, {}).covariance().values == Covariance{}.values);
}
