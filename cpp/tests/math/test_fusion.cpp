// The best estimate from a graph of uncertain poses.

#include "armillary/math/fusion.hpp"
#include "armillary/math/fusion_vectors.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

Covariance diagonal(double m2, double rad2) {
  Covariance covariance;
  for (int i = 0; i < 6; ++i) covariance.at(i, i) = i < 3 ? m2 : rad2;
  return covariance;
}

Transform placed(const Vector3& xyz, const Vector3& rpy = {}) { return {Rotation::from_rpy(rpy), xyz}; }

bool near(double a, double b, double close = 1e-9) { return std::abs(a - b) < close; }

bool near(const Vector3& a, const Vector3& b, double close = 1e-9) { return norm(a - b) < close; }

/// A robot that knows roughly where it is, and whose two bolted cameras see a cup.
std::vector<FusionEdge> cameras(const Transform& apart, const Covariance& sightings) {
  std::vector<FusionEdge> edges;
  edges.push_back({.from = 0, .to = 1, .value = placed({3, 4, 0}, {0, 0, 0.7}), .covariance = diagonal(0.0025, 0.0004)});
  for (const std::uint32_t k : {0u, 1u}) {
    const Transform mount = placed({0.2, k == 0 ? 0.1 : -0.1, 1}, {0, 0.4, 0});
    edges.push_back({.from = 1, .to = 2 + k, .value = mount});
    const Transform seen = mount.inverse() * placed({0.8, 0, 0.7}) * (k == 0 ? Transform{} : apart);
    edges.push_back({.from = 2 + k, .to = 4, .value = seen, .covariance = sightings});
  }
  return edges;
}

}  // namespace

TEST(fusing_two_equally_sure_edges_is_their_middle, "fusing two equally sure edges is their middle") {
  const std::vector<FusionEdge> edges{{.from = 0, .to = 1, .value = placed({1, 0, 0}), .covariance = diagonal(0.01, 0.01)},
                                      {.from = 0, .to = 1, .value = placed({2, 0, 0}), .covariance = diagonal(0.01, 0.01)}};
  const Fusion fused = fuse(edges, 0, 1);
  CHECK(near(fused.value.translation, {1.5, 0, 0}));
  CHECK(near(fused.covariance.at(0, 0), 0.005));
  CHECK(fused.contradiction == 0.0);
}

TEST(fusing_exact_contradictions_is_their_mean_with_the_spread, "fusing exact contradictions is their mean with the spread") {
  const Fusion fused = fuse(cameras(placed({0.01, 0.02, 0.005}), {}), 0, 4);
  CHECK(near(fused.value.translation, {3.6092557839, 4.5262436601, 0.7025}));
  CHECK(near(fused.covariance.at(0, 0), 0.0027224425) && near(fused.covariance.at(5, 5), 0.0004));
  CHECK(near(fused.contradiction, 0.01));
  CHECK(fused.residuals.size() == 2);
}

TEST(fusing_the_other_way_round_is_the_inverse, "fusing the other way round is the inverse") {
  const std::vector<FusionEdge> edges = cameras(placed({0.01, 0.02, 0.005}, {0, 0, 0.02}), diagonal(1e-4, 2e-4));
  const Transform there = fuse(edges, 0, 4).value, back = fuse(edges, 4, 0).value;
  const Tangent apart = (there * back).log();
  CHECK(near(apart.translation, {}, 1e-12) && near(apart.rotation, {}, 1e-12));
}

TEST(fusing_planes_that_meet_far_away_stays_near_them, "fusing planes that meet far away stays near them") {
  Covariance plane = diagonal(0.01, 0.01);
  plane.at(2, 2) = 0.0;
  const std::vector<FusionEdge> edges{{.from = 0, .to = 1, .value = {}, .covariance = plane},
                                      {.from = 0, .to = 1, .value = placed({0, 0, 0.01}, {0, 1e-6, 0}), .covariance = plane}};
  const Fusion fused = fuse(edges, 0, 1);
  CHECK(fused.quality == FusionQuality::relaxed);
  CHECK(near(fused.value.translation, {0, 0, 0.005}, 1e-6));
  CHECK(near(fused.covariance.at(2, 2), 5e-5, 1e-9));
}

TEST(fusing_an_error_that_two_chains_share_learns_nothing_of_it, "fusing an error that two chains share learns nothing of it") {
  std::vector<FusionEdge> edges;
  for (int k = 0; k < 2; ++k)
    edges.push_back({.from = 0, .to = 1, .value = placed({1, 0, 0}), .shared = {{7, {0.1, 0, 0, 0, 0, 0}}}});
  CHECK(near(fuse(edges, 0, 1).covariance.at(0, 0), 0.01));
  edges[1].shared.clear();
  edges[1].covariance = diagonal(0.01, 0.01);
  CHECK(near(fuse(edges, 0, 1).covariance.at(0, 0), 0.005));
}

TEST(fusing_with_an_unknown_correlation_does_not_grow_surer, "fusing with an unknown correlation does not grow surer") {
  std::vector<FusionEdge> edges;
  for (std::uint32_t k = 0; k < 2; ++k)
    edges.push_back(
        {.from = 0, .to = 1, .value = placed({1, 0, 0}), .covariance = diagonal(0.01, 0.01), .cluster = 0, .group = k});
  CHECK(near(fuse(edges, 0, 1).covariance.at(0, 0), 0.01));
}

TEST(fusing_by_a_plan_is_fusing, "fusing by a plan is fusing") {
  const std::vector<FusionEdge> some = cameras(placed({0.01, 0, 0}), diagonal(1e-4, 1e-4));
  const std::vector<FusionEdge> others = cameras(placed({0.03, 0, 0}), diagonal(2e-4, 1e-4));
  const FusionPlan plan(some, 0, 4);
  CHECK(plan.fuse(others).value == fuse(others, 0, 4).value);
  CHECK(plan.fuse(others, {.want_covariance = false}).value == fuse(others, 0, 4).value);
  CHECK((plan.compared() == std::vector<bool>{false, true, true, true, true}));
}

TEST(fusing_vectors_weighs_by_information, "fusing vectors weighs by information") {
  const std::vector<VectorEstimate> given{{{1, 0, 0, 0, 0, 0}, diagonal(0.01, 0.01)}, {{2, 0, 0, 0, 0, 0}, diagonal(0.04, 0.01)}};
  CHECK(near(fuse_vectors(given, false).value[0], 1.2));
  CHECK(near(fuse_vectors(given, false).covariance.at(0, 0), 0.008));
  CHECK(fuse_vectors(given, true).covariance.at(0, 0) >= 0.01 - 1e-9);
}
