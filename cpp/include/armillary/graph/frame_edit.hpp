#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "armillary/graph/driven_form.hpp"
#include "armillary/graph/provider.hpp"
#include "armillary/graph/sample_base.hpp"
#include "armillary/graph/variables.hpp"
#include "armillary/math/transform.hpp"
#include "armillary/math/uncertain.hpp"
#include "armillary/math/velocity.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary {

// The edits of a transaction. They own their contents, but for the rows of `PlaceSamples`. Frames, sources and relations are made
// where they are new.

/// A frame without a parent; nothing where there is one of this name.
struct AddFrame {
  std::string of;
};

/// A constant pose, always or from `from` on.
struct PlaceFixed {
  std::string of, in_frame, source;
  Stamp from = Stamp::always();
  std::shared_ptr<const FixedPose> pose{};
  bool recalibrate = false;
  bool is_of_scene = false;  ///< it follows from where a node is
  Rank rank = Rank::plain;
};

/// A pose that joints drive, always or from `from` on.
struct PlaceDriven {
  std::string of, in_frame, source;
  Stamp from = Stamp::always();
  std::shared_ptr<const DrivenForm> form{};
};

/// A pose at one instant.
struct PlaceSample {
  std::string of, in_frame, source;
  Stamp at{};
  Transform in_frame_T_of{};
  std::optional<Covariance> covariance{};
  bool is_of_scene = false;          ///< it is the pose that a node was made with
  std::optional<SampleBase> base{};  ///< none: what is known here
  bool is_as_stored = false;         ///< its quaternion was made a unit one already, and keeps its bits
};

/// Poses of one relation at many instants, in any order. The arrays must live as long as the transaction.
struct PlaceSamples {
  std::string of, in_frame, source;
  std::span<const std::int64_t> stamps{};
  const double* rows = nullptr;   ///< seven values each: wxyz, xyz
  const double* sides = nullptr;  ///< packed covariances, NaN where unknown; null: all are
};

/// How a frame moves at one instant.
struct PlaceTwist {
  std::string of, relative_to, source;
  Stamp at{};
  std::string expressed_in{};  ///< empty: the frame that moves
  Velocity velocity{};
  std::optional<Covariance> covariance{};
};

/// All runs of a frame by `source`, in place of `before`, those until now: those runs end, their samples go to the
/// new ones, and wait where there is none for them. Whether that makes a loop is looked at when all edits of the transaction
/// have passed.
struct PlaceRuns {
  /// What is placed, distinct from all others that ever had this frame.
  using Thing = std::array<std::uint64_t, 2>;
  /// From `from` until the next one, in `in_frame`; nowhere, where that is empty.
  struct Piece {
    Stamp from = Stamp::always();
    std::string in_frame{};
    Thing thing{};  ///< whose place it is: samples stay with their thing
    Transform in_frame_T_of{};
    std::optional<Covariance> covariance{};
    bool is_fixed = true;                 ///< until the first sample of its thing; open again it goes on from its last one
    std::optional<Stamp> first_sample{};  ///< the pose is one, at this stamp
    std::optional<Stamp> made_at{};       ///< of a thing with samples: the stamp of the pose that it was made with
    Rank rank = Rank::plain;
  };
  /// One more sample of a thing, at any instant: also where the thing is nowhere, or another one in its place.
  struct Late {
    Thing thing{};
    Stamp at{};
    Transform in_frame_T_of{};
    std::optional<Covariance> covariance{};
  };
  std::string of, source;
  std::vector<Piece> before{}, after{};  ///< in the order of time
  std::vector<Late> late{};
  bool is_again = false;         ///< as before: nothing where the frame is gone
  std::optional<Stamp> since{};  ///< only from then on, by constant poses: what begins before is as it was, and no piece
};

/// From `at` on the frame has no parent by `source`. Earlier questions still answer.
/// What is given for a later instant places it again from there on.
struct CloseFrame {
  std::string of, source;
  Stamp at{};
};

/// The frame is that of a thing which comes and goes: the intervals without it, in place of those known before.
/// What other sources assert of the frame ends where the thing goes, and holds again from when it is back, a sampled pose from
/// its last sample on. What they assert for an instant between places it from there on.
struct SetInactiveIntervals {
  struct Interval {
    Stamp from{}, until{};
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  std::string of;
  std::vector<Interval> inactive_intervals{};  ///< in the order of time
  std::vector<std::string> but{};              ///< sources of the thing itself: their runs are not cut

  friend bool operator==(const SetInactiveIntervals&, const SetInactiveIntervals&) = default;
};

/// Erases the frame, its past included. Refused where others are below it, or were.
struct EraseFrame {
  std::string of;
  bool is_forgotten = false;  ///< its inactive intervals are forgotten as well
};

/// Changes nothing; refused where frames other than these are below them at `at` or later, and not because of where nodes are.
struct ExpectNothingUnder {
  std::vector<std::string> frames;
  Stamp at{};
};

/// All assertions of a source about a frame, in place of those before. Samples stay, unless it `forgets`.
struct AlignTrack {
  /// From `since` on: a constant pose, one that joints drive, samples that are to come, or no parent.
  struct PoseAssertion {
    Stamp since{};
    std::string in_frame{};
    std::shared_ptr<const FixedPose> pose{};
    bool breaks_body = false;  ///< it holds nothing: see `RunRecord`
    std::shared_ptr<const DrivenForm> form{};
    Rank rank = Rank::plain;
    bool is_closed = false;
    bool is_new = false;  ///< else samples given since overrule it, and those it waits for may have come and gone

