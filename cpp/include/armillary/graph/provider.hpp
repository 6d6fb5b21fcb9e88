#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "armillary/graph/errors.hpp"
#include "armillary/graph/query.hpp"

namespace armillary {

class Variables;
struct RowError;
struct VariableError;

/// The instants a provider can answer for, ends included.
struct Coverage {
  Stamp first = Stamp::never();
  Stamp last = Stamp::always();

  [[nodiscard]] bool empty() const { return last < first; }
};

/// A pose that is computed when it is asked: a joint, a mechanism.
///
/// Called by readers without a lock, from several threads at once; it must not ask the forest itself. When its
/// coverage grows, its owner notifies the forest (`Forest::driven_changed`), which wakes who waits for it. It is
/// destroyed under the forest's writer lock, some time after the last reader left.
class DrivenProvider {
 public:
  DrivenProvider() = default;
  virtual ~DrivenProvider() = default;
  DrivenProvider(const DrivenProvider&) = delete;
  DrivenProvider& operator=(const DrivenProvider&) = delete;

  [[nodiscard]] virtual Coverage coverage() const = 0;

  /// The newest datum; where what was left holds without an end that is before the end of the coverage.
  [[nodiscard]] virtual Stamp newest() const { return coverage().last; }

  /// Value at `at`. Returns `none`, or before/after_history, single_sample, no_samples, ambiguous_path.
  [[nodiscard]] virtual FailureKind evaluate(Stamp at, const QueryContext& context, Evaluation& out) const = 0;

  /// Its motion at `at` in the body form; `no_velocity` where it has none of its own, and poses are to be differentiated.
  [[nodiscard]] virtual FailureKind velocity(Stamp at, const QueryContext& context, Velocity& out) const {
    (void)at, (void)context, (void)out;
    return FailureKind::no_velocity;
  }

  /// The errors of what drives it, with their effects in the tangent of the child: others may be driven by the same.
  virtual void add_errors(Stamp at, const QueryContext& context, std::vector<VariableError>& out) const {
    (void)at, (void)context, (void)out;
  }

  /// The errors of the rows that the pose, and its motion where that is wanted, were read from; false: nobody knows how
  /// large one of them is.
  [[nodiscard]] virtual bool add_row_errors(Stamp at, const QueryContext& context, bool with_motion,
                                            std::vector<RowError>& out) const {
    (void)at, (void)context, (void)with_motion, (void)out;
    return false;
  }

  /// Whether the coverage of something that drives it has ended before an instant.
  [[nodiscard]] virtual bool has_ended_before(Stamp at) const {
    (void)at;
    return false;
  }

  /// Adds what of that is not received.
  virtual void add_demands(Stamp at, const QueryContext& context, std::uint64_t& number) const {
    (void)at, (void)context, (void)number;
  }

  /// What is missing at `failure.requested`, as evidence.
  virtual void explain(Evidence& failure) const { (void)failure; }

  /// Whether what would be needed for `at` comes too late by now.
  [[nodiscard]] virtual bool has_forgotten(Stamp at) const {
    (void)at;
    return false;
  }

  /// A copy that is driven by the variables of another forest; null where it is not driven by variables.
  [[nodiscard]] virtual std::shared_ptr<DrivenProvider> driven_by(const Variables& variables) const {
    (void)variables;
    return nullptr;
  }
};

/// What a relation counts among those of other sources: `fallback` answers where no other is open, `statement` is preferred by
/// itself while it is open. `identity`: what is in something without a pose of its own is where that is, as `plain`; but a
/// fallback says where it was put.
enum class Rank : std::uint8_t { fallback, plain, statement, identity };

/// A pose that never changes.
struct FixedPose {
  Transform value{};
  Covariance covariance{};
  Certainty certainty = Certainty::exact;  ///< without a covariance a fixed pose is exact
};

}  // namespace armillary
