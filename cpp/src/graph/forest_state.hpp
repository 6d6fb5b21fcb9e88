#pragma once

// The writer's side of a Forest: what the lock guards. Readers see only the published Topology.

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "armillary/detail/at_fork.hpp"
#include "armillary/graph/forest.hpp"
#include "armillary/graph/frame_edit.hpp"
#include "armillary/graph/path.hpp"
#include "armillary/graph/sample_tap.hpp"
#include "armillary/series/intervals.hpp"
#include "graph/frames_changed.hpp"
#include "graph/relation_table.hpp"
#include "graph/run_list.hpp"

namespace armillary {

class DrivenLink;

/// A number that was freed rests until so many others were: a batch under way must not meet another frame.
inline constexpr std::size_t kRestingFrames = 4096;

/// Of series that forget nothing: their rows come from others, which do.
inline constexpr Duration kWithoutEnd{std::int64_t{1} << 62};

/// What of a run readers see from `from` on, until the next part begins: inactive intervals cut runs.
struct RunPart {
  Stamp from{};
  const RunRecord* run = nullptr;  // null: the frame is inactive
  std::size_t k = 0;               // index of the run
  Interval rows{};                 // of a sampled run: those with these stamps

  [[nodiscard]] bool is_of(RelationId relation) const { return run != nullptr && run->relation == relation; }
  [[nodiscard]] bool is_sampled() const { return run != nullptr && run->is_sampled(); }
  [[nodiscard]] Row first_row() const;
  [[nodiscard]] Row last_row() const;
  /// Whether it begins at `at`, or has a sample there that was given.
  [[nodiscard]] bool is_given_at(Stamp at) const;
  /// The first sample after `at` that was given; `never` if there is none.
  [[nodiscard]] Stamp given_after(Stamp at) const;
};

/// When part `k` could give the frame's pose: while it lasts, and between its samples.
[[nodiscard]] Interval lasting(const std::vector<RunPart>& parts, std::size_t k);
/// When it gives it: where it closes no cycle.
[[nodiscard]] Intervals coverage_of(const std::vector<RunPart>& parts, std::size_t k);

/// The inactive intervals of frames, by name.
using InactiveIntervalsPtr = std::shared_ptr<const SetInactiveIntervals>;
using InactiveIntervals = std::unordered_map<std::string, InactiveIntervalsPtr>;

/// The samples of things that one after the other have the same frame.
using Histories = std::map<PlaceRuns::Thing, std::shared_ptr<Series>>;

struct TrackRecord {
  FrameId of = kNone;
  SourceId source = kNone;
  RunList runs{};  // by `from`, oldest first
  std::vector<RelationId> relations{};
  bool is_stale = false;         // an edit broke off for want of memory: readers have not seen its runs yet
  bool may_be_on_cycle = false;  // on a cycle when time is ignored: every insert is then checked
  bool was_cleared = false;      // samples of all its relations have come and gone
  WatchList watches{};
  Histories waiting{};  // samples of things at instants when they have no parent; never written to

  /// Index of the run that holds at `at`, or -1. It may be a closed one.
  [[nodiscard]] std::ptrdiff_t run_at(Stamp at) const { return runs.run_at(at); }
  /// The first stamp after `at` for which the source itself gave something; `never` if there is none.
  [[nodiscard]] Stamp next_given(Stamp at) const;
  /// Since when the samples of run `k` are its own: open again, it has the last ones from before it was closed as well.
  [[nodiscard]] Stamp own_since(std::size_t k) const;
  [[nodiscard]] std::size_t own_samples(std::size_t k) const;
};

struct RelationRecord {
  RelationId id = kNone;
  FrameId of = kNone, parent = kNone;
  SourceId source = kNone;
  TrackRecord* track = nullptr;
  Retention retention{};
  SampleInterpolation interpolation = SampleInterpolation::linear;
  bool is_of_scene = false;  // it follows from where a node is
  bool breaks_body = false;  // its samples hold nothing
  SampleBases bases{};
  Gaps gaps{};  // in its samples

