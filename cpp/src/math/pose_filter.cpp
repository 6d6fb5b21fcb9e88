#include "armillary/math/pose_filter.hpp"

#include <algorithm>
#include <cmath>

namespace armillary {

namespace {

constexpr std::size_t kSix = 6, kTwelve = 12;
constexpr double kSecondsPerNs = 1e-9;
constexpr int kIterations = 3;

template <std::size_t Rows, std::size_t Columns>
struct Matrix {
  std::array<double, Rows * Columns> values{};

  [[nodiscard]] double& operator()(std::size_t i, std::size_t j) { return values[i * Columns + j]; }
  [[nodiscard]] double operator()(std::size_t i, std::size_t j) const { return values[i * Columns + j]; }
  [[nodiscard]] static Matrix identity() {
    Matrix result;
    for (std::size_t i = 0; i < std::min(Rows, Columns); ++i) result(i, i) = 1.0;
    return result;
  }
};

using Square6 = Matrix<kSix, kSix>;
using Square12 = Matrix<kTwelve, kTwelve>;

template <std::size_t R, std::size_t M, std::size_t C>
Matrix<R, C> operator*(const Matrix<R, M>& a, const Matrix<M, C>& b) {
  Matrix<R, C> result;
  for (std::size_t i = 0; i < R; ++i)
    for (std::size_t k = 0; k < M; ++k) {
      const double factor = a(i, k);
      for (std::size_t j = 0; j < C; ++j) result(i, j) += factor * b(k, j);
    }
  return result;
}

template <std::size_t R, std::size_t C>
Matrix<C, R> transposed(const Matrix<R, C>& a) {
  Matrix<C, R> result;
  for (std::size_t i = 0; i < R; ++i)
    for (std::size_t j = 0; j < C; ++j) result(j, i) = a(i, j);
  return result;
}

template <std::size_t R, std::size_t C>
std::array<double, R> operator*(const Matrix<R, C>& a, const std::array<double, C>& x) {
  std::array<double, R> result{};
  for (std::size_t i = 0; i < R; ++i)
    for (std::size_t j = 0; j < C; ++j) result[i] += a(i, j) * x[j];
  return result;
}

template <std::size_t N>
void make_symmetric(Matrix<N, N>& a) {
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = i + 1; j < N; ++j) a(i, j) = a(j, i) = 0.5 * (a(i, j) + a(j, i));
}

/// J S J^T.
Square12 propagated(const Square12& covariance, const Square12& jacobian) {
  Square12 result = jacobian * covariance * transposed(jacobian);
  make_symmetric(result);
  return result;
}

Tangent6 scaled(double scale, const Tangent6& x) {
  Tangent6 result;
  for (std::size_t i = 0; i < kSix; ++i) result[i] = scale * x[i];
  return result;
}

Transform exponential(const Tangent6& x) { return Transform::exp({{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}); }

Tangent6 logarithm(const Transform& transform) {
  const Tangent tangent = transform.log();
  return {tangent.translation.x, tangent.translation.y, tangent.translation.z,
          tangent.rotation.x,    tangent.rotation.y,    tangent.rotation.z};
}

/// The matrix of the Lie bracket with a tangent.
Square6 bracket(const Tangent6& x) {
  Square6 result;
  const auto put_cross = [&](std::size_t row, std::size_t column, double a, double b, double c) {
    result(row, column + 1) = -c, result(row, column + 2) = b;
    result(row + 1, column) = c, result(row + 1, column + 2) = -a;
    result(row + 2, column) = -b, result(row + 2, column + 1) = a;
  };
  put_cross(0, 0, x[3], x[4], x[5]);
  put_cross(3, 3, x[3], x[4], x[5]);
  put_cross(0, 3, x[0], x[1], x[2]);
  return result;
}

/// Series in the bracket, whose characteristic polynomial is a^2 (a^2 + angle^2)^2: the fifth power is -2 angle^2 times
/// the third minus angle^4 times the first, so that four powers are enough.
struct Powers {
  std::array<Square6, 4> powers;
  double angle;

  explicit Powers(const Tangent6& x) : angle(std::sqrt(x[3] * x[3] + x[4] * x[4] + x[5] * x[5])) {
    powers[0] = bracket(x);
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = powers[k - 1] * powers[0];
  }

  [[nodiscard]] Square6 sum(double constant, const std::array<double, 4>& factors) const {
    Square6 result;
    for (std::size_t i = 0; i < kSix; ++i) result(i, i) = constant;
    for (std::size_t k = 0; k < powers.size(); ++k)
      for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] += factors[k] * powers[k].values[i];
    return result;
  }
};

/// Jr(x) = sum over k of (-ad)^k / (k+1)!, with the coefficients of the four powers in closed form
/// (Eade, Lie groups for 2D and 3D transformations; Barfoot, State Estimation for Robotics, 7.85).
Square6 right_jacobian(const Tangent6& x) {
  const Powers ad(x);
  const double a = ad.angle, a2 = a * a;
  std::array<double, 4> factors;
  if (a < 0.5) {
    // Of the powers 1 to 4 of ad: the series of Jr, reduced by the characteristic polynomial, in powers of the angle.
    double c1 = 0.0, c2 = 0.0, c3 = 0.0, c4 = 0.0;
    // p_k: ad^k = r1 ad + r2 ad^2 + r3 ad^3 + r4 ad^4
    double r1 = 1.0, r2 = 0.0, r3 = 0.0, r4 = 0.0, factorial = 1.0, sign = 1.0;
    for (int k = 1; k <= 16; ++k) {
      factorial *= k + 1;
      sign = -sign;
      const double weight = sign / factorial;
      c1 += weight * r1, c2 += weight * r2, c3 += weight * r3, c4 += weight * r4;
      const double over = r4;  // ad^5 = -2 a^2 ad^3 - a^4 ad
      r4 = r3, r3 = r2 - 2.0 * a2 * over, r2 = r1, r1 = -a2 * a2 * over;
    }
    factors = {c1, c2, c3, c4};
  } else {
    const double sine = std::sin(a), cosine = std::cos(a);
    factors = {-(4.0 - a * sine - 4.0 * cosine) / (2.0 * a2), (4.0 * a - 5.0 * sine + a * cosine) / (2.0 * a2 * a),
               -(2.0 - a * sine - 2.0 * cosine) / (2.0 * a2 * a2), (2.0 * a - 3.0 * sine + a * cosine) / (2.0 * a2 * a2 * a)};
  }
  return ad.sum(1.0, factors);
}

Square6 adjoint_of(const Transform& transform) {
  const Matrix3 R = transform.rotation.matrix();
  const Vector3& p = transform.translation;
  Square6 result;
  for (std::size_t j = 0; j < 3; ++j) {
    const Vector3 column{R[j], R[3 + j], R[6 + j]};
    const Vector3 moved = cross(p, column);
    result(0, j) = result(3, 3 + j) = column.x, result(1, j) = result(4, 3 + j) = column.y;
    result(2, j) = result(5, 3 + j) = column.z;
    result(0, 3 + j) = moved.x, result(1, 3 + j) = moved.y, result(2, 3 + j) = moved.z;
  }
  return result;
}

/// Lower triangular root of a positive definite matrix; rows beyond `size` are ignored. False where it is none.
bool factorize(Square6& a, std::size_t size) {
  for (std::size_t j = 0; j < size; ++j) {
    double pivot = a(j, j);
    for (std::size_t k = 0; k < j; ++k) pivot -= a(j, k) * a(j, k);
    if (!(pivot > 0.0)) return false;
    a(j, j) = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < size; ++i) {
      double value = a(i, j);
      for (std::size_t k = 0; k < j; ++k) value -= a(i, k) * a(j, k);
      a(i, j) = value / a(j, j);
    }
  }
  return true;
}

