#include <numbers>

#include "armillary/math/uncertain.hpp"
#include "worlds.hpp"

using namespace armillary;

namespace {

constexpr double kPi = std::numbers::pi;

std::vector<Tangent> nasty_tangents() {
  const double angles[] = {0.0, 1e-12, 1e-9, 1e-4, 0.0999, 0.1001, 0.7, kPi / 2, 3.0, kPi - 1e-7, kPi};
  const Vector3 axes[] = {{1, 0, 0}, {0.6, 0.0, -0.8}, {-0.48, 0.6, 0.64}};
  const Vector3 ways[] = {{0, 0, 0}, {1e-9, 0, 0}, {1, -2, 3}, {-0.48, 0.6, 0.64}, {1e4, 1e-4, -7}};
  std::vector<Tangent> all;
  for (const double angle : angles)
    for (const Vector3& axis : axes)
      for (const Vector3& way : ways) all.push_back({way, angle * axis});
  return all;
}

std::vector<Transform> nasty_poses() {
  std::vector<Transform> all;
  for (const Tangent& t : nasty_tangents()) all.push_back({Rotation::exp(t.rotation), t.translation});
  return all;
}

bool same(const Transform& a, const Transform& b, double tolerance = 1e-13, double lever = 0.0) {
  const double scale = 1.0 + norm(a.translation) + lever;
  return norm(a.translation - b.translation) <= tolerance * scale && a.rotation.angle_to(b.rotation) <= tolerance;
}

using Matrix = std::array<long double, 16>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
  return c;
}

/// exp of a 4x4 by its series and squaring, in long double: knows nothing of rotations.
Matrix matrix_exp(const Tangent& t) {
  const long double s = 1.0L / 1024.0L;
  const auto& [v, w] = t;
  const Matrix m{0, -w.z * s, w.y * s, v.x * s, w.z * s, 0, -w.x * s, v.y * s, -w.y * s, w.x * s, 0, v.z * s, 0, 0, 0, 0};
  Matrix sum{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, term = sum;
  for (int n = 1; n < 16; ++n) {
    term = product(term, m);
    for (std::size_t i = 0; i < 16; ++i) {
      term[i] /= n;
      sum[i] += term[i];
    }
  }
  for (int squared = 0; squared < 10; ++squared) sum = product(sum, sum);
  return sum;
}

std::array<double, 6> listed(const Tangent& t) {
  return {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y, t.rotation.z};
}

Tangent times(const std::array<double, 36>& m, const Tangent& t) {
  const std::array<double, 6> v = listed(t);
  std::array<double, 6> r{};
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) r[i] += m[6 * i + j] * v[j];
  return {{r[0], r[1], r[2]}, {r[3], r[4], r[5]}};
}

}  // namespace

TEST(transform_group, "transforms are a group: identity, inverse, association") {
  const std::vector<Transform> all = nasty_poses();
  for (const Transform& a : all) {
    CHECK(same(a * Transform{}, a) && same(Transform{} * a, a));
    CHECK(same(a * a.inverse(), {}, 1e-11) && same(a.inverse() * a, {}, 1e-11));
    for (std::size_t i = 0; i < all.size(); i += 31)
      for (std::size_t j = 5; j < all.size(); j += 37) CHECK(same((a * all[i]) * all[j], a * (all[i] * all[j])));
  }
}

TEST(transform_between, "`between` is the inverse times the other") {
  const std::vector<Transform> all = nasty_poses();
  for (const Transform& a : all)
    for (std::size_t i = 0; i < all.size(); i += 13) CHECK(same(between(a, all[i]), a.inverse() * all[i], 1e-12));
}

TEST(transform_points, "a chain maps points like its links one after the other") {
  const Vector3 p{0.3, -2.0, 5.0};
  const std::vector<Transform> all = nasty_poses();
  for (const Transform& a : all)
    for (std::size_t i = 0; i < all.size(); i += 13)
      CHECK(norm((a * all[i]) * p - a * (all[i] * p)) <= 1e-13 * (10.0 + norm(a.translation) + norm(all[i].translation)));
}

