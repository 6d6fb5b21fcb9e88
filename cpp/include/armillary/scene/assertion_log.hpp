#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "armillary/scene/version.hpp"

namespace armillary::scene {

/// A frame and a source of it.
using TrackName = std::pair<std::string, std::string>;

/// A relation between two frames, by one source.
struct RelationName {
  std::string of{}, in_frame{}, source{};
};

/// What a source asserts of a frame from `since` on: a constant pose, one that joints drive, samples, or no parent.
struct PoseAssertion {
  Stamp since{};
  std::string in_frame{};
  std::shared_ptr<const FixedPose> pose{};
  Signature signature{};
  bool recalibrate = false;
  std::shared_ptr<const DrivenForm> form{};
  bool is_closed = false;

  [[nodiscard]] bool is_samples() const { return !pose && !form && !is_closed; }
};

/// An assertion that a frame is on a body; without a frame, that there is such a body.
struct BodyClaim {
  std::string frame{}, body{};
  Signature signature{};
};

/// An assertion that is inactive: what a change would assert, and the reason.
struct InactiveAssertion {
  enum class Reason : std::uint8_t { closes_cycle, on_other_body, moves_in_body, constant_in_body };
  log::Payload payload{};  ///< an Assert, or a SetBody with one frame or none
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

/// What takes a change back, as changes to be made; none where that cannot be.
using Inverse = std::optional<std::vector<log::Payload>>;

/// Marks removals of frames that were made by what is undone: they are taken with what is below, and can be redone.
inline constexpr const char* kUndoOrigin = "undo";

/// Whether a change is about frames, beside the nodes of the scene.
[[nodiscard]] bool is_of_frames(const log::Payload& payload);
/// Whether a change asserts a pose from an instant on, beside samples, or takes one back.
[[nodiscard]] const log::Assert* as_since(const log::Payload& payload);

/// All assertions about frames beside the nodes of the scene: a pure function of the set of changes taken, in whatever
/// order they came. Of two about the same thing the one with the higher signature wins.
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
  [[nodiscard]] bool has_relation(const RelationName& relation) const;
  [[nodiscard]] bool has_twist(const RelationName& relation) const;
  /// Whether there is a frame or a body of this name.
  [[nodiscard]] bool has_name(const std::string& name) const { return has_frame(name) || bodies_.contains(name); }
  /// Twists that are asserted relative to this name.
  [[nodiscard]] std::vector<RelationName> twists_relative_to(const std::string& name) const;
  /// Assertions of `source` about a frame, by when they begin.
  [[nodiscard]] std::vector<PoseAssertion> pose_assertions(const std::string& of, const std::string& source) const;
  [[nodiscard]] bool has_samples(const std::string& of, const std::string& source) const;
  /// Whether a change that fixes a frame for always is the latest assertion of its source about it.
  [[nodiscard]] bool is_latest(const Change& change, const log::Assert& payload) const;
  /// Every frame with every source that asserts something of it.
  [[nodiscard]] std::vector<TrackName> tracks() const;
  /// The tracks of these frames, or of what is asserted to be in them.
  [[nodiscard]] std::vector<TrackName> tracks_at(const std::set<std::string>& frames) const;
  /// The tracks of every pose that one of these joints drives.
  [[nodiscard]] std::vector<TrackName> tracks_driven_by(const log::SetVariables& variables) const;
  [[nodiscard]] std::optional<VariableKind> joint(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> preferred(const std::string& of) const;
  [[nodiscard]] bool has_preference(const std::string& of) const;     ///< or had one, which was removed
  [[nodiscard]] std::string body_of(const std::string& frame) const;  ///< its own where none was declared
  [[nodiscard]] bool has_bodies() const { return !bodies_.empty(); }
  [[nodiscard]] const Rigid& rigid() const { return rigid_; }
  void resolve_bodies();  ///< to be called when what was taken may concern bodies
  [[nodiscard]] std::uint64_t time_epoch() const { return resets_; }

  /// What takes back a change that is not taken yet; none where there is none. Relations of samples stay.
  [[nodiscard]] Inverse inverse(const Change& change) const;
  /// Whether no other author asserted something later about what a change asserts. `is_own`: what is by this author.
  [[nodiscard]] bool is_newest(const Change& change, const std::function<bool(const Signature&)>& is_own) const;
  /// Of these frames, those that nobody named after `signature` to stay. What was asserted here and may be undone does not
  /// matter: it was, before what it came after is.
  [[nodiscard]] std::vector<std::string> unused_since(const std::vector<std::string>& frames,
                                                      const Signature& signature) const;

  /// What would give an equal digest: frames, poses, twists, bodies, preferences; in some order.
  [[nodiscard]] std::vector<log::Payload> snapshot() const;
  /// The frames that a change names: they exist from then on.
  [[nodiscard]] std::vector<std::string> named_by(const log::Payload& payload) const;
  [[nodiscard]] Digest digest() const;

 private:
  struct Fixed {
    Signature signature{};
    std::string in_frame{};
    std::shared_ptr<const FixedPose> pose{};
    bool recalibrate = false;
    bool is_taken_back = false;
    std::shared_ptr<const DrivenForm> form{};  // neither: the frame has no parent
  };
  using FixedAssertions =
      std::map<Signature, Fixed>;              // of one instant: the latest wins, and when time began anew the one before
  using Sampled = std::map<Signature, Stamp>;  // all that was asserted: the first wins
  /// The assertions of one source about one frame.
  struct Track {
    Signature always{};  // of the latest assertion that holds for always: those before it are forgotten
    std::map<Stamp, FixedAssertions> fixed{};
    std::map<std::string, Sampled> sampled{};
  };
  struct Joint {
    Signature signature{};
    std::optional<VariableKind> kind{};  // none: removed
  };
  struct Preference {
    Signature signature{};
    std::optional<std::string> source{};
  };
  struct Frame {
    Signature named{}, removed{};
    Signature kept{};  // of the last that named it to stay
    std::map<std::string, Track> tracks{};
    std::map<std::pair<std::string, std::string>, Signature> twists{};  // by what they are relative to, and source
    std::map<std::string, std::set<Signature>> bodies{};
    Preference preference{};
  };

  void name(const std::string& frame, const Signature& signature);
  [[nodiscard]] std::vector<BodyClaim> body_claims() const;
  void take(const Change& change, const log::Assert& payload);
  void take(const Change& change, const log::SetBody& payload);
  void take(const Change& change, const log::Prefer& payload);
  void take(const Change& change, const log::RemoveFrames& payload);
  void take(const Change& change, const log::SetVariables& payload);
  void take(const Change& change, const log::ResetTime& payload);
  void take(const Change&, const auto&) {}
  static void forget_before(Track& track, const Signature& signature);
  void forget_removed();
  [[nodiscard]] const Frame* find(const std::string& name) const;
  [[nodiscard]] const Track* find_track(const std::string& of, const std::string& source) const;
  [[nodiscard]] bool is_removed(const std::string& frame, const Signature& signature) const;
  [[nodiscard]] bool counts(const Frame& frame, const std::string& other, const Signature& signature) const;
  [[nodiscard]] std::vector<PoseAssertion> pose_assertions(const Frame& frame, const Track& track) const;
  [[nodiscard]] std::vector<PoseAssertion> all_assertions(const Frame& frame, const Track& track) const;
  [[nodiscard]] Inverse inverse_of(const log::Assert& payload) const;
  [[nodiscard]] Inverse inverse_of(const log::SetFrames& payload) const;
  [[nodiscard]] Inverse inverse_of(const log::SetVariables& payload) const;
  [[nodiscard]] Inverse inverse_of(const log::Prefer& payload) const;
  void add_poses(const std::string& name, const Frame& frame, std::vector<log::Payload>& payloads) const;
  [[nodiscard]] std::vector<std::string> lines() const;
  void describe(const std::string& name, const Frame& frame, std::vector<std::string>& lines) const;

  std::size_t max_runs_, max_removed_;
  std::unordered_map<std::string, Frame> frames_{};
  std::map<std::string, Signature> bodies_{};
  Rigid rigid_{};
  std::map<std::string, Joint> joints_{};
  std::deque<std::string> removed_{};
  Signature reset_{};
  std::uint64_t resets_ = 0;
};

}  // namespace armillary::scene
