#pragma once

#include <functional>
#include <span>

#include "armillary/graph/frame_edit.hpp"
#include "armillary/graph/sample_base.hpp"
#include "armillary/log/bodies.hpp"
#include "armillary/scene/version.hpp"

namespace armillary::scene {

/// A relation between two frames, by one source.
struct RelationName {
  std::string of{}, in_frame{}, source{};
};

/// An assertion that is inactive: what a change would assert, and the reason.
struct InactiveAssertion {
  log::Payload payload{};  ///< an Assert, or a SetBody with one frame or none
  log::Reason reason = log::Reason::cycle;
  std::string body{};               ///< that is in the way
  Stamp at{};                       ///< of a cycle: its first instant
  std::vector<std::string> path{};  ///< of a cycle, from the parent up to the frame
};

/// A change to be made once more, or its inverse.
struct Restated {
  log::Payload payload{};
  std::optional<log::Epoch> epoch{};  ///< whose slot it writes; none: that of the present
};

/// What takes a change back, as changes to be made; none where that cannot be.
using Inverse = std::optional<std::vector<Restated>>;

/// Whether a change is about frames, beside the nodes of the scene.
[[nodiscard]] bool is_of_frames(const log::Payload& payload);
/// The assertion of a change about a pose from an instant on, beside samples, or that takes one back; else null.
[[nodiscard]] const log::Assert* as_since(const log::Payload& payload);
/// The frames that a change is about, or names.
[[nodiscard]] std::vector<std::string> frames_in(const log::Payload& payload);
/// Whether frames exist because of a change, as long as nothing supersedes it.
[[nodiscard]] bool names_frames(const log::Payload& payload);

/// All assertions about frames beside the nodes of the scene, as the store asks for them. What holds is decided by the change
/// log and by the rule of bodies, which are functions of the set of changes.
class AssertionLog {
 public:
  explicit AssertionLog(const log::ChangeLog::Limits& limits) : log_(limits) {}

  void take(const ChangePtr& change) { log_.append(change); }
  /// Changes that were held where the others were written down, and are not among them.
  void note_held(const log::VersionVector& changes) { log_.note_held(changes); }
  [[nodiscard]] const log::ChangeLog& log() const { return log_; }

  /// Whether a record names a frame, those of `but` aside.
  [[nodiscard]] bool has_frame(const std::string& name, const log::Superseded& but = {}) const {
    return log::is_named(log_, name, but);
  }
  /// None where nobody ever named it, false where it was removed and that is remembered.
  [[nodiscard]] std::optional<bool> is_named(const std::string& name) const;
  /// Whether there is a frame or a body of this name.
  [[nodiscard]] bool has_name(const std::string& name) const { return has_frame(name) || log::is_declared_body(log_, name); }
  /// Whether such poses, whatever they are, or such twists, are asserted.
  [[nodiscard]] bool has_relation(const RelationName& relation) const;
  [[nodiscard]] bool has_twist(const RelationName& relation) const;
  /// Twists that are asserted relative to this name.
  [[nodiscard]] std::vector<RelationName> twists_relative_to(const std::string& name) const;
  /// Assertions of `source` about a frame, by when they begin.
  [[nodiscard]] std::vector<log::Slot> pose_slots(const std::string& of, const std::string& source) const;
  /// Whether a source asserts a pose of a frame, or did.
  [[nodiscard]] bool knows(const std::string& of, const std::string& source) const;
  [[nodiscard]] bool has_samples(const std::string& of, const std::string& source) const;
  [[nodiscard]] bool has_samples_in(const RelationName& relation) const;
  /// Whether a change that fixes a frame for always is the latest assertion of its source about it.
  [[nodiscard]] bool is_latest(const Change& change, const log::Assert& payload) const;
  /// Every frame with every source that asserts something of it.
  [[nodiscard]] std::vector<log::Track> tracks() const;
  /// The tracks of these frames, and of what is asserted to be in them.
  [[nodiscard]] std::vector<log::Track> tracks_at(const std::set<std::string>& frames) const;
  /// The tracks of every pose that one of these variables drives.
  [[nodiscard]] std::set<log::Track> tracks_driven_by(const log::SetVariables& variables) const;
  [[nodiscard]] std::optional<VariableKind> variable(const std::string& name) const;
  /// Which source is preferred for a frame or a joint, and when.
  [[nodiscard]] PreferSources preferences(const log::Subject& subject) const;
  /// Of all joints, by name, then in the order of time.
  [[nodiscard]] std::vector<std::pair<std::string, log::PreferenceStep>> joint_preferences() const;
  [[nodiscard]] bool has_preference(const std::string& of) const;  ///< or had one, which was removed
  [[nodiscard]] bool has_bodies() const { return !log_.bodies().empty(); }
  /// Whether a change declares a body, and frames on it, that are there already, and active.
  [[nodiscard]] bool is_known_body(const log::Payload& payload) const;
  [[nodiscard]] const log::ResolvedBodies& bodies() const { return bodies_; }
  void resolve_bodies() { bodies_ = log::resolve_bodies(log_); }  ///< when what was taken may concern bodies
  /// What bodies make inactive.
  [[nodiscard]] std::vector<InactiveAssertion> inactive() const;
  [[nodiscard]] std::uint64_t time_epoch() const { return log_.resets().size(); }

