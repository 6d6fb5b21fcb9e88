#pragma once

#include <string>
#include <vector>

#include "armillary/ids.hpp"
#include "armillary/stamp.hpp"

namespace armillary {

enum class FailureKind {
  none,
  unknown_frame,
  not_connected,
  before_history,
  after_history,
  single_sample,
  no_samples,
  ambiguous_path,
  frame_loop,
  frame_in_use,
  frame_in_itself,
  stamp_not_a_sample,
  too_far_ahead,
  limit_reached,
  closed,
};

/// Why a call could not be answered, with its evidence. A value: making one costs nothing.
struct Failure {
  FailureKind kind = FailureKind::none;
  FrameId of = kNone;           ///< the frame asked for; for a contested or missing frame, that frame
  FrameId in_frame = kNone;     ///< the frame it was asked in
  RelationId relation = kNone;  ///< the edge that lacks data
  RelationId limiting = kNone;  ///< with LATEST: the edge whose newest sample set the time
  Stamp requested{};
  Stamp first{};  ///< what the edge holds
  Stamp last{};
  std::size_t row = 0;                 ///< of a batch: the first row at fault
  std::vector<FrameId> path{};         ///< of a loop, or the frames that hang under a removed one
  std::vector<RelationId> rivals{};    ///< of a contested frame
  std::string name{};                  ///< of a frame that does not exist

  explicit operator bool() const { return kind != FailureKind::none; }
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
