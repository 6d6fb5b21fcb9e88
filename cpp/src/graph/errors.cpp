#include "armillary/graph/errors.hpp"

namespace armillary {

const char* to_string(FailureKind kind) {
  switch (kind) {
    case FailureKind::none:
      return "no failure";
    case FailureKind::unknown_frame:
      return "unknown frame";
    case FailureKind::not_connected:
      return "frames are not connected";
    case FailureKind::before_history:
      return "asked before the history of an edge";
    case FailureKind::after_history:
      return "asked after the history of an edge";
    case FailureKind::single_sample:
      return "the edge holds a single sample at another stamp";
    case FailureKind::no_samples:
      return "the edge holds no samples";
    case FailureKind::not_received:
      return "the samples of the edge are not received at present";
    case FailureKind::ambiguous_path:
      return "two sources claim a frame on the path";
    case FailureKind::frame_loop:
      return "the relation would close a loop";
    case FailureKind::frame_in_use:
      return "other frames are below this one";
    case FailureKind::frame_in_itself:
      return "a frame cannot be placed in itself";
    case FailureKind::stamp_not_a_sample:
      return "the stamp is outside the range of samples";
    case FailureKind::not_a_pose:
      return "a pose needs finite numbers and a unit quaternion";
    case FailureKind::limit_reached:
      return "a configured limit is reached";
    case FailureKind::closed:
      return "the world is closed";
    case FailureKind::not_a_twist:
      return "a twist needs finite numbers";
    case FailureKind::no_velocity:
      return "a computed pose has no velocity of its own: give a window to differentiate over";
    case FailureKind::constant_in_body:
      return "both frames are on one body, whose poses are constant";
    case FailureKind::moves_in_body:
      return "two frames of a body are joined by a relation that can move";
    case FailureKind::placed_by_node:
      return "a node of the scene is always somewhere: it can be moved, or fixed elsewhere from an instant on";
    case FailureKind::on_other_body:
      return "the frame is on another body";
    case FailureKind::relative_to_itself:
      return "a body does not move relative to itself";
    case FailureKind::too_many_paths:
      return "more paths join the frames than are looked at";
    case FailureKind::other_variable:
      return "the joint is known as one of another kind, or a rotation has not four parts in a row";
    case FailureKind::part_of_rotation:
      return "the four parts of a rotation are given together";
    case FailureKind::not_a_position:
      return "a joint needs finite numbers, and a rotation a unit quaternion";
    case FailureKind::open_loop:
      return "joints do not close the loop that the edge is part of";
    case FailureKind::unknown_source:
      return "no such source places the frame";
    case FailureKind::unknown_covariance:
      return "no path has a covariance on every edge";
  }
  return "unknown failure";
}

bool may_pass(FailureKind kind) {
  switch (kind) {
    case FailureKind::unknown_frame:
    case FailureKind::not_connected:
    case FailureKind::before_history:
    case FailureKind::after_history:
    case FailureKind::single_sample:
    case FailureKind::no_samples:
    case FailureKind::not_received:
      return true;
    default:
      return false;
  }
}

}  // namespace armillary