  /// What its series keep: of corrections none is reproduced by those around it.
  [[nodiscard]] Retention kept() const {
    Retention kept = retention;
    if (interpolation == SampleInterpolation::step) kept.thin_m = kept.thin_rad = 0.0;
    return kept;
  }
  /// A run of samples by this relation.
  [[nodiscard]] RunRecord sampled_run(Stamp from, Sampled samples) const {
    samples.interpolation = interpolation;
    return {from, parent, id, std::move(samples), breaks_body ? Origin::against_body : Origin::asserted};
  }
};

/// A measured twist as it is kept.
struct BodyTwist {
  Velocity body_form{};
  std::optional<Covariance> covariance{};  // along its own axes, the error of the turn apart
  FrameId axes = kNone;                    // it was given along, where the rotation from them is not exact
};

/// The measured motion of a frame relative to one body, by one source.
struct TwistRecord {
  RelationId id = kNone;
  FrameId of = kNone;
  BodyId reference = kNone;
  BodyId named = kNone;  // by which it was given: the body alone of a frame, or one that was declared
  SourceId source = kNone;
  bool is_inactive = false;  // within a body nothing moves
  Retention retention{};
  std::shared_ptr<Series> series{};  // body form
  std::vector<FrameId> axes{};       // that rows of it name
  WatchList watches{};
  struct Forgotten {
    Stamp at;
    Velocity velocity;
  };
  std::optional<Forgotten> forgotten{};  // the newest of them: the first poses that are kept moved with it
  SampleBases bases{};

  void insert(Stamp at, const BodyTwist& said, RetireList& retired);
  /// The last velocity given, as seen from `at`.
  [[nodiscard]] std::optional<Velocity> velocity_at(Stamp at) const;
};

/// What moves as one, as it is kept; see `RigidBodies`.
struct RigidRecord {
  RigidBodies bodies{};
  std::unordered_map<FrameId, FrameId> mounts{};  // of frames with bodies or twists, and those that carry them: what on, or kNone
  std::unordered_map<BodyId, std::vector<FrameId>> roots{};      // those on nothing, by rigid body
  std::unordered_map<BodyId, std::vector<RelationId>> twists{};  // that end at a rigid body, on either side
  bool is_stale = false;                                         // declared bodies or mounts have changed since
  bool has_moved = false;                                        // mounts have, and what was integrated has not been seen to yet
};

/// Where a twist is measured, seen from the frame whose poses it moves.
struct TwistCarrier {
  Transform own_T_head{};
  bool is_reverse = false;  // it moves the parent against the frame

