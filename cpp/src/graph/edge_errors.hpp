#pragma once

// What the pose and the motion of one edge owe to the errors of its samples.

#include <optional>

#include "armillary/graph/path.hpp"
#include "graph/edge_twist.hpp"
#include "graph/error_list.hpp"

namespace armillary {

/// An edge at one instant, and the rows it was evaluated from.
struct EdgePose {
  const PathEdge& edge;
  Stamp at;
  const Bracket& rows;  ///< of a sampled edge
  const Evaluation& pose;
  const QueryContext& context;
  const std::optional<Covariance>& fallback;  ///< of samples that come without a covariance
};

/// Of the pose: one error of a fixed pose or of a sample, or those of both samples that it is interpolated from.
void add_pose_errors(const EdgePose& here, ErrorList& errors);

/// Of the pose and of the derivative between two rows around it, whose body form is `motion`.
void add_derivative_errors(const EdgePose& here, const Bracket& differentiated, const Velocity& motion, ErrorList& errors);

/// Of the pose and of the difference between two others of the same edge, whose body form is `motion`.
void add_difference_errors(const EdgePose& here, const EdgePose& from, const EdgePose& to, const Velocity& motion,
                           ErrorList& errors);

/// Of the pose and of a measured motion, whose body form is `motion`; those of the poses that carried it to the edge apart.
void add_measured_errors(const EdgePose& here, const EdgeTwist& twist, const Velocity& motion, ErrorList& errors);

/// Of the pose and of the motion of an edge that joints drive.
void add_joint_errors(const EdgePose& here, ErrorList& errors);

/// Of the body form of what was measured; those of the turn from other axes apart.
void add_reading_errors(const TwistReading& reading, Stamp at, ErrorList& errors);

}  // namespace armillary
