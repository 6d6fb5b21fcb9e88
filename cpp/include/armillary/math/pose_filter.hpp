#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "armillary/math/transform.hpp"

namespace armillary {

/// A tangent as numbers: translation, then rotation; of a velocity: linear, then angular.
using Tangent6 = std::array<double, 6>;

/// How a body is expected to move, and which measurements are believed.
struct FilterModel {
  Tangent6 acceleration{};          ///< density of the white acceleration: variance of the change of speed in a second
  Tangent6 first_speed{};           ///< variance of the speed before anything was measured of it
  std::array<double, 7> gates{};    ///< by the number of measured values: the largest squared distance that is believed
  std::int64_t restart_ns = 0;      ///< a source whose poses are rejected for this long ...
  std::uint32_t restart_count = 0;  ///< ... and so often in a row is believed after all, and the filter begins anew
};

/// One measurement of a pose with all six values, or of a velocity with the values that are not NaN.
struct FilterMeasurement {
  std::int64_t stamp_ns = 0;
  std::uint32_t source = 0;
  bool is_velocity = false;
  Transform pose{};
  Tangent6 velocity{};
  std::array<double, 36> covariance{};  ///< in the tangent of the pose; of a velocity of its measured values

  /// To the last bit, so that NaN equals itself.
  friend bool operator==(const FilterMeasurement& a, const FilterMeasurement& b) {
    const auto same = [](const auto& x, const auto& y) { return std::memcmp(&x, &y, sizeof x) == 0; };
    return a.stamp_ns == b.stamp_ns && a.source == b.source && a.is_velocity == b.is_velocity && same(a.pose, b.pose) &&
           same(a.velocity, b.velocity) && same(a.covariance, b.covariance);
  }
};

enum class FilterOutcome : std::uint8_t { skipped, started, used, rejected, restarted };

/// The estimate at an instant: T = pose Exp(xi), v = velocity + eta, (xi, eta) with this covariance, row-major 12x12.
struct FilterEstimate {
  Transform pose{};
  Tangent6 velocity{};
  std::array<double, 144> covariance{};
};

/// What became of measurements.
struct FilterSummary {
  std::size_t used = 0;
  std::int64_t last_used_ns = 0;
  std::vector<std::uint32_t> sources{};              ///< of those used, each once, in their order
  std::vector<std::size_t> rejected{}, restarted{};  ///< by their places
  std::size_t judged = 0;                            ///< poses that were compared with a prediction, and used
  double distances2 = 0.0;                           ///< of these, added up
};

/// Error-state filter of one frame with constant velocity. It keeps the estimate after every measurement, so that late
/// ones are inserted where they belong: the result is a function of the sequence of measurements alone.
class PoseFilter {
 public:
  explicit PoseFilter(const FilterModel& model) : model_(model) {}

  /// Forgets all but the first `count` measurements. O(dropped).
  void keep(std::size_t count);
  /// Takes the next measurement, not older than the last one. O(1): some thousand operations.
  void add(const FilterMeasurement& measurement);

  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] const FilterMeasurement& measurement(std::size_t k) const { return measurements_[k]; }
  [[nodiscard]] FilterOutcome outcome(std::size_t k) const { return steps_[k].outcome; }
  /// The squared distance of a measurement from what was predicted, in standard deviations of both.
  [[nodiscard]] double distance2(std::size_t k) const { return steps_[k].distance2; }
  /// What became of the first `count` measurements.
  [[nodiscard]] FilterSummary summary(std::size_t count) const;

  /// How many measurements are not after an instant. O(log n).
  [[nodiscard]] std::size_t count_until(std::int64_t stamp_ns) const;
  /// Whether the first `count` measurements determine an estimate.
  [[nodiscard]] bool is_started(std::size_t count) const { return count > 0 && steps_[count - 1].is_started; }
  /// The estimate at an instant from the first `count` measurements, which are not after it.
  [[nodiscard]] FilterEstimate estimate(std::size_t count, std::int64_t stamp_ns) const;

 private:
  /// How often the poses of one source were rejected in a row, and since when.
  struct Rejections {
    std::uint32_t source = 0, count = 0;
    std::int64_t since_ns = 0;
  };
  /// What became of a measurement, and the estimate after it.
  struct Step {
    FilterOutcome outcome = FilterOutcome::skipped;
    bool is_started = false;
    double distance2 = 0.0;
    FilterEstimate after{};
    std::vector<Rejections> rejections{};
  };

  void take(const FilterMeasurement& measurement, Step& step) const;
  void start(Step& step, const FilterMeasurement& measurement) const;
  [[nodiscard]] bool is_to_restart(Step& step, const FilterMeasurement& measurement) const;

  FilterModel model_;
  std::vector<FilterMeasurement> measurements_{};  // apart from the steps: they are compared with those that come next
  std::vector<Step> steps_{};                      // one for each
};

}  // namespace armillary