  /// The same motion, at the own frame and along its axes.
  [[nodiscard]] Velocity moved(const Velocity& of_head) const {
    return (own_T_head.rotation * of_head).at(-own_T_head.translation);
  }
};

/// A body that was declared.
struct BodyRecord {
  std::string name{};
  std::vector<FrameId> frames{};  // in the order they came
};

struct FrameRecord {
  std::shared_ptr<const std::string> name{};  // readers look at it through the published node
  std::uint64_t sequence = 0;                 // order of creation; ids are reused
  bool alive = false;
  std::vector<PreferenceStep> preferences{};
  BodyId body = kNone;
  InactiveIntervalsPtr inactive_intervals{};  // null: there are none
  std::vector<std::unique_ptr<TrackRecord>> tracks{};
  std::vector<RelationId> child_relations{};  // relations whose parent this frame is
  std::vector<RelationId> twists{};           // twist relations of it
};

/// One sample on its way in.
struct Sample {
  Stamp at;
  std::array<double, 7> values;
  const double* side;                // Series::kSideWords values, or null
  const SampleBase* base = nullptr;  // null: what is known here
};

/// How many rows from `from` until before `to` were given, and not computed.
[[nodiscard]] std::size_t given_rows(const Series& series, Stamp from = Stamp::always(), Stamp to = Stamp::never());
/// A row of one series as a row of another.
void copy_row(const Series& from, const Row& row, Series& to, RetireList& retired);
/// The last rows before an instant.
void copy_last(const Series& from, Stamp before, Series& to, RetireList& retired);

/// A pose as it is stored: with a unit quaternion. Refuses what is no pose.
[[nodiscard]] Failure to_values(const Transform& pose, std::array<double, 7>& values);

/// Where one wait is registered.
struct Watched {
  std::vector<TrackRecord*> tracks{};
  std::vector<RelationId> twists{};
  std::vector<FrameId> frames{};
  std::string name{};
  bool is_wait = true;  // else a watch that is not counted as a wait
};

/// From one frame to another: half of a question about two instants, all of others.
struct SegmentQuestion {
  FrameId of = kNone, in_frame = kNone;
  When at{};
};

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

using NameTable = std::unordered_map<std::string, std::uint32_t, StringHash, std::equal_to<>>;

/// One run on a cycle: a fixed one by when it begins, samples by their relation.
using CycleKey = std::tuple<FrameId, SourceId, RelationId, Stamp>;
using CycleRank = ResolveCycles::Rank;
using CycleOrder = std::map<CycleKey, CycleRank>;
struct Contender;

struct TrackBefore;
struct FrameBefore;
struct BodiesBefore;
struct Journal;

/// The first that is not there is the failure.
[[nodiscard]] Failure check_frames(const Topology& topology, const Question& question);

struct Forest::State {
  explicit State(ForestOptions given);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const ForestOptions options;
  std::atomic<const Topology*> topology;
  mutable std::mutex lock;  // guards everything below
  RetireList retired;
  std::vector<FrameRecord> frames;
  std::deque<FrameId> free_frames;  // longest free first
  NameTable frame_ids;
  std::vector<std::string> sources;
  NameTable source_ids;
  RelationTable<RelationRecord> relations;  // null: removed, or a twist
  std::unordered_map<RelationId, std::unique_ptr<TwistRecord>> twists;
  Variables variables;
  std::unordered_map<VariableId, std::vector<RelationId>> drives;  // poses that a variable drives, or drove once
  std::vector<BodyRecord> bodies;
  NameTable body_ids;
  mutable RigidRecord rigid;
  bool has_guides = false;                               // some series may be guided by twists
  bool bodies_changed = false;                           // readers have not seen bodies or twist relations yet
  std::vector<std::shared_ptr<Series>> unlinked_twists;  // taken out by the edit under way
  StructureWatches structure_watches;
  std::unordered_map<WaitId, Watched> watching;
  std::size_t mere_watches = 0;  // of them, those that are no waits
  std::vector<std::shared_ptr<const std::string>> names_gone;
  std::vector<RunRecord> unlinked;       // taken out by the edit under way
  InactiveIntervals inactive_intervals;  // by the names of frames, whether or not they are known
  std::uint64_t next_sequence = 0;
  std::unordered_set<FrameId> circular;  // frames on a cycle when time is ignored
  CycleOrder cycle_order;                // of the runs on cycles, as far as it is known
  std::vector<ClosingRun> loops;         // runs that are left out
  FramesChanged frames_changed;          // by publications
  std::atomic<std::size_t> inactive_runs{0};
  bool tolerates_cycles = false;                   // in the transaction under way: they are resolved in the end
  Journal* journal = nullptr;                      // set while a transaction is under way: nothing is published meanwhile
  SampleBase base{};                               // of samples that are given here: newer than any that they replace
  std::size_t taken_back = 0;                      // samples, by edits that take them back
  std::deque<std::pair<RelationId, Stamp>> moves;  // by samples that were given here, since they were asked for
  std::atomic<bool> has_moves{false};
  std::vector<std::shared_ptr<SampleTap>> taps;  // copies of samples go there
  Demands demands;                               // what questions lack because it is not received
  bool closed = false;
  std::atomic<WaitId> next_wait{1};
  detail::AtFork at_fork{{.try_hold = [this] { return lock.try_lock(); },
                          .release = [this] { lock.unlock(); },
                          .renew =
                              [this] {
                                forget_waits();
                                lock.unlock();
                              }}};

  // taps (writing.cpp)
  void copy_to_taps(SampleKind kind, std::uint32_t id, Stamp at, const SampleBase* given_on, std::span<const double> values,
                    std::span<const double> side);
  void end_held_samples(bool passed) {
    for (const auto& tap : taps) tap->end_held(passed);
  }

