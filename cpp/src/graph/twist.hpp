#pragma once

// Velocity along a path: of one edge, measured, from joints or differentiated from poses, and of the whole path.

#include <array>
#include <optional>

#include "armillary/graph/body_graph.hpp"
#include "armillary/graph/path.hpp"
#include "armillary/graph/twist_row.hpp"
#include "math/upper6.hpp"

namespace armillary {

struct ErrorList;
struct Scratch;

// -- Measured twists

/// A twist that was given along other axes than its own: its covariance along its own depends on the rotation between them.
struct TurnedTwist {
  FrameId axes = kNone;  ///< none: given along its own axes, or the rotation is exact
  Stamp at;              ///< when it was given, and rotated
  Velocity share;        ///< its part of the answer, along its own axes
};

/// The rows of one link around an instant that it covers.
struct TwistReading {
  const TwistLink* link = nullptr;  ///< null: there is no reading
  Row before, after;                ///< `after` only where the instant is between two rows
  double u = 0.0;

  /// Linear between two rows.
  [[nodiscard]] Velocity body_form() const;
  /// Linear between two rows; none where it is unknown. Along its own axes, the turns apart.
  [[nodiscard]] std::optional<Covariance> covariance() const;
  [[nodiscard]] std::array<TurnedTwist, 2> turns() const;
  /// The axes along which it was given; none where those are its own, or the instant is between two rows.
  [[nodiscard]] FrameId axes() const { return after ? kNone : axes_of(before); }
};

/// The reading of a link at an instant; without a link where it does not cover `at`.
[[nodiscard]] TwistReading reading_at(const TwistLink& link, Stamp at);

/// The measured twist that counts for the motion of an edge, and where on the bodies it was measured.
struct EdgeTwist {
  TwistReading reading{};     ///< without a link: there is none, or several contest it
  bool is_contested = false;  ///< several sources give one, and nothing decides
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

/// The twist of an edge: of those that cover `at` and whose frame is connected with the edge, the preferred one, else the only
/// one.
[[nodiscard]] EdgeTwist twist_of(const PathEdge& edge, Stamp at, const QueryContext& context);

/// The twist that an edge goes on with after its sample at `last`: of those with something newer than `since`, and not after
/// `at`, the preferred one, then the newest one, or where a policy asks for it the surest one. Its reading is the newest row.
[[nodiscard]] EdgeTwist newest_twist_of(const PathEdge& edge, Stamp since, Stamp at, const QueryContext& context);

// -- One edge

/// How the velocity of an edge is to be found.
struct MotionContext {
  const QueryContext& query;                  ///< for the poses; it wants no covariance
  const std::optional<Covariance>& fallback;  ///< of samples that come without a covariance
  Duration window{};                          ///< 0: derivative of the interpolant; else a central difference over it
  ErrorList* errors = nullptr;                ///< what the answer depends on goes here, where somebody wants to know
};

struct Motion {
  Evaluation pose;    ///< parent_T_child and its flags
  Vector3 linear{};   ///< of the child's origin, along the parent's axes [m/s]
  Vector3 angular{};  ///< along the child's axes [rad/s]
  TwistMethod method = TwistMethod::fixed;
  RelationId twist = kNone;                      ///< the twist relation it was measured by
  std::size_t first_error = 0, after_error = 0;  ///< the errors of pose and motion in the list
  const EdgeTwist* measured = nullptr;           ///< what it was measured as; its errors are further ones

  [[nodiscard]] Velocity body_form() const { return {pose.value.rotation.inverse() * linear, angular}; }
  void set_body_form(const Velocity& body) {
    linear = pose.value.rotation * body.linear;
    angular = body.angular;
  }
};

/// What an edge has around an instant: rows of a sampled one, and its measured twist.
struct EdgeRows {
  Bracket poses;
  const EdgeTwist& twist;
};

/// Pose and velocity of an edge. Returns the failures of `evaluate_edge`, or `no_velocity`.
[[nodiscard]] FailureKind evaluate_motion(const PathEdge& edge, const EdgeRows& rows, Stamp at, const MotionContext& context,
                                          Motion& out);

/// The motion that leads from one row to the next, at the second one, in the body form.
[[nodiscard]] Velocity motion_between(const Row& before, const Row& last, Interpolation kind);

// -- A path

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
  bool predicted = false;
  bool timeless = true;
};

/// Evaluates the edges of a path that was found, poses and motions in one pass, with the measured twists of `scratch.readings`
/// for them. `scratch.motions` then holds them, `up` then `down`, as long as all their errors are known and wanted; `twists` the
/// measured relations that were used.
[[nodiscard]] Failure evaluate_twist_segment(const Path& path, Stamp at, const MotionContext& context, Scratch& scratch,
                                             RelationList& twists, TwistSegment& segment);

/// Fills `scratch.readings` for the edges of a path, `up` then `down`. False where one of them has rivals,
/// and nothing decides: then the last one is that.
[[nodiscard]] bool read_twists(const Path& path, Stamp at, const QueryContext& context, Scratch& scratch);

}  // namespace armillary