    [[nodiscard]] bool is_samples() const { return !pose && !form && !is_closed; }
  };
  std::string of, source;
  std::vector<PoseAssertion> pose_assertions{};                 ///< in the order of time
  std::map<std::string, SampleInterpolation> interpolations{};  ///< by parent; the others have none of their own
  bool forgets = false;
  bool renews = false;               ///< something was undone: what it hid is there again
  bool drops_unasserted = false;     ///< relations that no assertion names lose their samples: they were removed
  std::vector<std::string> known{};  ///< parents of relations that are asserted beside `pose_assertions`
};

/// Erases what is asserted from one instant on, beside samples, with all that it hides; nothing where there is none.
struct EraseFixed {
  std::string of, source;
  Stamp since{};
};

/// Joints, by name and kind. Nothing happens where they are known; those that were hidden are there again.
struct AddJoints {
  std::vector<std::pair<std::string, VariableKind>> joints;
  bool replaces = false;  ///< one of another kind gives way, with its samples; else it is refused
};

/// Joints that are not to be found any more. Their samples stay, and they drive what they drive.
struct HideJoints {
  std::vector<std::string> names;
};

/// A relation whose samples are to come. Where it is known it gets the interpolation, if one is given.
struct AwaitSamples {
  std::string of, in_frame, source;
  Stamp since{};
  std::optional<SampleInterpolation> interpolation{};
};

/// A twist relation whose samples are to come; nothing where it is known.
struct AwaitTwists {
  std::string of, relative_to, source;
};

/// Twist relations that were removed, with their samples; nothing where they are not known.
struct DropTwists {
  std::vector<std::tuple<std::string, std::string, std::string>> twists;  ///< of, relative to, source
};

/// Frames that are one rigid body from now on.
struct JoinBody {
  std::string name;
  std::vector<std::string> frames;
};

/// Which frames are on which bodies, in place of what was so before.
struct AssignBodies {
  using Twist = std::tuple<std::string, std::string, std::string>;  ///< of, relative to, source
  std::set<std::string> bodies{};
  std::map<std::string, std::string> on{};  ///< by frame
  std::set<Twist> inactive_twists{};        ///< within a body nothing moves
};

/// Which source is preferred for a frame, or for a joint, and when, in place of what was so before. `known`: only checks that a
/// source is one of the frame.
struct PreferSources {
  struct Step {
    Stamp from{};
    std::optional<std::string> source{};  ///< none: no source is preferred until the next step
  };
  std::string of;
  std::vector<Step> steps{};  ///< in the order of time
  std::optional<std::string> known{};
  bool is_of_joint = false;  ///< a joint that is not there yet: nothing is preferred
};

/// Erases these frames, their past included. Where others are below, that is refused, or those get no parent. What follows from
/// where nodes are stays.
struct EraseFrames {
  std::vector<std::string> frames;
  bool lets_others_go = false;
};

/// One run as its assertion names it.
struct RunName {
  std::string_view of, in_frame, source;
  Stamp since{};
  bool is_fixed = false;
};

/// The last edit of a transaction that refuses no cycles: of the runs that would close one those of lower rank are active.
struct ResolveCycles {
  using Rank = std::tuple<int, std::int64_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  std::function<std::optional<Rank>(const RunName&)> rank_of;  ///< none: it is stronger than all that have one
};

/// A run that is inactive because it would close a cycle.
struct ClosingRun {
  std::string of, in_frame, source;
  Stamp since{};
  std::shared_ptr<const FixedPose> pose{};  ///< null: samples
  Stamp at{};                               ///< the first instant of the cycle
  std::vector<std::string> path{};          ///< from `in_frame` up to `of`
};

/// Samples of a frame from `from` until before `to` go, as if they had never been given: of poses in a frame, of motion relative
/// to it. Nothing where there are none.
struct ForgetSamples {
  std::string of;
  bool forgets_poses = true, forgets_twists = true;
  std::optional<std::string> in_frame{}, source{};  ///< none: all
  Stamp from = Stamp::always(), to = Stamp::never();
  std::vector<Stamp> but{};                                        ///< at which a node was made: that is no sample
  SampleBase before{std::numeric_limits<std::int64_t>::max(), 0};  ///< only those with an older base
};

/// A relation of samples that is not asserted any more, with all of them; nothing where it is not known.
struct EraseRelation {
  std::string of, in_frame, source;
};

/// A clock that starts again: samples are forgotten, fixed poses are fixed since always.
struct RestartTime {};

using FrameEdit = std::variant<AddFrame, PlaceFixed, PlaceSample, PlaceSamples, PlaceTwist, PlaceRuns, CloseFrame,
                               SetInactiveIntervals, EraseFrame, ExpectNothingUnder, AlignTrack, EraseFixed, AwaitSamples,
                               AwaitTwists, DropTwists, JoinBody, AssignBodies, PreferSources, EraseFrames, RestartTime,
                               ResolveCycles, PlaceDriven, AddJoints, HideJoints, ForgetSamples, EraseRelation>;

}  // namespace armillary