  // what lacks of samples that others give (gaps.cpp)
  [[nodiscard]] const Gaps* gaps_of(SampleKind kind, std::uint32_t id) const;
  [[nodiscard]] std::vector<const Series*> tables_of(SampleKind kind, std::uint32_t id) const;
  void set_gaps(SampleKind kind, std::uint32_t id, Gaps gaps);

  // names (structure.cpp)
  [[nodiscard]] FrameId find_frame(std::string_view name) const;
  /// The same, or the frame that the companion calls so.
  [[nodiscard]] FrameId find_named(std::string_view name) const;
  FrameId add_frame(std::string_view name);
  SourceId add_source(std::string_view name);
  [[nodiscard]] SourceId find_source(std::string_view name) const;
  [[nodiscard]] TrackRecord* find_track(FrameId of, SourceId source) const;
  [[nodiscard]] RelationRecord* find_relation(FrameId of, FrameId parent, SourceId source) const;
  [[nodiscard]] RelationRecord* find_relation(const EdgeName& edge) const;
  RelationRecord& make_relation(const EdgeName& edge);
  TrackRecord& make_track(FrameId of, SourceId source);

  // publishing: whatever an edit took out is retired only after readers cannot find it any more
  void publish(FrameId frame);
  void publish(std::span<const FrameId> changed);
  void publish_now(std::span<const FrameId> changed, CompanionPtr companion);
  void fill_node(const FrameRecord& frame, FrameNode& node);
  void discard(RunRecord& run);
  void discard_all(TrackRecord& track);

  // transactions (transaction.cpp)
  Failure apply_all(std::span<const FrameEdit> edits);
  [[nodiscard]] const PlaceSample* lone_sample(std::span<const FrameEdit> edits) const;
  Failure apply(const AddFrame& edit);
  Failure apply(const PlaceFixed& edit);
  Failure apply(const PlaceSamples& edit);
  Failure apply(const PlaceTwist& edit);
  Failure apply(const PlaceSample& edit);
  Failure apply(const PlaceRuns& edit);
  void place_since(TrackRecord& track, const PlaceRuns& edit);
  Failure apply(const CloseFrame& edit);
  Failure apply(const SetInactiveIntervals& edit);
  Failure apply(const EraseFrame& edit);
  Failure apply(const ExpectNothingUnder& edit);
  Failure apply(const AlignTrack& edit);
  Failure apply(const EraseFixed& edit);
  Failure apply(const AwaitSamples& edit);
  Failure apply(const AwaitTwists& edit);
  Failure apply(const DropTwists& edit);
  Failure apply(const JoinBody& edit);
  Failure apply(const AssignBodies& edit);
  Failure apply(const PreferSources& edit);
  Failure apply(const EraseFrames& edit);
  Failure apply(const RestartTime& edit);
  Failure apply(const ResolveCycles& edit);
  Failure apply(const PlaceDriven& edit);
  Failure apply(const AddJoints& edit);
  Failure apply(const HideJoints& edit);
  Failure apply(const ForgetSamples& edit);
  Failure apply(const EraseRelation& edit);
  void keep_names(Evidence& evidence) const;
  [[nodiscard]] std::vector<FrameId> frames_under(std::span<const std::string> names, Stamp at, bool but_nodes) const;

  // all runs of one source at once (node_tracks.cpp)
  [[nodiscard]] Failure check_pieces(const PlaceRuns& edit) const;
  [[nodiscard]] Failure check_late(const PlaceRuns& edit, const PlaceRuns::Late& late) const;
  [[nodiscard]] bool is_replaced(const PlaceRuns& edit, const RunRecord& run) const;
  [[nodiscard]] RelationRecord& relation_of(const PlaceRuns& edit, const std::string& in_frame);
  [[nodiscard]] Histories histories_of(const PlaceRuns& edit, const std::vector<RunRecord>& before, const Histories& waiting);
  [[nodiscard]] std::shared_ptr<Series> samples_of(const PlaceRuns& edit, std::size_t k, const Series& all, RelationId relation);
  void add_runs(const PlaceRuns& edit, std::size_t k, const std::shared_ptr<Series>& samples, const RelationRecord& relation,
                std::vector<RunRecord>& runs);
  void keep_waiting(TrackRecord& track, const PlaceRuns::Thing& thing, const std::shared_ptr<Series>& samples);
  [[nodiscard]] std::vector<RunRecord> merged_runs(TrackRecord& track, const PlaceRuns& edit,
                                                   const std::vector<RunRecord>& before);
  void place_again(TrackRecord& track, RunRecord run);
  [[nodiscard]] Failure check_placed(const std::string& frame, const std::string& source);
  [[nodiscard]] bool joins_others(const PlaceFixed& edit) const;