Tangent6 solved(const Square6& root, Tangent6 b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= root(i, k) * b[k];
    b[i] /= root(i, i);
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) b[i] -= root(k, i) * b[k];
    b[i] /= root(i, i);
  }
  return b;
}

/// Predicts an estimate: constant velocity, white acceleration; the integrals of the noise by four points of Gauss.
FilterEstimate predicted(const FilterEstimate& from, double tau, const Tangent6& acceleration) {
  if (tau <= 0.0) return from;
  constexpr std::array<double, 2> kNodes = {0.339981043584856264802665759103, 0.861136311594052575223946488893};
  constexpr std::array<double, 2> kWeights = {0.652145154862546142626936050778, 0.347854845137453857373063949222};
  const Tangent6 motion = scaled(tau, from.velocity);
  const Transform moved = exponential(motion);
  Square12 F = Square12::identity();
  const Square6 carried = adjoint_of(moved.inverse()), J = right_jacobian(motion);
  for (std::size_t i = 0; i < kSix; ++i)
    for (std::size_t j = 0; j < kSix; ++j) F(i, j) = carried(i, j), F(i, kSix + j) = tau * J(i, j);
  Square12 P = propagated(Square12{from.covariance}, F);
  for (std::size_t half = 0; half < 4; ++half) {
    const double node = (half % 2 == 0 ? 1.0 : -1.0) * kNodes[half / 2];
    const double s = 0.5 * tau * (1.0 + node), weight = 0.5 * tau * kWeights[half / 2];
    const Square6 at = right_jacobian(scaled(s, from.velocity));
    for (std::size_t i = 0; i < kSix; ++i)
      for (std::size_t j = 0; j < kSix; ++j) {
        double both = 0.0;
        for (std::size_t k = 0; k < kSix; ++k) both += at(i, k) * acceleration[k] * at(j, k);
        const double mixed = weight * s * at(i, j) * acceleration[j];
        P(i, j) += weight * s * s * both;
        P(i, kSix + j) += mixed, P(kSix + j, i) += mixed;
      }
  }
  for (std::size_t i = 0; i < kSix; ++i) P(kSix + i, kSix + i) += tau * acceleration[i];
  make_symmetric(P);
  return {from.pose * moved, from.velocity, P.values};
}

