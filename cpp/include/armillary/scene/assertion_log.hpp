#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>

#include "armillary/scene/change.hpp"

namespace armillary::scene {

/// A frame and a source of it.
using TrackName = std::pair<std::string, std::string>;

/// What a source asserts of a frame from `since` on: a constant pose, one that joints drive, samples, or no parent.
struct PoseAssertion {
  Stamp since{};
  std::string in_frame{};
  std::shared_ptr<const FixedPose> pose{};
  HybridTimestamp timestamp{};
  bool recalibrate = false;
  std::shared_ptr<const DrivenForm> form{};
  bool is_closed = false;

  [[nodiscard]] bool is_samples() const { return !pose && !form && !is_closed; }
};

/// An assertion that a frame is on a body; without a frame, that there is such a body.
struct BodyClaim {
  std::string frame{}, body{};
  HybridTimestamp timestamp{};
};

/// An assertion that is inactive: a change that would assert it again, and the reason.
struct InactiveAssertion {
  enum class Reason : std::uint8_t { closes_cycle, on_other_body, moves_in_body, constant_in_body };
  ChangeKind kind = ChangeKind::fix;
  FrameAssertion assertion{};
  Reason reason = Reason::closes_cycle;
  std::string body{};               ///< that is in the way
  Stamp at{};                       ///< of a loop: its first instant
  std::vector<std::string> path{};  ///< of a loop, from the parent up to the frame
};

/// Which frames are on which bodies, and what is inactive because of it.
struct Rigid {
  std::set<std::string> bodies{};
  std::map<std::string, std::string> on{};  ///< by frame; a body that was declared is on itself
  std::vector<InactiveAssertion> inactive{};
};

/// All assertions about frames beside the nodes of the scene: a pure function of the set of changes taken, in whatever
/// order they came. Of two about the same thing the one with the higher timestamp wins.
class AssertionLog {
 public:
  /// `max_runs`: poses that are remembered for one frame and source. `max_removed`: names of removed frames.
  AssertionLog(std::size_t max_runs, std::size_t max_removed) : max_runs_(max_runs), max_removed_(max_removed) {}

  void take(const Change& change);
  /// Keeps what these changes name: `undo` cannot invert them here.
  void keep_names(std::span<const ChangePtr> changes);

