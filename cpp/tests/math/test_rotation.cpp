#include <numbers>
#include <random>

#include "worlds.hpp"

using namespace armillary;

namespace {

constexpr double kPi = std::numbers::pi;

/// Angles where a formula changes or is delicate, about axes that are easy and not.
std::vector<Vector3> nasty_angle_axes() {
  const double angles[] = {0.0, 1e-300, 1e-12, 1e-9, 1e-4, 1.9e-3, 2.1e-3, 0.1, 0.5, kPi / 2, 2.0, kPi - 1e-4, kPi - 1e-9, kPi};
  const Vector3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.6, 0.0, -0.8}, {-0.48, 0.6, 0.64}};
  std::vector<Vector3> all;
  for (const double angle : angles)
    for (const Vector3& axis : axes) all.push_back(angle * axis);
  return all;
}

std::vector<Rotation> nasty_rotations() {
  std::vector<Rotation> all;
  for (const Vector3& v : nasty_angle_axes()) all.push_back(Rotation::exp(v));
  return all;
}

bool same(const Rotation& a, const Rotation& b, double tolerance = 1e-14) { return a.angle_to(b) <= tolerance; }

Vector3 times(const Matrix3& m, const Vector3& p) {
  return {m[0] * p.x + m[1] * p.y + m[2] * p.z, m[3] * p.x + m[4] * p.y + m[5] * p.z, m[6] * p.x + m[7] * p.y + m[8] * p.z};
}

double determinant(const Matrix3& m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

}  // namespace

TEST(rotation_group, "rotations are a group: identity, inverse, association") {
  const std::vector<Rotation> all = nasty_rotations();
  for (const Rotation& a : all) {
    CHECK(same(a * Rotation{}, a) && same(Rotation{} * a, a));
    CHECK(same(a * a.inverse(), Rotation{}) && same(a.inverse() * a, Rotation{}));
    CHECK_CLOSE(a.squared_norm(), 1.0, 1e-14);
    for (std::size_t i = 0; i < all.size(); i += 7)
      for (std::size_t j = 3; j < all.size(); j += 11) CHECK(same((a * all[i]) * all[j], a * (all[i] * all[j])));
  }
}

TEST(rotation_exp_log, "the logarithm undoes the exponential up to half a turn") {
  for (const Vector3& v : nasty_angle_axes()) {
    const Vector3 back = Rotation::exp(v).log();
    const bool is_half_turn = norm(v) > kPi - 1e-8;  // both axes are right
    const double off = std::min(norm(back - v), is_half_turn ? norm(back + v) : 1.0);
    CHECK_CLOSE(off, 0.0, 1e-14 + 4e-16 * norm(v));
  }
}

TEST(rotation_tiny, "tiny angles keep their relative precision") {
  for (const double angle : {1e-300, 1e-100, 1e-12, 1e-9}) {
    const Vector3 back = Rotation::exp({0.0, angle, 0.0}).log();
    CHECK_CLOSE(back.y / angle, 1.0, 1e-15);
  }
}

TEST(rotation_beyond, "angles beyond half a turn come back the short way") {
  for (const double angle : {kPi + 0.1, 2 * kPi - 1e-3, 2 * kPi, 3.5 * kPi}) {
    const Vector3 back = Rotation::exp({0.0, 0.0, angle}).log();
    CHECK(norm(back) <= kPi + 1e-15);
    CHECK_CLOSE(back.z, std::remainder(angle, 2 * kPi), 2e-15 * angle);
  }
}

TEST(rotation_double_cover, "q and -q are the same rotation") {
  for (const Rotation& q : nasty_rotations()) {
    const Rotation other{-q.w, -q.x, -q.y, -q.z};
    CHECK(same(q, other));
    CHECK_CLOSE(norm(q * Vector3{1, 2, 3} - other * Vector3{1, 2, 3}), 0.0, 1e-15);
    CHECK(std::abs(norm(q.log()) - norm(other.log())) < 1e-14);
  }
}

TEST(rotation_matrix, "matrices are orthonormal, turn vectors alike and lead back") {
  const Vector3 p{0.3, -2.0, 5.0};
  for (const Rotation& q : nasty_rotations()) {
    const Matrix3 m = q.matrix();
    CHECK_CLOSE(determinant(m), 1.0, 1e-14);
    CHECK_CLOSE(norm(times(m, p) - q * p), 0.0, 1e-14);
    CHECK_CLOSE(norm(q * p), norm(p), 1e-14);
    CHECK(same(Rotation::from_matrix(m), q, 3e-15));
  }
}

