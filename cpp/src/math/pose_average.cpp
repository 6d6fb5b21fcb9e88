#include "armillary/math/pose_average.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/right_jacobian.hpp"
#include "math/tangents.hpp"

namespace armillary {

namespace {

constexpr double kGate = 22.457744484825323;          // chi-squared with 6 degrees of freedom, 0.999
constexpr double kMedianSquare = 5.348120627447122;   // of chi-squared with 6 degrees of freedom
constexpr double kMedianLength = 1.5381722544550522;  // of a vector of three standard normal numbers
constexpr double kCauchy = 4.1;                       // standard deviations: from there on a pose counts less
constexpr std::size_t kMostStarts = 30, kMostOthers = 100;
constexpr int kMostAverageRounds = 100;
constexpr double kAveraged = 1e-12;            // [m, rad]
constexpr double kRoughlyAveraged = 1e-7;      // [m, rad]: enough to tell which poses are outliers
constexpr double kLeastVarianceRatio = 1e-12;  // to the largest: below, it is taken for that
constexpr double kLeastSpread = 1e-9;          // [m, rad]: no spread is taken for smaller

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return values.size() % 2 == 1 ? *middle : 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double square_in(const Matrix6& weight, const Vector6& v) {
  const Vector6 weighted = product(weight, v);
  double total = 0.0;
  for (std::size_t i = 0; i < 6; ++i) total += v[i] * weighted[i];
  return total;
}

/// At most so many places, evenly spaced.
std::vector<std::size_t> spaced(std::size_t count, std::size_t most) {
  const std::size_t number = std::min(count, most);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < number; ++i) {
    const double share =
        number == 1 ? 0.0 : static_cast<double>(i) * (static_cast<double>(count - 1) / static_cast<double>(number - 1));
    const auto place = static_cast<std::size_t>(std::nearbyint(share));
    if (places.empty() || places.back() != place) places.push_back(place);
  }
  return places;
}

/// The inverse of a symmetric matrix whose rows may have very different units, by elimination with pivoting.
Matrix6 symmetric_inverse(const Matrix6& a) {
  std::array<double, 72> rows{};
  Vector6 unit;
  for (std::size_t i = 0; i < 6; ++i) unit[i] = 1.0 / std::sqrt(a[7 * i]);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) rows[12 * i + j] = a[6 * i + j] * unit[i] * unit[j];
    rows[12 * i + 6 + i] = 1.0;
  }
  for (std::size_t k = 0; k < 6; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < 6; ++i)
      if (std::abs(rows[12 * i + k]) > std::abs(rows[12 * pivot + k])) pivot = i;
    for (std::size_t j = 0; j < 12; ++j) std::swap(rows[12 * k + j], rows[12 * pivot + j]);
    const double scale = 1.0 / rows[12 * k + k];
    for (std::size_t j = 0; j < 12; ++j) rows[12 * k + j] *= scale;
    for (std::size_t i = 0; i < 6; ++i) {
      if (i == k) continue;
      const double factor = rows[12 * i + k];
      for (std::size_t j = 0; j < 12; ++j) rows[12 * i + j] -= factor * rows[12 * k + j];
    }
  }
  Matrix6 inverse;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      inverse[6 * i + j] = 0.5 * unit[i] * unit[j] * (rows[12 * i + 6 + j] + rows[12 * j + 6 + i]);
  return inverse;
}

