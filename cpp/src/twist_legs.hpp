#pragma once

// One leg of a question about motion: how one end of a path moves relative to the other.

#include "legs.hpp"
#include "motion.hpp"

namespace armillary {

/// Which ways of knowing a velocity were taken.
struct MethodsUsed {
  bool measured = false, joints = false, differentiated = false;

  void add(TwistMethod method);
  [[nodiscard]] TwistMethod together() const;
};

struct TwistLeg {
  Transform in_T_of{};
  Velocity velocity{};  ///< of `of`'s origin relative to `in_frame`, along the axes of `in_frame`
  MethodsUsed methods{};
  Certainty certainty = Certainty::exact;  ///< of poses and motions together
  bool held = false;
  bool predicted = false;
  bool timeless = true;
};

/// Evaluates the edges of a path that was found, poses and motions in one pass. `motions` then holds them, `up` then
/// `down`, as long as all of them are certain; `twists` the measured relations that were used.
[[nodiscard]] Failure evaluate_twist_leg(const Path& path, Stamp at, const MotionContext& context, Scratch& scratch,
                                         std::vector<Motion>& motions, RelationList& twists, TwistLeg& leg);

}  // namespace armillary