  /// The assertions that a change supersedes which is not taken yet.
  [[nodiscard]] std::vector<ChangePtr> superseded_by(const Change& change) const;

  /// What takes back a change that is not taken yet; none where there is none. Samples do not come back.
  [[nodiscard]] Inverse inverse(const Change& change) const;
  /// Whether what a change asserted is still so, or was changed by this author alone. `is_own`: what is by this author.
  [[nodiscard]] bool still_holds(const Change& change, const std::function<bool(const Signature&)>& is_own) const;
  /// The assertions of one relation, of whatever epoch, that are not empty: those that a Forget is about.
  [[nodiscard]] std::vector<std::pair<log::SlotKey, ChangePtr>> slots_of_relations(const log::Forget& about) const;

  /// Whether a pose at `at` that was given on top of `base` does not count: it, its relation or its frame was taken back since.
  [[nodiscard]] bool takes_back(const RelationName& relation, Stamp at, const SampleBase& base) const;

  [[nodiscard]] Digest digest() const;

 private:
  [[nodiscard]] Inverse inverse_of(const Change& change, const log::Assert& payload) const;
  [[nodiscard]] Inverse inverse_of(const Change& change, const log::SetFrames& payload) const;
  [[nodiscard]] Inverse inverse_of(const Change& change, const log::RemoveFrames& payload) const;
  [[nodiscard]] Inverse inverse_of(const Change& change, const log::SetBody& payload) const;
  [[nodiscard]] Inverse inverse_of(const Change& change, const log::SetVariables& payload) const;
  [[nodiscard]] Inverse inverse_of(const Change& change, const log::Prefer& payload) const;
  [[nodiscard]] Inverse inverse_of(const Change& change, const log::Forget& payload) const;
  [[nodiscard]] bool is_restated(const ChangePtr& record) const;
  [[nodiscard]] std::vector<ChangePtr> with_newer(const std::vector<ChangePtr>& records) const;
  [[nodiscard]] std::vector<Restated> naming_again(const std::string& frame, const ChangePtr& severed) const;
  [[nodiscard]] std::vector<Restated> without_new_frames(const log::Payload& payload) const;
  [[nodiscard]] const log::TrackEntry* find_track(const log::Track& track) const;
  [[nodiscard]] std::vector<log::PreferenceStep> preference_steps(const log::Subject& subject) const;
  [[nodiscard]] std::vector<std::string> lines() const;

  log::ChangeLog log_;
  log::ResolvedBodies bodies_{};
};

}  // namespace armillary::scene
