#pragma once

// The motion of an edge as somebody measured it: of its child, of another frame on one of the two bodies, either way round.

#include "armillary/graph/path.hpp"
#include "graph/twist_reading.hpp"
#include "math/upper6.hpp"

namespace armillary {

/// Who is to be believed about the motion of an edge, and where on the bodies it was measured.
struct EdgeTwist {
  TwistReading reading{};     ///< without a link: nobody says anything, or several do
  bool is_contested = false;  ///< several do, and nothing decides
  bool is_reverse = false;    ///< its head is on the parent's body, and moves relative to the child's
  FrameId own = kNone;        ///< the edge's frame on the body of its head
  Transform own_T_head{};

  explicit operator bool() const { return reading.link != nullptr; }
  [[nodiscard]] bool is_mounted_elsewhere() const { return reading.link->head != own; }

  /// The body form of the edge's child relative to its parent.
  [[nodiscard]] Velocity body_form(const Transform& parent_T_child) const;
  /// How that moves with the body form of the head.
  [[nodiscard]] Upper6 by_reading(const Transform& parent_T_child) const;

 private:
  [[nodiscard]] Transform child_T_head(const Transform& parent_T_child) const {
    return is_reverse ? between(parent_T_child, own_T_head) : own_T_head;
  }
};

/// Among those who cover `at`, and whose frame hangs together with the edge: the preferred one, else the only one.
[[nodiscard]] EdgeTwist twist_of(const PathEdge& edge, Stamp at, const QueryContext& context);

}  // namespace armillary
