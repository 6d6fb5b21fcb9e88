#pragma once

// The errors that an answer about motion depends on: those of samples, of fixed poses, of measured twists.

#include <vector>

#include "armillary/graph/ids.hpp"
#include "armillary/series/stamp.hpp"
#include "math/upper6.hpp"

namespace armillary {

/// One error, and how the pose and the motion of an edge move with it. The motion is the body form, the pose's error is
/// on its right. Relation and stamp name the error, or where it is one of a row of joints the row, and which part of it:
/// the same one may be in several places.
struct ErrorEffect {
  RelationId relation = kNone;
  Stamp stamp;
  const void* row = nullptr;
  std::size_t part = 0;
  Symmetric6 covariance;
  Upper6 on_pose, on_motion;
};

struct ErrorList {
  std::vector<ErrorEffect> effects;
  bool is_known = true;  ///< false: nobody knows how large one of them is, and the list is of no use

  void clear() {
    effects.clear();
    is_known = true;
  }
  ErrorEffect& add(RelationId relation, Stamp stamp, const Symmetric6& covariance) {
    ErrorEffect& effect = effects.emplace_back();
    effect.relation = relation;
    effect.stamp = stamp;
    effect.covariance = covariance;
    return effect;
  }
};

}  // namespace armillary