  // frames whose thing comes and goes (inactive_intervals.cpp)
  void note_inactive_intervals(const std::string& of, InactiveIntervalsPtr noted);
  void put_back_inactive_intervals(const std::string& of, InactiveIntervalsPtr kept);
  [[nodiscard]] bool is_cut(const TrackRecord& track) const;
  [[nodiscard]] std::vector<RunPart> parts_of(const TrackRecord& track) const;
  [[nodiscard]] bool holds_from(const TrackRecord& track, RelationId relation, Stamp at) const;
  [[nodiscard]] TrackRecord cut_of(const TrackRecord& track, std::vector<std::shared_ptr<const Series>>& copies);

  // what to put back when a transaction fails (journal.cpp)
  [[nodiscard]] bool is_kept_to_put_back() const;
  void touch(FrameId frame) {  // before its record is changed
    if (journal != nullptr) remember(frame);
  }
  void begin(Journal& empty, bool puts_back);
  void remember(FrameId frame);
  void remember_free_frames();
  void remember_bodies();
  void remember_variables();
  void roll_back();
  void put_back(FrameId id, FrameBefore& before);
  void put_back(TrackRecord& track, TrackBefore& before);
  void put_back(BodiesBefore& before);
  void retire_replaced(Journal& done);

  // queries (queries.cpp)
  [[nodiscard]] Result<PoseAnswer> pose_now(const Question& question) const;
  [[nodiscard]] Result<PoseAnswer> pose_in(const Topology& version, const Question& question) const;
  [[nodiscard]] Result<PolicyAnswer> pose_by_policy(const Topology& now, const Question& question) const;
  [[nodiscard]] Result<PolicyAnswer> contested_pose(const Topology& now, const Question& question) const;
  /// The first of several instants, and those after it as long as the same paths lead on; at least one, or a failure.
  [[nodiscard]] Result<std::vector<Transform>> contested_rows(const Topology& now, const Question& question,
                                                              std::span<const std::int64_t> stamps) const;
  [[nodiscard]] Result<PoseAnswer> pose_completed(const Topology& now, const Question& question) const;
  [[nodiscard]] QueryContext completed(const QueryContext& context, const Topology& version) const;
  /// Of the samples of a relation: of poses one for each run, in their order. The caller holds the lock.
  [[nodiscard]] std::vector<std::shared_ptr<Series>> series_of(RelationId id) const;

  // bodies (bodies.cpp)
  [[nodiscard]] BodyId find_body(std::string_view name) const;
  [[nodiscard]] std::string body_name(BodyId body) const;
  [[nodiscard]] bool is_within_body(std::string_view of, std::string_view in_frame) const;
  [[nodiscard]] bool is_within_body(FrameId of, FrameId in_frame) const {
    return is_declared(frames[of].body) && frames[of].body == frames[in_frame].body;
  }
  [[nodiscard]] Failure check_constant(const EdgeName& edge, const FixedPose* pose, bool recalibrate) const;
  [[nodiscard]] FrameId moving_frame_of(BodyId body) const;
  [[nodiscard]] Failure check_adoption(std::string_view name, std::span<const std::string_view> adopted) const;
  Failure join_body(std::string_view name, std::span<const std::string_view> adopted);
  [[nodiscard]] Failure check_source(FrameId of, std::string_view source) const;
  void prefer_variable(VariableId id, std::vector<PreferenceStep> steps);
  void set_preferences(FrameId of, std::vector<PreferenceStep> steps);
  void adopt(FrameId frame, BodyId body);
  BodyId declare_body(std::string_view name);
  void leave_body(FrameId frame);
  void point_twists();
  [[nodiscard]] std::vector<TwistPreference> preferences_of(const TwistRecord& twist) const;
  [[nodiscard]] std::unique_ptr<const BodyGraph> body_graph() const;