TEST(transform_exp_oracle, "the exponential agrees with the series of the 4x4 matrix") {
  for (const Tangent& t : nasty_tangents()) {
    const Matrix4 mine = Transform::exp(t).matrix();
    const Matrix truth = matrix_exp(t);
    const double scale = 1.0 + norm(t.translation);
    for (std::size_t i = 0; i < 16; ++i) CHECK_CLOSE(mine[i], static_cast<double>(truth[i]), 2e-14 * scale);
  }
}

TEST(transform_exp_log, "the logarithm undoes the exponential up to half a turn") {
  for (const Tangent& t : nasty_tangents()) {
    if (norm(t.rotation) > kPi - 1e-8) continue;  // two logarithms are right
    const auto back = listed(Transform::exp(t).log()), given = listed(t);
    for (std::size_t i = 0; i < 6; ++i) CHECK_CLOSE(back[i], given[i], 3e-14 * (1.0 + norm(t.translation)));
  }
}

TEST(transform_log_exp, "the exponential undoes the logarithm everywhere") {
  for (const Transform& pose : nasty_poses()) CHECK(same(Transform::exp(pose.log()), pose, 1e-13));
}

TEST(transform_adjoint, "the adjoint moves a tangent from the right of a pose to its left") {
  const Tangent small{{0.1, -0.2, 0.05}, {0.02, 0.1, -0.3}};
  for (const Transform& pose : nasty_poses()) {
    if (norm(pose.translation) > 100.0) continue;
    CHECK(same(pose * Transform::exp(small), Transform::exp(times(adjoint(pose), small)) * pose, 1e-12));
  }
}

TEST(interpolate_ends, "both interpolations give their ends exactly") {
  const std::vector<Transform> all = nasty_poses();
  for (const Transform& a : all)
    for (std::size_t i = 0; i < all.size(); i += 7)
      for (const Interpolation kind : {Interpolation::linear, Interpolation::screw}) {
        CHECK(same(interpolate(a, all[i], 0.0, kind), a, 1e-14));
        CHECK(same(interpolate(a, all[i], 1.0, kind), all[i], 1e-13, norm(a.translation)));
      }
}

TEST(interpolate_linear_middle, "linear interpolation halves way and turn independently") {
  const Transform a{Rotation::exp({0, 0, 0.2}), {1, 2, 3}}, b{Rotation::exp({0, 0, 1.0}), {3, 2, 7}};
  const Transform middle = interpolate(a, b, 0.5, Interpolation::linear);
  CHECK(same(middle, {Rotation::exp({0, 0, 0.6}), {2, 2, 5}}, 1e-15));
}

TEST(interpolate_screw_middle, "screw interpolation walks the arc") {
  const Transform a{{}, {1, 0, 0}}, b{Rotation::exp({0, 0, kPi / 2}), {0, 1, 0}};
  const Transform middle = interpolate(a, b, 0.5, Interpolation::screw);
  const double half = std::sqrt(0.5);
  CHECK(same(middle, {Rotation::exp({0, 0, kPi / 4}), {half, half, 0}}, 1e-15));
}

TEST(interpolate_screw_invariant, "screw interpolation does not care in which frame it is done") {
  const Transform g{Rotation::exp({0.5, -1.0, 0.3}), {4, -5, 6}};
  const Transform a{Rotation::exp({0.1, 0.2, 0.3}), {1, 2, 3}}, b{Rotation::exp({-0.4, 1.0, 0.8}), {3, 2, 7}};
  for (const double u : {0.1, 0.5, 0.9})
    CHECK(same(interpolate(g * a, g * b, u, Interpolation::screw), g * interpolate(a, b, u, Interpolation::screw), 1e-14));
}

TEST(transform_chain, "a thousand links forth and back stay unit and lead home") {
  const Transform link{Rotation::exp({0.3, -0.2, 0.1}), {0.1, 0.2, -0.3}};
  Transform there, back;
  for (int i = 0; i < 1000; ++i) {
    there = there * link;
    back = link.inverse() * back;
  }
  CHECK_CLOSE(there.rotation.squared_norm(), 1.0, 1e-12);
  CHECK(same(back * there, {}, 1e-10));
}
