#include "math/arc.hpp"

namespace armillary {

namespace {

/// a + b e with e^2 = 0. A twist is a rotation vector of such numbers: the rotation, then the translation. Functions of
/// [phi]x in them are those of the 6x6 bracket (the principle of transference of dual-number kinematics).
struct Dual {
  double real = 0.0, dual = 0.0;

  Dual() = default;
  Dual(double value) : real(value) {}  // NOLINT: numbers are dual numbers
  Dual(double r, double d) : real(r), dual(d) {}
};

Dual operator+(const Dual& a, const Dual& b) { return {a.real + b.real, a.dual + b.dual}; }
Dual operator-(const Dual& a, const Dual& b) { return {a.real - b.real, a.dual - b.dual}; }
Dual operator*(const Dual& a, const Dual& b) { return {a.real * b.real, a.real * b.dual + a.dual * b.real}; }
Dual operator/(const Dual& a, const Dual& b) {
  const double quotient = a.real / b.real;
  return {quotient, (a.dual - quotient * b.dual) / b.real};
}

double real(double value) { return value; }
double real(const Dual& value) { return value.real; }

/// 1 - x^2 / ((k+1)(k+2)) * (1 - x^2 / ((k+3)(k+4)) * ...), exact to rounding up to a quarter turn.
template <int K, typename Scalar>
Scalar alternating(const Scalar& x2) {
  constexpr int kMost = 11, kFew = 4;
  static constexpr auto kReciprocal = [] {
    std::array<double, kMost + 1> values{};
    for (int n = 1; n <= kMost; ++n) values[static_cast<std::size_t>(n)] = 1.0 / ((2 * n + K - 1) * (2 * n + K));
    return values;
  }();
  Scalar sum = 1.0;
  for (std::size_t n = real(x2) < 0.02 ? kFew : kMost; n >= 1; --n) sum = 1.0 - kReciprocal[n] * x2 * sum;
  return sum;
}

/// sin(x) / x, given x^2.
template <typename Scalar>
Scalar sine_over(const Scalar& x2) {
  return alternating<1>(x2);
}

/// (x - sin(x)) / x^3, given x^2.
template <typename Scalar>
Scalar excess_over(const Scalar& x2) {
  return (1.0 / 6.0) * alternating<3>(x2);
}

template <typename Scalar>
struct Three {
  Scalar x, y, z;
};

template <typename Scalar>
struct Nine {
  std::array<Scalar, 9> values;
};

/// zeroth I + first [v]x + second [v]x^2.
template <typename Scalar>
Nine<Scalar> polynomial(const Scalar& zeroth, const Scalar& first, const Scalar& second, const Three<Scalar>& v) {
  const Scalar xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
  const Scalar xy = second * v.x * v.y, xz = second * v.x * v.z, yz = second * v.y * v.z;
  const Scalar x = first * v.x, y = first * v.y, z = first * v.z;
  return {{zeroth - second * (yy + zz), xy - z, xz + y, xy + z, zeroth - second * (xx + zz), yz - x, xz - y, yz + x,
           zeroth - second * (xx + yy)}};
}

template <typename Scalar>
Scalar squared(const Three<Scalar>& v) {
  return v.x * v.x + v.y * v.y + v.z * v.z;
}

/// With z = Exp(u v): an error at the second end moves z by this, one at the first by the rest of the identity.
/// On the plane across v it is e^(i (1-u) h) sin(u h) / sin(h), h half the angle; along v it is u.
template <typename Scalar>
Nine<Scalar> share_of_second(const Three<Scalar>& v, double u) {
  const Scalar h2 = 0.25 * squared(v), whole = sine_over(h2);
  const double c = 2.0 * u - 1.0;
  const Scalar first = (0.5 * u * (1.0 - u)) * sine_over(u * u * h2) * sine_over((1.0 - u) * (1.0 - u) * h2) / whole;
  const Scalar second = (0.125 * c) * (c * c * excess_over(c * c * h2) - excess_over(h2)) / whole;
  return polynomial<Scalar>(u, first, second, v);
}

/// scale times how an error on the right of Exp(v) moves v: I + [v]x / 2 + k [v]x^2, k = (1 - h cot(h)) / (4 h^2).
template <typename Scalar>
Nine<Scalar> inverse_right_jacobian(double scale, const Three<Scalar>& v) {
  const Scalar h2 = 0.25 * squared(v), half = sine_over(0.25 * h2);
  const Scalar k = 0.25 * (0.5 * half * half - excess_over(h2)) / sine_over(h2);
  return polynomial<Scalar>(scale, 0.5 * scale, scale * k, v);
}

Three<Dual> dual(const Tangent& t) {
  const auto& [p, r] = t;
  return {{r.x, p.x}, {r.y, p.y}, {r.z, p.z}};
}

Three<double> three(const Vector3& v) { return {v.x, v.y, v.z}; }

Upper6 upper(const Nine<Dual>& m) {
  Upper6 result;
  for (std::size_t i = 0; i < 9; ++i) {
    result.tt[i] = result.rr[i] = m.values[i].real;
    result.tr[i] = m.values[i].dual;
  }
  return result;
}

Upper6 rest_of_identity(const Upper6& m) {
  return {sum(kIdentity3, scaled(-1.0, m.tt)), scaled(-1.0, m.tr), sum(kIdentity3, scaled(-1.0, m.rr))};
}

}  // namespace

Arc::Arc(const Transform& a, const Transform& b, Interpolation kind)
    : first_(a.rotation),
      second_(b.rotation),
      difference_(kind == Interpolation::screw ? between(a, b).log() : Tangent{{}, short_log(a.rotation, b.rotation)}),
      kind_(kind) {}

EndEffects Arc::on_pose(double u, const Rotation& here) const {
  if (kind_ == Interpolation::screw) {
    const Upper6 second = upper(share_of_second(dual(difference_), u));
    return {rest_of_identity(second), second};
  }
  const Rotation back = here.inverse();
  const Matrix3 turn = share_of_second(three(difference_.rotation), u).values;
  return {{scaled(1.0 - u, (back * first_).matrix()), {}, sum(kIdentity3, scaled(-1.0, turn))},
          {scaled(u, (back * second_).matrix()), {}, turn}};
}

EndEffects Arc::on_motion(double per_s, const Rotation& here) const {
  if (kind_ == Interpolation::screw) {
    const Tangent back{-difference_.translation, -difference_.rotation};
    return {upper(inverse_right_jacobian(-per_s, dual(back))), upper(inverse_right_jacobian(per_s, dual(difference_)))};
  }
  const Rotation back = here.inverse();
  return {{scaled(-per_s, (back * first_).matrix()), {}, inverse_right_jacobian(-per_s, three(-difference_.rotation)).values},
          {scaled(per_s, (back * second_).matrix()), {}, inverse_right_jacobian(per_s, three(difference_.rotation)).values}};
}

}  // namespace armillary