  // what moves as one (rigid_bodies.cpp)
  [[nodiscard]] const RunRecord* lasting_mount(FrameId frame) const;
  [[nodiscard]] FrameId mounted_on(FrameId frame) const;
  [[nodiscard]] FrameId root_of_mounts(FrameId frame) const;
  [[nodiscard]] BodyId rigid_body(FrameId frame) const;
  [[nodiscard]] BodyId rigid_body_of(BodyId body) const;
  [[nodiscard]] std::vector<FrameId> roots_on(BodyId rigid) const;
  [[nodiscard]] std::optional<Transform> pose_on_mounts(FrameId of, FrameId in_frame, Stamp at) const;
  void note_mounts(std::span<const FrameId> changed);
  void refresh_rigid_bodies() const;
  void integrate_after_mounts();

  // twists (twist_writing.cpp)
  [[nodiscard]] TwistRecord* find_twist(FrameId of, BodyId reference, SourceId source) const;
  TwistRecord& make_twist(FrameId of, std::string_view relative_to, SourceId source);
  [[nodiscard]] const std::string& named_by(const TwistRecord& twist) const;
  [[nodiscard]] Failure to_body_form(const TwistName& name, const TwistSample& sample, BodyTwist& twist) const;
  [[nodiscard]] bool moves_on_mounts(const TwistName& name) const;
  [[nodiscard]] Failure read_twist(const TwistName& name, const TwistSample& sample, BodyTwist& twist) const;
  [[nodiscard]] Failure read_twists(const TwistName& name, std::span<const TwistSample> samples,
                                    std::vector<BodyTwist>& twists) const;
  [[nodiscard]] Failure too_old(const TwistRecord& twist, Stamp at) const;
  Failure set_twist(const TwistName& name, const TwistSample& sample);
  Failure write_twist(const TwistName& name, Stamp at, const BodyTwist& said, const SampleBase* given_on = nullptr);
  void forget_axes(TwistRecord& twist, FrameId axes);
  void erase_twist(RelationId id);
  void erase_twists_of(FrameId frame);
  void forget_twist_samples();

  // poses from twists (integration.cpp)
  [[nodiscard]] bool rests_on(FrameId frame, BodyId body, Stamp at) const;
  [[nodiscard]] bool moves_reference(const TrackRecord& track, const TwistRecord& twist) const;
  [[nodiscard]] std::optional<TwistCarrier> carrier_of(const TrackRecord& track, const TwistRecord& twist, std::size_t k) const;
  [[nodiscard]] bool is_led(const TwistRecord& twist) const;
  [[nodiscard]] std::unique_ptr<const Guide> guide_of(const TrackRecord& track, std::size_t k) const;
  void guide_series(FrameId frame);
  void guide_series(std::span<const FrameId> changed);
  [[nodiscard]] std::ptrdiff_t run_to_integrate(const TrackRecord& track, const TwistRecord& twist, Stamp at) const;
  bool drop_integrated(TrackRecord& track, Stamp from);
  void write_integrated(TrackRecord& track, const TwistRecord& twist, Stamp from);
  void write_integrated_on_cycle(TrackRecord& track, const TwistRecord& twist, Stamp from);
  void integrate(TrackRecord& track, const TwistRecord& twist, Stamp from);
  void on_twist_inserted(const TwistRecord& twist, Stamp at);
  void on_twist_inserted(const TwistRecord& twist, Stamp at, TrackRecord& track);
  void on_poses_inserted(TrackRecord& track, Stamp from, Stamp to);
  void body_grew(BodyId body);

  // joints (variable_writing.cpp)
  Failure drive(const EdgeName& edge, Stamp from, const DrivenForm& form);
  void note_drivers(const DrivenLink& link, RelationId relation);
  void forget_drives(std::size_t relations_made, std::size_t variables_made);
  void on_joints_inserted(ChannelId channel, std::span<const std::int64_t> stamps);
  void drive_by_own_variables();