/// Moves an estimate by an error, and its covariance into the tangent there.
void apply_error(FilterEstimate& estimate, const std::array<double, kTwelve>& error, const Square12& covariance) {
  const Tangent6 x = {error[0], error[1], error[2], error[3], error[4], error[5]};
  Square12 G = Square12::identity();
  const Square6 J = right_jacobian(x);
  for (std::size_t i = 0; i < kSix; ++i)
    for (std::size_t j = 0; j < kSix; ++j) G(i, j) = J(i, j);
  estimate.pose = estimate.pose * exponential(x);
  estimate.pose.rotation = estimate.pose.rotation.normalized();
  for (std::size_t i = 0; i < kSix; ++i) estimate.velocity[i] += error[kSix + i];
  estimate.covariance = propagated(covariance, G).values;
}

/// What a measurement determines: which entries of the state, how far it is from them, and the gain.
struct Innovation {
  std::array<std::size_t, kSix> entries{};
  std::size_t size = 0;
  Tangent6 apart{};
  Square6 noise{};
  Matrix<kTwelve, kSix> gain{};
  double distance2 = 0.0;
  bool is_regular = true;
};

Innovation innovation_of(const FilterEstimate& estimate, const FilterMeasurement& measurement) {
  Innovation found;
  const Tangent6 apart = measurement.is_velocity ? Tangent6{} : logarithm(between(estimate.pose, measurement.pose));
  for (std::size_t i = 0; i < kSix; ++i) {
    if (measurement.is_velocity && std::isnan(measurement.velocity[i])) continue;
    found.apart[found.size] = measurement.is_velocity ? measurement.velocity[i] - estimate.velocity[i] : apart[i];
    found.entries[found.size++] = measurement.is_velocity ? kSix + i : i;
  }
  const std::size_t offset = measurement.is_velocity ? kSix : 0;
  const Square12 P{estimate.covariance};
  Square6 sum;
  for (std::size_t a = 0; a < found.size; ++a)
    for (std::size_t b = 0; b < found.size; ++b) {
      const std::size_t i = found.entries[a], j = found.entries[b];
      found.noise(a, b) = measurement.covariance[(i - offset) * kSix + (j - offset)];
      sum(a, b) = P(i, j) + found.noise(a, b);
    }
  found.is_regular = factorize(sum, found.size);
  if (!found.is_regular) return found;
  const Tangent6 weighted = solved(sum, found.apart, found.size);
  for (std::size_t a = 0; a < found.size; ++a) found.distance2 += found.apart[a] * weighted[a];
  for (std::size_t row = 0; row < kTwelve; ++row) {
    Tangent6 column{};
    for (std::size_t a = 0; a < found.size; ++a) column[a] = P(row, found.entries[a]);
    const Tangent6 gains = solved(sum, column, found.size);
    for (std::size_t a = 0; a < found.size; ++a) found.gain(row, a) = gains[a];
  }
  return found;
}

/// (1 - K H) P (1 - K H)^T + K R K^T: symmetric and positive whatever rounding does.
Square12 reduced(const Square12& P, const Innovation& innovation) {
  Square12 keep = Square12::identity();
  Matrix<kTwelve, kSix> spread;
  for (std::size_t i = 0; i < kTwelve; ++i)
    for (std::size_t a = 0; a < innovation.size; ++a) {
      keep(i, innovation.entries[a]) -= innovation.gain(i, a);
      for (std::size_t b = 0; b < innovation.size; ++b) spread(i, a) += innovation.gain(i, b) * innovation.noise(b, a);
    }
  Square12 result = propagated(P, keep);
  for (std::size_t i = 0; i < kTwelve; ++i)
    for (std::size_t j = 0; j < kTwelve; ++j)
      for (std::size_t a = 0; a < innovation.size; ++a) result(i, j) += spread(i, a) * innovation.gain(j, a);
  make_symmetric(result);
  return result;
}