  [[nodiscard]] bool has_frame(const std::string& name) const;
  /// Whether somebody named such a frame: none where nobody ever did, false where it was removed and that is remembered.
  [[nodiscard]] std::optional<bool> is_named(const std::string& name) const;
  /// Whether such poses, or such twists, are asserted.
  [[nodiscard]] bool has_relation(const FrameAssertion& assertion) const;
  [[nodiscard]] bool has_twist(const FrameAssertion& assertion) const;
  /// Whether there is a frame or a body of this name.
  [[nodiscard]] bool has_name(const std::string& name) const { return has_frame(name) || bodies_.contains(name); }
  /// Twists that are asserted relative to this name.
  [[nodiscard]] std::vector<FrameAssertion> twists_relative_to(const std::string& name) const;
  /// Assertions of `source` about a frame, by when they begin.
  [[nodiscard]] std::vector<PoseAssertion> pose_assertions(const std::string& of, const std::string& source) const;
  [[nodiscard]] bool has_samples(const std::string& of, const std::string& source) const;
  /// Whether a change that fixes a frame for always is the latest assertion of its source about it.
  [[nodiscard]] bool is_latest(const Change& change) const;
  /// Every frame with every source that asserts something of it.
  [[nodiscard]] std::vector<TrackName> tracks() const;
  /// The tracks of these frames, or of what is asserted to be in them.
  [[nodiscard]] std::vector<TrackName> tracks_at(const std::set<std::string>& frames) const;
  /// The tracks of every pose that one of these joints drives.
  [[nodiscard]] std::vector<TrackName> tracks_driven_by(const FrameAssertion& joints) const;
  [[nodiscard]] std::optional<VariableKind> joint(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> preferred(const std::string& of) const;
  [[nodiscard]] bool has_preference(const std::string& of) const;     ///< or had one, which was removed
  [[nodiscard]] std::string body_of(const std::string& frame) const;  ///< its own where none was declared
  [[nodiscard]] bool has_bodies() const { return !bodies_.empty(); }
  [[nodiscard]] const Rigid& rigid() const { return rigid_; }
  void resolve_bodies();  ///< to be called when what was taken may concern bodies
  [[nodiscard]] std::uint64_t time_epoch() const { return resets_; }

  /// The inverse of a change that is not taken yet; none where there is none. Relations of samples stay.
  [[nodiscard]] std::optional<std::vector<Change>> inverse(const Change& change) const;
  /// Whether no other author asserted something later about what a change asserts. `is_own`: what is by this author.
  [[nodiscard]] bool is_newest(const Change& change, const std::function<bool(const HybridTimestamp&)>& is_own) const;
  /// Of these frames, those that nobody named after `timestamp` to stay. What was asserted here and may be undone does not
  /// matter: it was, before what it came after is.
  [[nodiscard]] std::vector<std::string> unused_since(const std::vector<std::string>& frames,
                                                      const HybridTimestamp& timestamp) const;

  /// Changes that would give an equal digest: frames, poses, twists, bodies, preferences; in some order.
  [[nodiscard]] std::vector<Change> snapshot() const;
  [[nodiscard]] Digest digest() const;

 private:
  struct Fixed {
    HybridTimestamp timestamp{};
    std::string in_frame{};
    std::shared_ptr<const FixedPose> pose{};
    bool recalibrate = false;
    bool is_taken_back = false;
    std::shared_ptr<const DrivenForm> form{};  // neither: the frame has no parent
  };
  using FixedAssertions =
      std::map<HybridTimestamp, Fixed>;              // of one instant: the latest wins, and when time began anew the one before
  using Sampled = std::map<HybridTimestamp, Stamp>;  // all that was asserted: the first wins
  /// The assertions of one source about one frame.
  struct Track {
    HybridTimestamp always{};  // of the latest assertion that holds for always: those before it are forgotten
    std::map<Stamp, FixedAssertions> fixed{};
    std::map<std::string, Sampled> sampled{};
  };
  struct Joint {
    HybridTimestamp timestamp{};
    std::optional<VariableKind> kind{};  // none: removed
  };
  struct Preference {
    HybridTimestamp timestamp{};
    std::optional<std::string> source{};
  };
  struct Frame {
    HybridTimestamp named{}, removed{};
    HybridTimestamp kept{};  // of the last that named it to stay
    std::map<std::string, Track> tracks{};
    std::map<std::pair<std::string, std::string>, HybridTimestamp> twists{};  // by what they are relative to, and source
    std::map<std::string, std::set<HybridTimestamp>> bodies{};
    Preference preference{};
  };

  void name(const std::string& frame, const HybridTimestamp& timestamp);
  [[nodiscard]] std::vector<BodyClaim> body_claims() const;
  void take_fixed(const Change& change);
  static void forget_before(Track& track, const HybridTimestamp& timestamp);
  void take_removal(const Change& change);
  void take_joints(const Change& change);
  void forget_removed();
  [[nodiscard]] const Frame* find(const std::string& name) const;
  [[nodiscard]] const Track* find_track(const std::string& of, const std::string& source) const;
  [[nodiscard]] bool is_removed(const std::string& frame, const HybridTimestamp& timestamp) const;
  [[nodiscard]] bool counts(const Frame& frame, const std::string& other, const HybridTimestamp& timestamp) const;
  [[nodiscard]] std::vector<PoseAssertion> pose_assertions(const Frame& frame, const Track& track) const;
  [[nodiscard]] std::vector<PoseAssertion> all_assertions(const Frame& frame, const Track& track) const;
  [[nodiscard]] std::optional<std::vector<Change>> inverse_of_fix(const Change& change) const;
  [[nodiscard]] std::vector<Change> inverse_of_joints(const Change& change) const;
  void add_pose_changes(const std::string& name, const Frame& frame, std::vector<Change>& changes) const;
  [[nodiscard]] std::vector<std::string> lines() const;
  void describe(const std::string& name, const Frame& frame, std::vector<std::string>& lines) const;

  std::size_t max_runs_, max_removed_;
  std::unordered_map<std::string, Frame> frames_{};
  std::map<std::string, HybridTimestamp> bodies_{};
  Rigid rigid_{};
  std::map<std::string, Joint> joints_{};
  std::deque<std::string> removed_{};
  HybridTimestamp reset_{};
  std::uint64_t resets_ = 0;
};

}  // namespace armillary::scene