/// The inverses of covariances; directions that are exact get a variance far below all others.
std::vector<Matrix6> inverted(std::span<const Covariance> covariances) {
  double largest[2] = {0.0, 0.0};
  for (const Covariance& one : covariances)
    for (std::size_t i = 0; i < 6; ++i) largest[i / 3] = std::max(largest[i / 3], one.values[7 * i]);
  double floor[2];
  for (std::size_t part = 0; part < 2; ++part)
    floor[part] = std::max(largest[part] * kLeastVarianceRatio, kLeastSpread * kLeastSpread);
  std::vector<Matrix6> inverses;
  inverses.reserve(covariances.size());
  for (const Covariance& one : covariances) {
    Vector6 unit;
    double least = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < 6; ++i) {
      unit[i] = 1.0 / std::sqrt(std::max(one.values[7 * i], floor[i / 3]));
      least = std::min(least, floor[i / 3] * unit[i] * unit[i]);
    }
    least = std::max(least, kLeastVarianceRatio);
    Matrix6 correlation, root, factor;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) correlation[6 * i + j] = i == j ? 1.0 : one.values[6 * i + j] * unit[i] * unit[j];
    Matrix6 above = correlation;
    for (std::size_t i = 0; i < 6; ++i) above[7 * i] -= least;
    Matrix6& inverse = inverses.emplace_back();
    inverse.fill(0.0);
    if (is_definite(above) && factorize_definite(correlation, 0.0, factor)) {
      invert_lower(factor, root);
      for (std::size_t i = 0; i < 6; ++i)
        for (std::size_t j = 0; j < 6; ++j)
          for (std::size_t k = std::max(i, j); k < 6; ++k) inverse[6 * i + j] += root[6 * k + i] * root[6 * k + j];
    } else {
      // Orthogonal rows of a symmetric matrix are its eigenvectors times their eigenvalues.
      orthogonalize_rows(correlation.data(), 6, root);
      for (std::size_t k = 0; k < 6; ++k) {
        double value = 0.0;
        for (std::size_t j = 0; j < 6; ++j) value += correlation[6 * k + j] * root[6 * k + j];
        const double scale = 1.0 / std::max(value, least);
        for (std::size_t i = 0; i < 6; ++i)
          for (std::size_t j = 0; j < 6; ++j) inverse[6 * i + j] += scale * root[6 * k + i] * root[6 * k + j];
      }
    }
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 6; ++j) inverse[6 * i + j] *= unit[i] * unit[j];
  }
  return inverses;
}

/// J^T W.
Matrix6 weighted_columns(const Upper6& j, const Matrix6& w) {
  Matrix6 result;
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t c = 0; c < 6; ++c) {
      result[6 * row + c] = j.tt[row] * w[c] + j.tt[3 + row] * w[6 + c] + j.tt[6 + row] * w[12 + c];
      result[6 * (row + 3) + c] = j.tr[row] * w[c] + j.tr[3 + row] * w[6 + c] + j.tr[6 + row] * w[12 + c] +
                                  j.rr[row] * w[18 + c] + j.rr[3 + row] * w[24 + c] + j.rr[6 + row] * w[30 + c];
    }
  return result;
}

/// |r + J x|^2 in deviations as a function of the step x: constant + 2 slope^T x + x^T normal x.
struct Quadratic {
  static constexpr std::size_t kNormal = 7;  // after the constant and the slope: the upper triangle
  std::array<double, 28> values{};

  Quadratic() = default;
  Quadratic(const Vector6& residual, const Upper6& jacobian, const Matrix6& weight) {
    const Matrix6 columns = weighted_columns(jacobian, weight);
    const Matrix6 normal = product(columns, jacobian);
    const Vector6 slope = product(columns, residual);
    values[0] = square_in(weight, residual);
    std::ranges::copy(slope, values.begin() + 1);
    std::size_t next = kNormal;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = i; j < 6; ++j) values[next++] = normal[6 * i + j];
  }

  void add(double share, const Quadratic& other) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += share * other.values[k];
  }

  /// The step for which it is least.
  [[nodiscard]] Vector6 least() const {
    Matrix6 normal;
    std::size_t next = kNormal;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = i; j < 6; ++j) normal[6 * i + j] = normal[6 * j + i] = values[next++];
    Vector6 slope;
    std::copy_n(values.begin() + 1, 6, slope.begin());
    Vector6 step = product(symmetric_inverse(normal), slope);
    for (double& value : step) value = -value;
    return step;
  }

  /// What a step makes of each of the values.
  [[nodiscard]] static Quadratic powers(const Vector6& x) {
    Quadratic of;
    of.values[0] = 1.0;
    std::size_t next = kNormal;
    for (std::size_t i = 0; i < 6; ++i) {
      of.values[1 + i] = 2.0 * x[i];
      for (std::size_t j = i; j < 6; ++j) of.values[next++] = (i == j ? 1.0 : 2.0) * x[i] * x[j];
    }
    return of;
  }
  [[nodiscard]] double at(const Quadratic& powers) const {
    std::array<double, 4> sums{};  // side by side
    for (std::size_t k = 0; k < values.size(); k += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += values[k + lane] * powers.values[k + lane];
    return std::max((sums[0] + sums[1]) + (sums[2] + sums[3]), 0.0);
  }
};

