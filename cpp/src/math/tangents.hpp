#pragma once

// Tangents of SE(3) as six numbers, and their products with 6x6 matrices in blocks.

#include "armillary/math/transform.hpp"
#include "math/factors.hpp"
#include "math/upper6.hpp"

namespace armillary {

[[nodiscard]] inline Vector6 values_of(const Tangent& t) {
  return {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y, t.rotation.z};
}
[[nodiscard]] inline Tangent tangent_of(const Vector6& v) { return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}; }

[[nodiscard]] inline Tangent operator+(const Tangent& a, const Tangent& b) {
  return {a.translation + b.translation, a.rotation + b.rotation};
}
[[nodiscard]] inline Tangent operator-(const Tangent& a, const Tangent& b) {
  return {a.translation - b.translation, a.rotation - b.rotation};
}

[[nodiscard]] inline Vector3 product(const Matrix3& m, const Vector3& v) {
  return {m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z, m[6] * v.x + m[7] * v.y + m[8] * v.z};
}
[[nodiscard]] inline Vector3 product_of_transposed(const Matrix3& m, const Vector3& v) {
  return {m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z, m[2] * v.x + m[5] * v.y + m[8] * v.z};
}
[[nodiscard]] inline Tangent product(const Upper6& m, const Tangent& v) {
  return {product(m.tt, v.translation) + product(m.tr, v.rotation), product(m.rr, v.rotation)};
}
[[nodiscard]] inline Tangent product_of_transposed(const Upper6& m, const Tangent& v) {
  return {product_of_transposed(m.tt, v.translation),
          product_of_transposed(m.tr, v.translation) + product_of_transposed(m.rr, v.rotation)};
}
[[nodiscard]] inline Tangent product(const Symmetric6& m, const Tangent& v) {
  return {product(m.tt, v.translation) + product(m.tr, v.rotation),
          product_of_transposed(m.tr, v.translation) + product(m.rr, v.rotation)};
}

/// a b, of which b has no lower left block.
[[nodiscard]] inline Matrix6 product(const Matrix6& a, const Upper6& b) {
  Matrix6 result;
  for (std::size_t i = 0; i < 6; ++i) {
    const double* row = a.data() + 6 * i;
    for (std::size_t j = 0; j < 3; ++j) {
      result[6 * i + j] = row[0] * b.tt[j] + row[1] * b.tt[3 + j] + row[2] * b.tt[6 + j];
      result[6 * i + j + 3] = row[0] * b.tr[j] + row[1] * b.tr[3 + j] + row[2] * b.tr[6 + j] + row[3] * b.rr[j] +
                              row[4] * b.rr[3 + j] + row[5] * b.rr[6 + j];
    }
  }
  return result;
}

/// c c^T.
[[nodiscard]] inline Symmetric6 square_of(const Matrix6& c) {
  Covariance square;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = i; j < 6; ++j) {
      double total = 0.0;
      for (std::size_t k = 0; k < 6; ++k) total += c[6 * i + k] * c[6 * j + k];
      square.values[6 * i + j] = square.values[6 * j + i] = total;
    }
  return Symmetric6::of(square);
}

[[nodiscard]] inline double trace_of(const Symmetric6& s) { return s.tt[0] + s.tt[4] + s.tt[8] + s.rr[0] + s.rr[4] + s.rr[8]; }

}  // namespace armillary
