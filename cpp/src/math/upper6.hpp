#pragma once

// 6x6 matrices in blocks of (translation, rotation), for errors of which a translation turns nothing.

#include <span>

#include "armillary/math/uncertain.hpp"

namespace armillary {

inline constexpr Matrix3 kIdentity3{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

[[nodiscard]] inline Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 result;
  for (std::size_t i = 0; i < 9; i += 3)
    for (std::size_t j = 0; j < 3; ++j) result[i + j] = a[i] * b[j] + a[i + 1] * b[3 + j] + a[i + 2] * b[6 + j];
  return result;
}

/// a b^T.
[[nodiscard]] inline Matrix3 product_transposed(const Matrix3& a, const Matrix3& b) {
  Matrix3 result;
  for (std::size_t i = 0; i < 9; i += 3)
    for (std::size_t j = 0; j < 3; ++j) result[i + j] = a[i] * b[3 * j] + a[i + 1] * b[3 * j + 1] + a[i + 2] * b[3 * j + 2];
  return result;
}

[[nodiscard]] inline Matrix3 sum(const Matrix3& a, const Matrix3& b) {
  Matrix3 result;
  for (std::size_t i = 0; i < 9; ++i) result[i] = a[i] + b[i];
  return result;
}

[[nodiscard]] inline Matrix3 scaled(double scale, const Matrix3& a) {
  Matrix3 result;
  for (std::size_t i = 0; i < 9; ++i) result[i] = scale * a[i];
  return result;
}

/// [v]x.
[[nodiscard]] inline Matrix3 cross_matrix(const Vector3& v) { return {0.0, -v.z, v.y, v.z, 0.0, -v.x, -v.y, v.x, 0.0}; }

/// [v]x m.
[[nodiscard]] inline Matrix3 crossed(const Vector3& v, const Matrix3& m) {
  Matrix3 result;
  for (std::size_t j = 0; j < 3; ++j) {
    const Vector3 column = cross(v, {m[j], m[3 + j], m[6 + j]});
    result[j] = column.x, result[3 + j] = column.y, result[6 + j] = column.z;
  }
  return result;
}

/// [[tt, tr], [0, rr]].
struct Upper6 {
  Matrix3 tt{}, tr{}, rr{};

  friend bool operator==(const Upper6&, const Upper6&) = default;
  [[nodiscard]] static Upper6 identity() { return {kIdentity3, {}, kIdentity3}; }
};

[[nodiscard]] inline Upper6 sum(const Upper6& a, const Upper6& b) { return {sum(a.tt, b.tt), sum(a.tr, b.tr), sum(a.rr, b.rr)}; }

[[nodiscard]] inline Upper6 product(const Upper6& a, const Upper6& b) {
  return {product(a.tt, b.tt), sum(product(a.tt, b.tr), product(a.tr, b.rr)), product(a.rr, b.rr)};
}

[[nodiscard]] inline Upper6 scaled(double scale, const Upper6& a) {
  return {scaled(scale, a.tt), scaled(scale, a.tr), scaled(scale, a.rr)};
}

/// Ad(T).
[[nodiscard]] inline Upper6 upper_adjoint(const Transform& transform) {
  const Matrix3 rotation = transform.rotation.matrix();
  return {rotation, crossed(transform.translation, rotation), rotation};
}

/// As one matrix.
[[nodiscard]] inline Matrix6 whole(const Upper6& m) {
  Matrix6 result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      result[6 * i + j] = m.tt[3 * i + j];
      result[6 * i + j + 3] = m.tr[3 * i + j];
      result[6 * (i + 3) + j + 3] = m.rr[3 * i + j];
    }
  return result;
}

/// ad(v), with which `ad(v) u` is the bracket of two tangents.
[[nodiscard]] inline Upper6 upper_bracket(const Vector3& translation, const Vector3& rotation) {
  return {cross_matrix(rotation), cross_matrix(translation), cross_matrix(rotation)};
}

/// [[tt, tr], [tr^T, rr]].
struct Symmetric6 {
  Matrix3 tt{}, tr{}, rr{};

  [[nodiscard]] static Symmetric6 unpack(std::span<const double, Covariance::kPacked> p) {
    return {{p[0], p[1], p[2], p[1], p[6], p[7], p[2], p[7], p[11]},
            {p[3], p[4], p[5], p[8], p[9], p[10], p[12], p[13], p[14]},
            {p[15], p[16], p[17], p[16], p[18], p[19], p[17], p[19], p[20]}};
  }
  [[nodiscard]] static Symmetric6 of(const Covariance& covariance) {
    std::array<double, Covariance::kPacked> packed;
    covariance.pack(packed);
    return unpack(packed);
  }
  [[nodiscard]] Covariance covariance() const {
    return Covariance::unpack(std::array<double, Covariance::kPacked>{tt[0], tt[1], tt[2], tr[0], tr[1], tr[2], tt[4],
                                                                      tt[5], tr[3], tr[4], tr[5], tt[8], tr[6], tr[7],
                                                                      tr[8], rr[0], rr[1], rr[2], rr[4], rr[5], rr[8]});
  }
};

[[nodiscard]] inline Symmetric6 sum(const Symmetric6& a, const Symmetric6& b) {
  return {sum(a.tt, b.tt), sum(a.tr, b.tr), sum(a.rr, b.rr)};
}

/// J S J^T.
[[nodiscard]] inline Symmetric6 propagated(const Symmetric6& s, const Upper6& j) {
  const Matrix3 half_tt = sum(product(j.tt, s.tt), product_transposed(j.tr, s.tr));
  const Matrix3 half_tr = sum(product(j.tt, s.tr), product(j.tr, s.rr));
  return {sum(product_transposed(half_tt, j.tt), product_transposed(half_tr, j.tr)), product_transposed(half_tr, j.rr),
          product_transposed(product(j.rr, s.rr), j.rr)};
}

}  // namespace armillary
