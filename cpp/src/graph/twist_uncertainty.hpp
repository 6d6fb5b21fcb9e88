#pragma once

// How uncertain a velocity is: first order in every error of a sample, a fixed pose or a measured twist that it is
// computed from.

#include <bitset>
#include <optional>
#include <vector>

#include "armillary/graph/ids.hpp"
#include "armillary/graph/path.hpp"
#include "armillary/series/stamp.hpp"
#include "graph/twist.hpp"
#include "math/upper6.hpp"

namespace armillary {

struct Scratch;
struct Segment;

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

// -- The errors of one edge

/// An edge at one instant, and the rows it was evaluated from.
struct EdgePose {
  const PathEdge& edge;
  Stamp at;
  const Bracket& rows;  ///< of a sampled edge
  const Evaluation& pose;
  const QueryContext& context;
  const std::optional<Covariance>& fallback;  ///< of samples that come without a covariance
};

/// Adds the errors of the pose: one of a fixed pose or of a sample, or those of both samples that it is interpolated from.
void add_pose_errors(const EdgePose& here, ErrorList& errors);

/// Adds the errors of the pose and of the derivative between two rows around it, whose body form is `motion`.
void add_derivative_errors(const EdgePose& here, const Bracket& differentiated, const Velocity& motion, ErrorList& errors);

/// Adds the errors of the pose and of the difference between two others of the same edge, whose body form is `motion`.
void add_difference_errors(const EdgePose& here, const EdgePose& from, const EdgePose& to, const Velocity& motion,
                           ErrorList& errors);

/// Adds the errors of the pose and of a measured motion, whose body form is `motion`; not those of the poses that carried it.
void add_measured_errors(const EdgePose& here, const EdgeTwist& twist, const Velocity& motion, ErrorList& errors);

/// Adds the errors of the pose and of the motion of an edge that joints drive.
void add_joint_errors(const EdgePose& here, ErrorList& errors);

/// Adds the errors of the body form of what was measured; not those of the rotation from other axes.
void add_reading_errors(const TwistReading& reading, Stamp at, ErrorList& errors);

// -- A chain of frames

/// Gathers how each error moves the answer. The answer is a sum of chains of frames; an error that is in several places
/// of them is one error, not several. Working memory of one thread, reused from question to question.
class TwistUncertainty {
 public:
  void clear();

  /// All that the answer depends on; filled by whoever evaluates edges.
  ErrorList errors;

  // -- One chain, step by step: from the frame whose axes the answer is along to the one whose origin it is of.

  void begin_chain() { steps_.clear(); }
  /// An edge; `first_further`: from there on the list has further errors of its motion.
  void append(const Motion& motion, bool upwards, std::size_t first_further);

  /// An edge of which only the pose counts, its errors last in the list from `first_error`.
  void append_pose(const Transform& parent_T_child, bool upwards, std::size_t first_error);

  /// A motion that is known where the chain has come to, its errors last in the list from `first_error`; that of what
  /// is above relative to what is below, where `upwards`.
  void append_motion(const Velocity& body_form, bool upwards, std::size_t first_error);

  /// The sum of the chain's motions at its end, along the axes of its begin, is a part of the answer.
  void end_chain();

  [[nodiscard]] Covariance total() const;

 private:
  /// Walked from child to parent where `upwards`.
  struct Step {
    bool upwards;
    Transform parent_T_child;
    Velocity body_form;  // of child relative to parent
    std::size_t first_error, after_error;
  };
  /// Where a step's child is.
  struct Spot {
    Rotation begin_R_child;
    Vector3 lever;          // to the chain's end, along the child's axes
    Velocity below;         // of the chain's end relative to the error's place, at the chain's end, along the child's axes
    Vector3 angular_above;  // of the error's place relative to the chain's begin, along the child's axes
  };
  struct Name {
    RelationId relation;
    Stamp stamp;
    const void* row;
    std::size_t part;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct Part {
    std::size_t error;
    Upper6 effect;
  };

  void locate();
  void spread(const Step& step, const Spot& spot);
  void add_part(std::size_t error, const Upper6& effect);
  [[nodiscard]] std::size_t find(const Name& name);

  std::vector<Step> steps_;
  std::vector<Spot> spots_;
  std::bitset<1024> marks_;  // of names that may be there
  std::vector<Name> names_;  // of the errors that the parts are of, apart for the search
  std::vector<Part> parts_;
};

// -- Paths as chains

/// As `evaluate_segment`, at one instant; the edges go into `scratch.uncertainty` as steps from `in_frame` to `of`, with their
/// errors. Leaves the path in `scratch.second`.
[[nodiscard]] Failure append_poses(const Topology& topology, FrameId of, FrameId in_frame, Stamp at, const QueryContext& context,
                                   const std::optional<Covariance>& fallback, Scratch& scratch, Segment& segment);

/// The motions of `scratch.path` as steps from `in_frame` to `of`.
void append_motions(const Topology& topology, Stamp at, const std::optional<Covariance>& fallback, Scratch& scratch);

/// Adds, where a twist was given along other axes, the errors of the poses that turned it, as they move its body form. Uses
/// `scratch.turning`.
void add_turn_errors(const Topology& topology, const TwistReading& reading, const std::optional<Covariance>& fallback,
                     Scratch& scratch, ErrorList& errors);

/// Adds, where a twist was measured at another frame of the body, the errors of the poses between, as they move the edge's
/// motion while the head moves with `of_head`. Uses `scratch.turning`.
void add_mount_errors(const Topology& topology, const EdgeTwist& twist, const Velocity& of_head, const Upper6& by_reading,
                      Stamp at, const std::optional<Covariance>& fallback, Scratch& scratch, ErrorList& errors);

}  // namespace armillary