void update(FilterEstimate& estimate, const FilterMeasurement& measurement, const Innovation& innovation) {
  std::array<double, kTwelve> error = innovation.gain * innovation.apart;
  for (int k = 1; k < kIterations && !measurement.is_velocity; ++k) {
    const Tangent6 x = {error[0], error[1], error[2], error[3], error[4], error[5]};
    Tangent6 apart = logarithm(between(estimate.pose * exponential(x), measurement.pose));
    for (std::size_t i = 0; i < kSix; ++i) apart[i] += x[i];
    error = innovation.gain * apart;
  }
  apply_error(estimate, error, reduced(Square12{estimate.covariance}, innovation));
}

}  // namespace

void PoseFilter::keep(std::size_t count) {
  if (count >= steps_.size()) return;
  steps_.resize(count);
  measurements_.resize(count);
}

void PoseFilter::start(Step& step, const FilterMeasurement& measurement) const {
  step.is_started = true;
  step.after = {measurement.pose, {}, {}};
  for (std::size_t i = 0; i < kSix; ++i) {
    for (std::size_t j = 0; j < kSix; ++j) step.after.covariance[i * kTwelve + j] = measurement.covariance[i * kSix + j];
    step.after.covariance[(kSix + i) * kTwelve + kSix + i] = model_.first_speed[i];
  }
  step.rejections.clear();
}

bool PoseFilter::is_to_restart(Step& step, const FilterMeasurement& measurement) const {
  auto found = std::ranges::find(step.rejections, measurement.source, &Rejections::source);
  if (found == step.rejections.end()) {
    step.rejections.push_back({measurement.source, 1, measurement.stamp_ns});
    return false;
  }
  if (measurement.stamp_ns - found->since_ns > model_.restart_ns) *found = {measurement.source, 0, measurement.stamp_ns};
  return ++found->count >= model_.restart_count;
}

void PoseFilter::add(const FilterMeasurement& measurement) {
  Step step;
  if (is_started(steps_.size())) {
    take(measurement, step);
  } else if (!measurement.is_velocity) {
    start(step, measurement);
    step.outcome = FilterOutcome::started;
  }
  measurements_.push_back(measurement);
  steps_.push_back(std::move(step));
}

/// Compares a measurement with what is predicted, and improves the estimate by it.
void PoseFilter::take(const FilterMeasurement& measurement, Step& step) const {
  const Step& last = steps_.back();
  step.is_started = true;
  step.rejections = last.rejections;
  step.after = estimate(steps_.size(), measurement.stamp_ns);
  const Innovation innovation = innovation_of(step.after, measurement);
  step.distance2 = innovation.distance2;
  if (!innovation.is_regular) {
    step.outcome = FilterOutcome::skipped;
  } else if (innovation.distance2 <= model_.gates[innovation.size]) {
    update(step.after, measurement, innovation);
    step.outcome = FilterOutcome::used;
    if (!measurement.is_velocity)
      std::erase_if(step.rejections, [&](const Rejections& one) { return one.source == measurement.source; });
  } else if (!measurement.is_velocity && is_to_restart(step, measurement)) {
    start(step, measurement);
    step.outcome = FilterOutcome::restarted;
  } else {
    step.outcome = FilterOutcome::rejected;
  }
}

std::size_t PoseFilter::count_until(std::int64_t stamp_ns) const {
  const auto after = std::ranges::upper_bound(measurements_, stamp_ns, {}, &FilterMeasurement::stamp_ns);
  return static_cast<std::size_t>(after - measurements_.begin());
}

FilterSummary PoseFilter::summary(std::size_t count) const {
  FilterSummary found;
  for (std::size_t k = 0; k < count; ++k) {
    const Step& step = steps_[k];
    const FilterMeasurement& measurement = measurements_[k];
    if (step.outcome == FilterOutcome::rejected) found.rejected.push_back(k);
    if (step.outcome == FilterOutcome::restarted) found.restarted.push_back(k);
    if (step.outcome == FilterOutcome::rejected || step.outcome == FilterOutcome::skipped) continue;
    ++found.used;
    found.last_used_ns = measurement.stamp_ns;
    if (std::ranges::find(found.sources, measurement.source) == found.sources.end()) found.sources.push_back(measurement.source);
    if (step.outcome != FilterOutcome::used || measurement.is_velocity) continue;
    ++found.judged;
    found.distances2 += step.distance2;
  }
  std::ranges::sort(found.sources);
  return found;
}

FilterEstimate PoseFilter::estimate(std::size_t count, std::int64_t stamp_ns) const {
  const std::int64_t since_ns = stamp_ns - measurements_[count - 1].stamp_ns;
  return predicted(steps_[count - 1].after, kSecondsPerNs * static_cast<double>(since_ns), model_.acceleration);
}

}  // namespace armillary
