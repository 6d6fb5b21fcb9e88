#pragma once

// The motion of an edge as somebody measured it: of its child, of another frame on one of the two bodies, either way round.

#include "motion.hpp"

namespace armillary {

/// Who is to be believed about the motion of an edge, and where on the bodies it was measured.
struct EdgeTwist {
  const TwistLink* link = nullptr;  ///< null: nobody says anything, or several do
  bool is_contested = false;        ///< several do, and nothing decides
  bool is_reverse = false;          ///< its head is on the parent's body, and moves relative to the child's
  Transform own_T_head{};           ///< its head, seen from the edge's frame on the same body
  bool is_exact = true;             ///< that is

  explicit operator bool() const { return link != nullptr; }

  /// The body form of the edge's child relative to its parent.
  [[nodiscard]] MeasuredTwist read(Stamp at, const Evaluation& parent_T_child) const;
};

/// Among those who cover `at`, and whose frame hangs together with the edge: the preferred one, else the only one.
[[nodiscard]] EdgeTwist twist_of(const PathEdge& edge, Stamp at, const QueryContext& context);

}  // namespace armillary