/// The least squares problem of one mean.
class AverageSolver {
 public:
  AverageSolver(std::span<const Transform> poses, std::span<const Covariance> covariances)
      : poses_(poses), weights_(inverted(covariances)), is_given_(!covariances.empty()), looks_(poses.size()) {
    if (!is_given_) weights_.resize(1);
    quadratics_.reserve(poses.size());
  }

  [[nodiscard]] PoseAverage solve() {
    PoseAverage out;
    out.mean = start();
    out.rounds = iterate(out.mean, true);
    set_used(out.mean);
    is_weighed_ = true;
    out.rounds += iterate(out.mean, false);
    collect(out);
    return out;
  }

 private:
  /// A pose in the course of the iteration.
  struct Look {
    Vector6 residual{};
    Upper6 jacobian{};
    bool is_used = true;
  };

  [[nodiscard]] const Matrix6& weight(std::size_t i) const { return weights_[is_given_ ? i : 0]; }
  [[nodiscard]] Vector6 residual(std::size_t i, const Transform& mean) const { return values_of(between(poses_[i], mean).log()); }

  /// The pose with the least median distance to the others.
  [[nodiscard]] Transform start() const {
    const std::vector<std::size_t> tried = spaced(poses_.size(), kMostStarts), others = spaced(poses_.size(), kMostOthers);
    std::vector<double> scores(tried.size(), 0.0), squares(others.size()), lengths[2] = {squares, squares};
    std::vector<double> medians[2] = {scores, scores};
    for (std::size_t t = 0; t < tried.size(); ++t) {
      for (std::size_t o = 0; o < others.size(); ++o) {
        const Tangent apart = between(poses_[others[o]], poses_[tried[t]]).log();
        if (is_given_) squares[o] = square_in(weight(others[o]), values_of(apart));
        lengths[0][o] = norm(apart.translation);
        lengths[1][o] = norm(apart.rotation);
      }
      if (is_given_) scores[t] = median_of(squares);
      for (std::size_t part = 0; part < 2; ++part) medians[part][t] = median_of(lengths[part]);
    }
    for (std::size_t part = 0; part < 2 && !is_given_; ++part) {
      double mean = 0.0;
      for (const double one : medians[part]) mean += one / static_cast<double>(tried.size());
      for (std::size_t t = 0; t < tried.size(); ++t) scores[t] += medians[part][t] / std::max(mean, kLeastSpread);
    }
    return poses_[tried[static_cast<std::size_t>(std::ranges::min_element(scores) - scores.begin())]];
  }

  /// Improves the mean until it stays; how many rounds that took. The residuals are linear in a step of the mean, to first
  /// order: the robust weights are iterated on that model, which costs little, before the residuals are evaluated again.
  int iterate(Transform& mean, bool is_robust) {
    int done = 0;
    for (int round = 0; round < kMostAverageRounds; ++round) {
      for (std::size_t i = 0; i < looks_.size(); ++i) {
        looks_[i].residual = residual(i, mean);
        looks_[i].jacobian = inverse_right_jacobian(tangent_of(looks_[i].residual));
      }
      Vector6 step{};
      done += find_step(is_robust, step);
      const double turn = std::sqrt(step[3] * step[3] + step[4] * step[4] + step[5] * step[5]);
      const double share = turn > 1.0 ? 1.0 / turn : 1.0;
      double longest = 0.0;
      Vector6 scaled_step;
      for (std::size_t i = 0; i < 6; ++i) {
        longest = std::max(longest, std::abs(step[i]));
        scaled_step[i] = share * step[i];
      }
      mean = mean * Transform::exp(tangent_of(scaled_step));
      mean.rotation = mean.rotation.normalized();
      const Vector3& t = mean.translation;
      const double size = 1.0 + std::max({std::abs(t.x), std::abs(t.y), std::abs(t.z)});
      if (!(longest >= (is_robust ? kRoughlyAveraged : kAveraged) * size)) break;
    }
    return done;
  }

  /// The step of the mean that is best for residuals r + J step; how many rounds that took.
  int find_step(bool is_robust, Vector6& step) {
    for (int done = 1; done <= kMostAverageRounds; ++done) {
      const bool weighs_anew = !is_given_ && !is_weighed_;
      if (weighs_anew) weigh(step);
      if (done == 1 || weighs_anew) prepare();
      Quadratic total;
      const Quadratic powers = Quadratic::powers(step);
      for (std::size_t i = 0; i < looks_.size(); ++i)
        if (looks_[i].is_used)
          total.add(is_robust ? 1.0 / (1.0 + quadratics_[i].at(powers) / (kCauchy * kCauchy)) : 1.0, quadratics_[i]);
      const Vector6 better = total.least();
      double change = 0.0;
      for (std::size_t k = 0; k < 6; ++k) change = std::max(change, std::abs(better[k] - step[k]));
      step = better;
      if (!is_robust || !(change >= kRoughlyAveraged)) return done;
    }
    return kMostAverageRounds;
  }

