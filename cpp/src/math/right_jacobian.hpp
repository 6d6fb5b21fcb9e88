#pragma once

// The right Jacobian of SE(3) and its inverse.

#include <array>
#include <cmath>

#include "math/upper6.hpp"

namespace armillary {

namespace jacobians {

/// Coefficients of Jr = I - first [v]x + second [v]x^2 and their derivatives, given the square of the angle.
struct JacobianTerms {
  double first, second, first_slope, second_slope;
};

[[nodiscard]] inline JacobianTerms jacobian_terms(double square) {
  if (square < 0.25) {
    // Taylor series of (1 - cos a) / a^2, (a - sin a) / a^3 and of their derivatives by a^2.
    constexpr int kTerms = 8;
    JacobianTerms sum{};
    double power = 1.0, factorial = 2.0, slope_power = 1.0;
    for (int k = 0; k < kTerms; ++k) {
      const double sign = k % 2 == 0 ? 1.0 : -1.0;
      const double next = factorial * (2 * k + 3);  // (2k + 3)!
      sum.first += sign * power / factorial;
      sum.second += sign * power / next;
      if (k > 0) {
        sum.first_slope += sign * k * slope_power / factorial;
        sum.second_slope += sign * k * slope_power / next;
        slope_power *= square;
      }
      power *= square;
      factorial = next * (2 * k + 4);
    }
    return sum;
  }
  const double angle = std::sqrt(square), half = std::sin(0.5 * angle);
  const double sine = std::sin(angle) / angle;
  const double first = 2.0 * half * half / square, second = (1.0 - sine) / square;
  return {first, second, (sine - 2.0 * first) / (2.0 * square), (first - 3.0 * second) / (2.0 * square)};
}

[[nodiscard]] inline Matrix3 outer_minus(const Vector3& a, const Vector3& b, double diagonal) {
  return {a.x * b.x - diagonal, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y - diagonal, a.y * b.z, a.z * b.x, a.z * b.y,
          a.z * b.z - diagonal};
}

[[nodiscard]] inline Matrix3 inverse_of(const Matrix3& m) {
  const double a = m[4] * m[8] - m[5] * m[7], b = m[5] * m[6] - m[3] * m[8], c = m[3] * m[7] - m[4] * m[6];
  const double scale = 1.0 / (m[0] * a + m[1] * b + m[2] * c);
  return {scale * a, scale * (m[2] * m[7] - m[1] * m[8]), scale * (m[1] * m[5] - m[2] * m[4]),
          scale * b, scale * (m[0] * m[8] - m[2] * m[6]), scale * (m[2] * m[3] - m[0] * m[5]),
          scale * c, scale * (m[1] * m[6] - m[0] * m[7]), scale * (m[0] * m[4] - m[1] * m[3])};
}

}  // namespace jacobians

/// Jr: how an error on the right of Exp(v) follows from one of v.
[[nodiscard]] inline Upper6 right_jacobian(const Tangent& v) {
  using namespace jacobians;
  const auto& [p, w] = v;
  const JacobianTerms c = jacobian_terms(dot(w, w));
  const double turn = 2.0 * dot(w, p);  // the dual part of the squared angle
  const Matrix3 cross_w = cross_matrix(w), cross_p = cross_matrix(p);
  const Matrix3 square_w = outer_minus(w, w, dot(w, w));
  const Matrix3 square_p = sum(outer_minus(p, w, dot(p, w)), outer_minus(w, p, dot(p, w)));
  const Matrix3 rotation = sum(kIdentity3, sum(scaled(-c.first, cross_w), scaled(c.second, square_w)));
  const Matrix3 mixed = sum(sum(scaled(-c.first, cross_p), scaled(c.second, square_p)),
                            sum(scaled(-c.first_slope * turn, cross_w), scaled(c.second_slope * turn, square_w)));
  return {rotation, mixed, rotation};
}

[[nodiscard]] inline Upper6 inverse_right_jacobian(const Tangent& v) {
  using namespace jacobians;
  const auto& [p, w] = v;
  if (const double square = dot(w, w); square < 0.25) {
    // I + [v]x / 2 + k [v]x^2 with k = (1 - a/2 cot(a/2)) / a^2, a series in a^2.
    constexpr std::array<double, 8> kTerms{1.0 / 12.0,          1.0 / 720.0,
                                           1.0 / 30240.0,       1.0 / 1209600.0,
                                           1.0 / 47900160.0,    691.0 / 1307674368000.0,
                                           1.0 / 74724249600.0, 3617.0 / 10670622842880000.0};
    double k = 0.0, slope = 0.0;
    for (std::size_t i = kTerms.size(); i-- > 0;) {
      slope = slope * square + k;
      k = k * square + kTerms[i];
    }
    const double turn = 2.0 * dot(w, p);
    const Matrix3 square_w = outer_minus(w, w, square);
    const Matrix3 square_p = sum(outer_minus(p, w, 0.5 * turn), outer_minus(w, p, 0.5 * turn));
    const Matrix3 rotation = sum(kIdentity3, sum(scaled(0.5, cross_matrix(w)), scaled(k, square_w)));
    const Matrix3 mixed = sum(scaled(0.5, cross_matrix(p)), sum(scaled(k, square_p), scaled(slope * turn, square_w)));
    return {rotation, mixed, rotation};
  }
  const Upper6 jacobian = right_jacobian(v);
  const Matrix3 inverse = inverse_of(jacobian.rr);
  return {inverse, scaled(-1.0, product(product(inverse, jacobian.tr), inverse)), inverse};
}

}  // namespace armillary