TEST(rotation_matrix_noise, "a matrix with small errors gives a unit quaternion close to it") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> noise(-1e-6, 1e-6);
  for (const Rotation& q : nasty_rotations()) {
    Matrix3 m = q.matrix();
    for (double& value : m) value += noise(random);
    CHECK_CLOSE(Rotation::from_matrix(m).squared_norm(), 1.0, 1e-14);
    CHECK(same(Rotation::from_matrix(m), q, 5e-6));
  }
}

TEST(rotation_rpy, "roll, pitch and yaw lead back to the rotation, also at the poles") {
  const double pole = kPi / 2;
  for (const double roll : {-3.0, 0.0, 1e-9, 0.7})
    for (const double pitch :
         {-pole, -pole + 1e-7, -pole + 1e-3, -1.0, 0.0, 1e-9, 1.2, pole - 1e-3, pole - 1e-6, pole - 1e-9, pole})
      for (const double yaw : {-kPi + 1e-9, -2.0, 0.0, 1e-9, 3.0}) {
        const Rotation q = Rotation::from_rpy({roll, pitch, yaw});
        CHECK_CLOSE(q.angle_to(Rotation::from_rpy(q.rpy())), 0.0, 1e-8);
      }
}

TEST(rotation_rpy_order, "roll turns first, then pitch, then yaw") {
  const Rotation turned = Rotation::exp({0, 0, 0.3}) * Rotation::exp({0, 0.2, 0}) * Rotation::exp({0.1, 0, 0});
  CHECK(same(turned, Rotation::from_rpy({0.1, 0.2, 0.3})));
  const Vector3 rpy = turned.rpy();
  CHECK_CLOSE(rpy.x, 0.1, 1e-15);
  CHECK_CLOSE(rpy.y, 0.2, 1e-15);
  CHECK_CLOSE(rpy.z, 0.3, 1e-15);
}

TEST(rotation_angle, "the angle between rotations is symmetric and of the short way") {
  const std::vector<Rotation> all = nasty_rotations();
  for (const Rotation& a : all)
    for (std::size_t i = 0; i < all.size(); i += 5) {
      const double angle = a.angle_to(all[i]);
      CHECK(angle >= 0.0 && angle <= kPi + 1e-15);
      CHECK_CLOSE(angle, all[i].angle_to(a), 1e-15);
    }
}

TEST(slerp_ends, "slerp gives its ends exactly") {
  const std::vector<Rotation> all = nasty_rotations();
  for (const Rotation& a : all)
    for (const Rotation& b : all) {
      CHECK(same(slerp(a, b, 0.0), a, 1e-15));
      CHECK(same(slerp(a, b, 1.0), b, 1e-15));
    }
}

TEST(slerp_oracle, "slerp turns evenly: it agrees with the exponential of a share of the angle") {
  for (const double angle : {0.0, 1e-9, 1e-3, 0.0631, 0.0634, 0.28, 0.2835, 0.5, 2.0, 3.0, kPi - 1e-6})
    for (const double u : {0.0, 1e-9, 0.1, 0.5, 0.77, 1.0 - 1e-9, 1.0}) {
      const Vector3 axis{-0.48, 0.6, 0.64};
      const Rotation start = Rotation::exp({0.3, -1.0, 2.0});
      const Rotation middle = slerp(start, start * Rotation::exp(angle * axis), u);
      CHECK(same(middle, start * Rotation::exp(u * angle * axis), 1e-14));
      CHECK_CLOSE(middle.squared_norm(), 1.0, 2e-15);
    }
}

TEST(slerp_short, "slerp takes the short way, whichever sign the quaternions have") {
  for (const double angle : {1e-6, 1e-3, 0.05, 0.2, 1.0, 3.0}) {
    const Rotation a = Rotation::exp({0, 0, 0.2}), b = Rotation::exp({0, 0, 0.2 + angle});
    const Rotation b_negative{-b.w, -b.x, -b.y, -b.z};
    CHECK(same(slerp(a, b_negative, 0.25), Rotation::exp({0, 0, 0.2 + 0.25 * angle}), 1e-14));
    CHECK(same(slerp(a, b, 0.25), slerp(a, b_negative, 0.25), 1e-15));
  }
  CHECK(same(slerp(Rotation::exp({0, 0, 3.0}), Rotation::exp({0, 0, -3.0}), 0.5), Rotation::exp({0, 0, kPi}), 1e-14));
}

TEST(slerp_half_turn, "between opposite orientations slerp takes one of the two ways evenly") {
  const Rotation middle = slerp(Rotation{}, Rotation::exp({0, 0, kPi}), 0.5);
  CHECK_CLOSE(middle.angle_to({}), kPi / 2, 1e-14);
  CHECK_CLOSE(middle.squared_norm(), 1.0, 1e-15);
}
