#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "armillary/graph/ids.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary {

enum class FailureKind {
  none,
  unknown_frame,
  not_connected,
  before_history,
  after_history,
  single_sample,
  no_samples,
  not_received,
  ambiguous_path,
  frame_loop,
  frame_in_use,
  frame_in_itself,
  stamp_not_a_sample,
  not_a_pose,
  limit_reached,
  closed,
  not_a_twist,
  no_velocity,
  constant_in_body,
  moves_in_body,
  placed_by_node,
  on_other_body,
  relative_to_itself,
  too_many_paths,
  other_variable,
  part_of_rotation,
  not_a_position,
  open_loop,
  unknown_source,
  unknown_covariance,
};

/// Why a call could not be answered: what was asked, what is true.
struct Evidence {
  FailureKind kind = FailureKind::none;
  FrameId of = kNone;           ///< the frame asked for; for a contested or missing frame, that frame
  FrameId in_frame = kNone;     ///< the frame it was asked in
  RelationId relation = kNone;  ///< the edge that lacks data
  RelationId limiting = kNone;  ///< with LATEST: the edge whose newest sample set the time
  Stamp requested{};
  Stamp first{};  ///< what the edge holds
  Stamp last{};
  FrameId ended = kNone;                                 ///< where frames are not connected: the one that was closed, at `last`
  std::int64_t horizon_ns = -1;                          ///< set where a prediction would reach further than it may
  std::int64_t hold_up_to_ns = -1;                       ///< set where the nearest sample is further away than is held
  bool about_twist = false;                              ///< the relation, or the rivals, are twists
  std::size_t row = 0;                                   ///< of a batch: the first row at fault
  std::size_t edit = 0;                                  ///< of a transaction: the edit at fault
  std::size_t limit = 0;                                 ///< that was reached
  std::uint64_t demand = 0;                              ///< the number of the demand for what is not received
  std::vector<FrameId> path{};                           ///< of a cycle, or the frames below a removed one
  std::string name{};                                    ///< of a frame that does not exist, or of the body at hand
  std::string other{};                                   ///< the body that a frame is on instead
  std::string joint{};                                   ///< the variable that lacks data, or is at fault
  std::vector<RelationId> relations{};                   ///< whose covariance is unknown
  std::vector<std::pair<FrameId, std::string>> names{};  ///< of frames in a refused transaction, which may be gone with it
};

/// A failure as a value: true where there is one. Success costs a null pointer.
class Failure {
 public:
  Failure() = default;
  Failure(Evidence evidence) : evidence_(std::make_unique<Evidence>(std::move(evidence))) {}

  explicit operator bool() const { return evidence_ != nullptr; }
  [[nodiscard]] FailureKind kind() const { return evidence_ ? evidence_->kind : FailureKind::none; }
  [[nodiscard]] const Evidence* operator->() const { return evidence_.get(); }
  [[nodiscard]] Evidence* operator->() { return evidence_.get(); }
  [[nodiscard]] const Evidence& operator*() const { return *evidence_; }

 private:
  std::unique_ptr<Evidence> evidence_;
};

[[nodiscard]] const char* to_string(FailureKind kind);

/// Whether data or structure that arrives later can turn this failure into an answer.
[[nodiscard]] bool may_pass(FailureKind kind);

/// A value, or the reason why there is none.
template <typename T>
struct Result {
  T value{};
  Failure failure{};

  explicit operator bool() const { return !failure; }
};

}  // namespace armillary
