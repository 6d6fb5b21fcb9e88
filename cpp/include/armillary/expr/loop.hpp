#pragma once

#include <string>

#include "armillary/expr/tape.hpp"

namespace armillary {

/// Numbers that must be zero, and the positions that see to it: the dependents, which stand behind all others.
///
/// Newton's method from where they are, in the sense of least squares: there may be more equations than dependents. Where that
/// might lead to another branch, in steps small enough to stay on the present one.
class Loop {
 public:
  static constexpr double kClosed = 1e-9;

  /// `residual`: from all positions to what is zero. `slope`: from the same to its derivative along the dependents,
  /// row-major. They must fit together: see `fits`.
  Loop(Tape residual, Tape slope) : residual_(std::move(residual)), slope_(std::move(slope)) {}

  [[nodiscard]] static bool fits(const Tape& residual, const Tape& slope);

  [[nodiscard]] const Tape& residual() const { return residual_; }
  [[nodiscard]] const Tape& slope() const { return slope_; }
  [[nodiscard]] std::size_t dependents() const { return slope_.outputs() / residual_.outputs(); }
  /// Moves the dependents to where the loop is closed. False: it stays open by more than `kClosed`.
  [[nodiscard]] bool close(double* positions) const;
  [[nodiscard]] std::string description() const;

 private:
  [[nodiscard]] bool close_nearby(double* positions) const;
  [[nodiscard]] bool close_by_continuation(double* positions) const;

  Tape residual_, slope_;
};

}  // namespace armillary