  // writing (writing.cpp)
  [[nodiscard]] Failure check_stamps(const RelationRecord* relation, std::span<const std::int64_t> stamps) const;
  [[nodiscard]] Stamp oldest_welcome(const RelationRecord& relation, Stamp at) const;
  [[nodiscard]] Stamp newest(const RelationRecord& relation) const;
  bool write_in_place(RelationRecord& relation, const Sample& sample);
  bool gives_way(const TrackRecord& track, const RelationRecord& relation, const Sample& sample);
  bool gives_way(const TwistRecord& twist, Stamp at, const BodyTwist& given, const SampleBase* given_on);
  bool loses_tie(const SampleBase& there, int difference, const SampleBase* given_on);
  Failure write_known(RelationRecord& relation, const Sample& sample);
  Failure write(const EdgeName& edge, std::span<const std::int64_t> stamps, const double* rows, const double* sides,
                const SampleBase* given_on = nullptr);
  Failure open_run(const EdgeName& edge, RunRecord run, bool recalibrate = false);
  Failure fix(const EdgeName& edge, Stamp from, std::shared_ptr<const FixedPose> pose, bool recalibrate, Rank rank,
              Origin origin = Origin::asserted);
  Failure erase_fixed(TrackRecord& track, Stamp since);
  Failure await_samples(const AwaitSamples& edit);
  /// Whether a relation has samples, or expects some, or follows from where a node is: not where it is fixed or driven alone.
  [[nodiscard]] bool has_samples(const RelationRecord& relation) const;
  Failure set_interpolation(RelationRecord& relation, SampleInterpolation interpolation);
  Failure let_go(FrameId frame);
  [[nodiscard]] bool is_of_scene(FrameId frame) const;
  Failure strip_frame(FrameId frame);
  template <typename Edit>
  Failure edit_track(const EdgeName& edge, Edit edit);
  template <typename Edit>
  Failure edit_runs(TrackRecord& track, FrameId new_parent, Edit edit);
  Failure change_runs(TrackRecord& track, const std::function<void(TrackRecord&)>& change);
  [[nodiscard]] bool is_placed_by_node(std::string_view frame, std::string_view source) const;
  Failure close_track(FrameId of, SourceId source, Stamp at);
  void forget_samples(TrackRecord& track, bool time_restarts);
  void forget_all_samples(bool time_restarts);
  void restart_time();

  // samples that are taken back (forgetting.cpp)
  void note_move(const RelationRecord& relation, Stamp from);
  [[nodiscard]] bool is_run_of_node(const RunRecord& run) const;
  [[nodiscard]] std::shared_ptr<Series> remaining(const RunRecord& run, const ForgetSamples& edit);
  void forget_run(TrackRecord& track, std::size_t k, const ForgetSamples& edit);
  Failure forget_poses(FrameId of, const ForgetSamples& edit);
  void forget_waiting(std::shared_ptr<Series>& samples, const ForgetSamples& edit);
  void forget_twists(FrameId of, const ForgetSamples& edit);
  void integrate_anew(FrameId of, SourceId source);

  // runs of one track (runs.cpp)
  void place_sample(TrackRecord& track, const RelationRecord& relation, const Sample& sample);
  void place_run(TrackRecord& track, RunRecord run);
  void remove_event(TrackRecord& track, Stamp at, RelationId unless);
  void split_run(TrackRecord& track, std::size_t k, Stamp at);
  void join_runs(TrackRecord& track, std::size_t k);
  void erase_run(TrackRecord& track, std::size_t k);
  void expire_runs(TrackRecord& track, const RelationRecord& relation);
  void bound_runs(TrackRecord& track);
  void empty_run(TrackRecord& track, std::size_t k, Stamp floor);
  void drop_placeholder(TrackRecord& track, RelationId unless);
  void await_run(TrackRecord& track, const RelationRecord& relation, Stamp since);
  void end_waiting(TrackRecord& track, RelationId relation);
  void drop_unused_relations(TrackRecord& track);
  bool unshare(TrackRecord& track, std::size_t k);
  [[nodiscard]] std::shared_ptr<Series> new_series(RelationId relation);
  [[nodiscard]] std::shared_ptr<Series> copy_of(const RunRecord& run, Stamp from, Stamp to);
  [[nodiscard]] TrackRecord copy_of(const TrackRecord& track);

