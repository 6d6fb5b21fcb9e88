#pragma once

// One leg of a question about motion: how one end of a path moves relative to the other.

#include "graph/evaluate.hpp"
#include "graph/motion.hpp"

namespace armillary {

/// Which ways of knowing a velocity were taken.
struct MethodsUsed {
  bool measured = false, joints = false, differentiated = false;

  void add(TwistMethod method);
  [[nodiscard]] TwistMethod together() const;
};

struct TwistSegment {
  Transform in_T_of{};
  Velocity velocity{};  ///< of `of`'s origin relative to `in_frame`, along the axes of `in_frame`
  MethodsUsed methods{};
  bool held = false;
  bool predicted = false;
  bool timeless = true;
};

/// Evaluates the edges of a path that was found, poses and motions in one pass, with what `scratch.readings` says of
/// them. `scratch.motions` then holds them, `up` then `down`, as long as all their errors are known and wanted; `twists`
/// the measured relations that were used.
[[nodiscard]] Failure evaluate_twist_segment(const Path& path, Stamp at, const MotionContext& context, Scratch& scratch,
                                             RelationList& twists, TwistSegment& segment);

/// Fills `scratch.readings` for the edges of a path, `up` then `down`. False where rivals say something of one of them,
/// and nothing decides: then the last one is that.
[[nodiscard]] bool read_twists(const Path& path, Stamp at, const QueryContext& context, Scratch& scratch);

}  // namespace armillary
