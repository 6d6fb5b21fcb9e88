#pragma once

#include <concepts>

#include "armillary/math/transform.hpp"

// The rule of bodies: within a body nothing moves. The forest refuses what breaks it, the change log decides what is inactive.

namespace armillary {

/// Where a frame of a body is, in another frame of it. `Parent` is how that one is called.
template <std::equality_comparable Parent>
struct PlaceInBody {
  const Parent& in_frame;
  const Transform* pose;  ///< null: it is sampled or driven
};

/// Whether two constant poses are one: restating it does no harm.
[[nodiscard]] inline bool is_same_place(const Transform& a, const Transform& b) {
  constexpr double kSameM = 1e-9, kSameRad = 1e-9;
  return norm(a.translation - b.translation) <= kSameM && a.rotation.angle_to(b.rotation) <= kSameRad;
}

/// Whether a frame that is in a body at one place cannot be at another as well.
template <typename Parent>
[[nodiscard]] bool contradict(const PlaceInBody<Parent>& a, const PlaceInBody<Parent>& b) {
  return a.pose == nullptr || b.pose == nullptr || a.in_frame != b.in_frame || !is_same_place(*a.pose, *b.pose);
}

}  // namespace armillary
