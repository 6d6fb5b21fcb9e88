#pragma once

// Covariances of two poses at a time, moved to another tangent and added up: what a path between samples needs of each edge.

#include "armillary/math/transform.hpp"
#include "math/upper6.hpp"

namespace armillary {

/// A sum of Ad(X) S Ad(X)^T over pairs of rows, each with its weight; the two of a pair are computed side by side.
class PairSum {
 public:
  /// One pose with its covariance: seven numbers (wxyz, xyz), and the packed upper triangle.
  struct Part {
    const double* pose;
    const double* packed;
    double weight;
  };

  /// Adds both, moved from the tangents of the poses to that of `to`: X = to^-1 * pose.
  void add(const Part& first, const Part& second, const Transform& to) {
    const Matrix3 back = to.rotation.inverse().matrix();
    Turn r;
    Pair p[3];
    relative(first.pose, second.pose, to, back, r, p);
    Pair s[21];
    for (std::size_t i = 0; i < 21; ++i) s[i] = Pair{first.weight * first.packed[i], second.weight * second.packed[i]};
    Pair tt[6], rr[6], tr[9];
    turn_symmetric(r, {s[0], s[1], s[2], s[6], s[7], s[11]}, tt);
    turn_symmetric(r, {s[15], s[16], s[17], s[18], s[19], s[20]}, rr);
    turn_whole(r, {s[3], s[4], s[5], s[8], s[9], s[10], s[12], s[13], s[14]}, tr);
    // With the lever p: tr + [p] rr, and tt + [p] tr^T + (tr + [p] rr) [p]^T.
    const Pair whole[9] = {rr[0], rr[1], rr[2], rr[1], rr[3], rr[4], rr[2], rr[4], rr[5]};
    Pair lever[9];
    for (std::size_t j = 0; j < 3; ++j) {
      lever[j] = tr[j] + (p[1] * whole[6 + j] - p[2] * whole[3 + j]);
      lever[3 + j] = tr[3 + j] + (p[2] * whole[j] - p[0] * whole[6 + j]);
      lever[6 + j] = tr[6 + j] + (p[0] * whole[3 + j] - p[1] * whole[j]);
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j) {
        const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
        const Pair left = p[a] * tr[3 * j + b] - p[b] * tr[3 * j + a];
        const Pair right = p[c] * lever[3 * i + d] - p[d] * lever[3 * i + c];
        tt_[next] += tt[next] + left + right;
        rr_[next] += rr[next];
        ++next;
      }
    for (std::size_t i = 0; i < 9; ++i) tr_[i] += lever[i];
  }

  [[nodiscard]] Symmetric6 total() const {
    const auto both = [](const Pair& pair) { return pair[0] + pair[1]; };
    Symmetric6 sum;
    constexpr std::size_t kPlaces[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (std::size_t i = 0; i < 9; ++i) {
      sum.tt[i] = both(tt_[kPlaces[i]]);
      sum.rr[i] = both(rr_[kPlaces[i]]);
      sum.tr[i] = both(tr_[i]);
    }
    return sum;
  }

 private:
  using Pair = double __attribute__((vector_size(16)));
  struct Turn {
    Pair m[9];
  };
  struct Six {
    Pair v[6];
  };
  struct Nine {
    Pair v[9];
  };

  /// to^-1 * pose of both: the rotations as matrices, and the translations.
  static void relative(const double* first, const double* second, const Transform& to, const Matrix3& back, Turn& r, Pair* p) {
    const auto lane = [&](std::size_t i) { return Pair{first[i], second[i]}; };
    const Rotation& q = to.rotation;
    const Pair w = lane(0), x = lane(1), y = lane(2), z = lane(3);
    const Pair rw = q.w * w + q.x * x + q.y * y + q.z * z, rx = q.w * x - q.x * w - q.y * z + q.z * y;
    const Pair ry = q.w * y + q.x * z - q.y * w - q.z * x, rz = q.w * z - q.x * y + q.y * x - q.z * w;
    const Pair dx = lane(4) - to.translation.x, dy = lane(5) - to.translation.y, dz = lane(6) - to.translation.z;
    for (std::size_t i = 0; i < 3; ++i) p[i] = back[3 * i] * dx + back[3 * i + 1] * dy + back[3 * i + 2] * dz;
    const Pair xx = rx * rx, yy = ry * ry, zz = rz * rz, xy = rx * ry, xz = rx * rz, yz = ry * rz;
    const Pair wx = rw * rx, wy = rw * ry, wz = rw * rz;
    r = {{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy), 2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx),
          2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}};
  }

  /// R S R^T of a symmetric S, as upper triangles.
  static void turn_symmetric(const Turn& r, const Six& s, Pair* out) {
    const Pair* m = r.m;
    const auto& [v] = s;
    Pair half[9];
    for (std::size_t i = 0; i < 3; ++i) {
      const Pair a = m[3 * i], b = m[3 * i + 1], c = m[3 * i + 2];
      half[3 * i] = a * v[0] + b * v[1] + c * v[2];
      half[3 * i + 1] = a * v[1] + b * v[3] + c * v[4];
      half[3 * i + 2] = a * v[2] + b * v[4] + c * v[5];
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j)
        out[next++] = half[3 * i] * m[3 * j] + half[3 * i + 1] * m[3 * j + 1] + half[3 * i + 2] * m[3 * j + 2];
  }

  static void turn_whole(const Turn& r, const Nine& s, Pair* out) {
    const Pair* m = r.m;
    const auto& [v] = s;
    for (std::size_t i = 0; i < 3; ++i) {
      Pair half[3];
      for (std::size_t j = 0; j < 3; ++j) half[j] = m[3 * i] * v[j] + m[3 * i + 1] * v[3 + j] + m[3 * i + 2] * v[6 + j];
      for (std::size_t j = 0; j < 3; ++j) out[3 * i + j] = half[0] * m[3 * j] + half[1] * m[3 * j + 1] + half[2] * m[3 * j + 2];
    }
  }

  Pair tt_[6]{}, tr_[9]{}, rr_[6]{};
};

}  // namespace armillary