  static Vector6 moved(const Look& look, const Vector6& step) {
    return values_of(tangent_of(look.residual) + product(look.jacobian, tangent_of(step)));
  }

  void prepare() {
    quadratics_.clear();
    for (std::size_t i = 0; i < looks_.size(); ++i) quadratics_.emplace_back(looks_[i].residual, looks_[i].jacobian, weight(i));
  }

  /// One covariance for all, of the size that the medians of the residuals have.
  void weigh(const Vector6& step) {
    std::vector<double> lengths[2];
    for (const Look& look : looks_) {
      const Tangent apart = tangent_of(moved(look, step));
      lengths[0].push_back(norm(apart.translation));
      lengths[1].push_back(norm(apart.rotation));
    }
    weights_[0].fill(0.0);
    for (std::size_t part = 0; part < 2; ++part) {
      const double deviation = std::max(median_of(lengths[part]) / kMedianLength, kLeastSpread);
      for (std::size_t i = 3 * part; i < 3 * part + 3; ++i) weights_[0][7 * i] = 1.0 / (deviation * deviation);
    }
  }

  [[nodiscard]] double square_distance(std::size_t i, const Transform& mean) const {
    return std::max(square_in(weight(i), residual(i, mean)), 0.0);
  }

  /// Which poses are no outliers. Where more than half of them would be some, the covariances are too small by a factor: that
  /// of the median.
  void set_used(const Transform& mean) {
    std::vector<double> squares;
    for (std::size_t i = 0; i < looks_.size(); ++i) squares.push_back(square_distance(i, mean));
    std::size_t near = 0;
    for (std::size_t i = 0; i < looks_.size(); ++i) near += (looks_[i].is_used = squares[i] < kGate) ? 1 : 0;
    if (2 * near >= looks_.size()) return;
    std::vector<double> sorted = squares;
    const double most = kGate * median_of(sorted) / kMedianSquare;
    for (std::size_t i = 0; i < looks_.size(); ++i) looks_[i].is_used = squares[i] <= most;
  }

  void collect(PoseAverage& out) {
    Matrix6 normal{};
    std::vector<Matrix6> columns(looks_.size());
    for (std::size_t i = 0; i < looks_.size(); ++i) {
      Look& look = looks_[i];
      look.residual = residual(i, out.mean);
      look.jacobian = inverse_right_jacobian(tangent_of(look.residual));
      columns[i] = weighted_columns(look.jacobian, weight(i));
      if (!look.is_used) continue;
      const Matrix6 own = product(columns[i], look.jacobian);
      for (std::size_t k = 0; k < 36; ++k) normal[k] += own[k];
    }
    out.inverse_information = symmetric_inverse(normal);
    out.parts.resize(looks_.size());
    for (std::size_t i = 0; i < looks_.size(); ++i) {
      const Look& look = looks_[i];
      PoseAverage::Part& part = out.parts[i];
      part.residual = look.residual;
      part.distance = std::sqrt(std::max(square_in(weight(i), look.residual), 0.0));
      part.is_used = look.is_used;
      if (!look.is_used) continue;
      // The pose with an error e is T Exp(e): its residual changes by -Ad(x^-1 T) e up to first order, that is -J(-r) e.
      const Tangent r = tangent_of(look.residual);
      const Upper6 back = inverse_right_jacobian(Tangent{-r.translation, -r.rotation});
      part.gain = product(armillary::product(out.inverse_information, columns[i]), back);
    }
  }

  std::span<const Transform> poses_;
  std::vector<Matrix6> weights_;  // inverse covariances: one for each pose, or one for all
  const bool is_given_;
  bool is_weighed_ = false;  // the one for all stays
  std::vector<Look> looks_;
  std::vector<Quadratic> quadratics_;  // of the looks
};

}  // namespace

PoseAverage average_poses(std::span<const Transform> poses, std::span<const Covariance> covariances) {
  return AverageSolver(poses, covariances).solve();
}

}  // namespace armillary
