#pragma once

#include <vector>

#include "armillary/expr/loop.hpp"
#include "armillary/expr/tape.hpp"
#include "armillary/graph/joint_motion.hpp"
#include "armillary/graph/variable_reading.hpp"

namespace armillary {

/// A pose that positions drive, and whose velocity is linear in velocities.
class DrivenLink : public DrivenProvider {
 public:
  DrivenLink(std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities);

  [[nodiscard]] std::span<const VariablePtr> positions() const { return positions_; }
  [[nodiscard]] std::span<const VariablePtr> velocities() const { return velocities_; }

  [[nodiscard]] FailureKind evaluate(Stamp at, const QueryContext& context, Evaluation& out) const override;
  [[nodiscard]] FailureKind velocity(Stamp at, const QueryContext& context, Velocity& out) const override;
  void add_errors(Stamp at, const QueryContext& context, std::vector<VariableError>& out) const override;
  [[nodiscard]] bool add_row_errors(Stamp at, const QueryContext& context, bool with_motion,
                                    std::vector<RowError>& out) const override;

  [[nodiscard]] Coverage coverage() const override;
  [[nodiscard]] Stamp newest() const override;
  void explain(Evidence& failure) const override;
  [[nodiscard]] bool has_ended_before(Stamp at) const override;
  void add_demands(Stamp at, const QueryContext& context, std::uint64_t& number) const override;
  [[nodiscard]] bool has_forgotten(Stamp at) const override;

 protected:
  [[nodiscard]] virtual Transform pose(const double* positions) const = 0;
  [[nodiscard]] virtual Velocity body_velocity(const double* positions, const double* velocities) const = 0;
  /// Row-major 6 x n into `out`, for the n velocities.
  virtual void body_jacobian(const double* positions, double* out) const = 0;

  /// How many of the last positions follow from the others: those are only initial guesses.
  [[nodiscard]] virtual std::size_t dependents() const { return 0; }
  /// Moves these to where they must be; false where there is no such place.
  [[nodiscard]] virtual bool close_loop(double* positions) const {
    (void)positions;
    return true;
  }

 private:
  [[nodiscard]] bool has_all_columns() const;
  [[nodiscard]] std::span<const Variable* const> free_positions() const;
  void add_effects(const double* positions, std::span<VariableError> errors) const;
  [[nodiscard]] std::array<double, 6> motion_along(std::size_t position, const double* positions, const double* velocities) const;

  std::vector<VariablePtr> positions_, velocities_;
  std::vector<const Variable*> read_, read_velocities_;
  std::vector<std::uint32_t> columns_;  // of the Jacobian, for each position; kNone: none
};

/// Adds what the errors of one instant do together.
void add_covariance(std::span<const VariableError> errors, Covariance& sum);

/// The variables of the same names.
[[nodiscard]] std::vector<VariablePtr> counterparts(std::span<const VariablePtr> of, const Variables& variables);

/// A joint with a closed form.
class JointLink final : public DrivenLink {
 public:
  /// As many variables as the motion has.
  JointLink(const JointMotion& motion, const std::vector<VariablePtr>& variables);

  [[nodiscard]] std::shared_ptr<DrivenProvider> driven_by(const Variables& variables) const override;

 private:
  [[nodiscard]] Transform pose(const double* positions) const override { return motion_.pose(positions); }
  [[nodiscard]] Velocity body_velocity(const double* positions, const double* velocities) const override {
    return motion_.body_velocity(positions, velocities);
  }
  void body_jacobian(const double* positions, double* out) const override;

  JointMotion motion_;
};

/// A pose as compiled expressions. Its velocity has a tape of its own: an augmented gradient is not the derivative of the
/// value.
class TapeLink : public DrivenLink {
 public:
  /// `value`: from positions to the rows of [R|t], twelve numbers. `jacobian`: to 6 x m, row-major, for the m velocities.
  TapeLink(Tape value, Tape jacobian, std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities);

  [[nodiscard]] std::shared_ptr<DrivenProvider> driven_by(const Variables& variables) const override;

 protected:
  [[nodiscard]] const Tape& value() const { return value_; }
  [[nodiscard]] const Tape& jacobian() const { return jacobian_; }

 private:
  [[nodiscard]] Transform pose(const double* positions) const override;
  [[nodiscard]] Velocity body_velocity(const double* positions, const double* velocities) const override;
  void body_jacobian(const double* positions, double* out) const override;

  Tape value_, jacobian_;
};

/// A pose in a kinematic loop. The dependents, the last of its positions, are sampled and then polished at every query: between
/// two samples of the drivers the loop is closed as it is at them. Its Jacobian is along the drivers alone.
class LoopLink final : public TapeLink {
 public:
  LoopLink(Loop loop, Tape value, Tape jacobian, std::vector<VariablePtr> positions, std::vector<VariablePtr> velocities);

  [[nodiscard]] std::shared_ptr<DrivenProvider> driven_by(const Variables& variables) const override;

 private:
  [[nodiscard]] std::size_t dependents() const override { return loop_.dependents(); }
  [[nodiscard]] bool close_loop(double* positions) const override { return loop_.close(positions); }

  Loop loop_;
};

}  // namespace armillary