  // copying a forest (forest_copy.cpp)
  void become(const State& other);
  [[nodiscard]] FrameRecord copy_of(const FrameRecord& frame);
  [[nodiscard]] TwistRecord copy_of(const TwistRecord& twist);

  // cycles of frames (cycles.cpp)
  [[nodiscard]] bool reaches(FrameId from, FrameId target) const;
  [[nodiscard]] std::unordered_set<FrameId> ancestors_of(FrameId frame) const;
  [[nodiscard]] std::unordered_set<FrameId> descendants_of(FrameId frame) const;
  void refresh_cycles();
  class Climb;
  [[nodiscard]] Failure check_cycles(const TrackRecord& track) const;
  void mark_cycle(FrameId of, FrameId parent);

  // which runs are active where peers closed cycles together (track_resolution.cpp)
  void resolve_cycles(const ResolveCycles* ranking);
  Failure align(TrackRecord& track, const AlignTrack& edit);
  [[nodiscard]] bool is_overruled(const TrackRecord& track, const AlignTrack::PoseAssertion& asserted) const;
  std::set<RelationId> clear_assertions(TrackRecord& track, const AlignTrack& edit);
  [[nodiscard]] bool is_unasserted(const RunRecord& run, const AlignTrack& edit) const;
  void insert_assertion(TrackRecord& track, const AlignTrack::PoseAssertion& asserted, const RelationRecord& relation);
  void insert_assertions(TrackRecord& track, const AlignTrack& edit);
  [[nodiscard]] std::vector<Contender> contenders(const ResolveCycles* ranking);
  [[nodiscard]] std::optional<CycleRank> rank_of(const TrackRecord& track, const RunRecord& run,
                                                 const ResolveCycles* ranking) const;
  void report_cycle(const Contender& one, std::span<const FrameId> path);

  // removal (structure.cpp)
  void drop_empty_tracks(FrameId frame);
  void erase_frame(FrameId frame);
  Failure remove(FrameId frame, bool with_subtree);
  [[nodiscard]] std::vector<FrameId> subtree_of(FrameId frame) const;

  // waits (waits.cpp)
  [[nodiscard]] std::size_t waits() const { return watching.size() - mere_watches; }
  [[nodiscard]] Result<PoseAnswer> pose_by_name(const NamedQuestion& asked, Question& question) const;
  void wake_everybody();
  void forget_watch(WaitId id);
  void forget_waits();
  [[nodiscard]] bool has_driver_forgotten(const RelationRecord& relation, Stamp at) const;
  [[nodiscard]] bool is_hopeless(const Failure& failure) const;
  void watch_expiry(RelationId relation, Stamp at, const Watch& watch, Watched& watched);
  void watch_track(RelationId relation, Stamp from, Stamp to, const Watch& watch, Watched& watched);
  void watch_data(const Failure& failure, const QueryContext& context, const Watch& watch, Watched& watched);
  void watch_rivals(FrameId frame, const SegmentQuestion& wanted, const QueryContext& context, const Watch& watch,
                    Watched& watched);
  void watch_path(const SegmentQuestion& wanted, const QueryContext& context, const Watch& watch, Watched& watched);
  void watch_frames(const Watch& watch, Watched& watched);
  void watch_for(const Failure& failure, const Question& question, const Watch& watch);
  void watch_segments(const Question& question, const Watch& watch, Watched& watched);
  [[nodiscard]] Failure resolve(const NamedQuestion& asked, Question& question) const;

  // waits for motion (waits.cpp)
  void watch_segment(const SegmentQuestion& wanted, const QueryContext& context, const Watch& watch, Watched& watched);
  [[nodiscard]] std::unordered_set<BodyId> bodies_linked_to(std::unordered_set<BodyId> bodies) const;
  void watch_twist(TwistRecord& twist, const TwistQuestion& question, const Watch& watch, Watched& watched);
  void watch_links(const TwistQuestion& question, const Watch& watch, Watched& watched);
  void watch_for(const Failure& failure, const TwistQuestion& question, const Watch& watch);
};

}  // namespace armillary
