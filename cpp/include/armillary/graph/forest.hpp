#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "armillary/graph/candidates.hpp"
#include "armillary/graph/companion.hpp"
#include "armillary/graph/demands.hpp"
#include "armillary/graph/driven_form.hpp"
#include "armillary/graph/errors.hpp"
#include "armillary/graph/frame_edit.hpp"
#include "armillary/graph/measuring.hpp"
#include "armillary/graph/provider.hpp"
#include "armillary/graph/query.hpp"
#include "armillary/graph/sample_tap.hpp"
#include "armillary/graph/topology.hpp"
#include "armillary/graph/variables.hpp"
#include "armillary/graph/watch.hpp"
#include "armillary/series/series.hpp"

namespace armillary {

/// Limits and defaults, given once.
struct ForestOptions {
  Retention retention{};
  std::size_t max_runs = 1000;     ///< parents remembered for one frame and source
  std::size_t max_sources = 1000;  ///< that place one frame
  std::size_t max_waits = 10'000;
  Duration rival_timeout{1'000'000'000};           ///< how long after its last sample a source still contests others
  std::optional<Covariance> default_covariance{};  ///< of samples that come without one
  Prediction prediction{};
  std::size_t max_paths = 64;  ///< that a policy chooses among
};

/// Who places which frame in which: a pose relation.
struct EdgeName {
  std::string_view of, in_frame, source;
};

/// Who measures how which frame moves, relative to a body or any frame on it: a twist relation.
struct TwistName {
  std::string_view of, relative_to, source;
};

/// A twist as it is measured: of the origin of a frame, along the axes of any.
struct TwistSample {
  Stamp at{};
  std::string_view expressed_in;  ///< empty: the frame that moves
  Velocity velocity{};
  const Covariance* covariance = nullptr;  ///< linear, then angular, along the same axes; null: unknown
  const SampleBase* base = nullptr;        ///< null: it is given here, and now
};

/// One relation as `relations()` reports it; `in_frame` of a twist is the body it is relative to.
struct RelationInfo {
  RelationId id = kNone;
  std::string of, in_frame, source;
  ProviderKind kind = ProviderKind::none;
  std::size_t samples = 0;
  Coverage coverage{};
  SampleInterpolation interpolation = SampleInterpolation::linear;  ///< of samples
  bool integrated = false;                                          ///< its poses come from twists now
};

/// A pose that is fixed from `from` on.
struct FixedInfo {
  std::string of, in_frame, source;
  Stamp from{};
  FixedPose pose{};
};

/// A pose that is computed from `from` on.
struct DrivenInfo {
  std::string of, in_frame, source;
  Stamp from{};
};

/// A joint at one instant.
struct JointAnswer {
  double position = 0.0, velocity = 0.0;
  Stamp stamp{};
  bool has_velocity = false;          ///< false: a single sample came without one
  bool integrated = false;            ///< not given, but integrated from speeds
  std::unique_ptr<HeldSamples> held;  ///< null where it was not held
  bool predicted = false;
};

/// Several joints at one instant.
struct JointsAnswer {
  std::vector<double> positions{};
  std::vector<double> covariance{};  ///< n x n, row by row; empty where it is unknown
  Stamp stamp{};
  std::unique_ptr<HeldSamples> held{};  ///< null where none was held
  bool predicted = false;
};

/// Where was `of`, seen from `in_frame`? With `of_at` and `fixed_frame`: the two ends at two instants.
struct Question {
  FrameId of = kNone;
  FrameId in_frame = kNone;
  When at{};
  FrameId fixed_frame = kNone;
  When of_at{};
  QueryContext context{};
};

/// How did the body of `of` move, relative to another body?
struct TwistQuestion {
  FrameId of = kNone;
  FrameId reference = kNone;     ///< a frame of the other body, where the path of poses ends
  BodyId relative_to = kNone;    ///< in its place the body alone: the path ends at its nearest frame
  FrameId expressed_in = kNone;  ///< along whose axes; none: `reference`
  FrameId point = kNone;         ///< whose origin is the point, as fixed to the moving body; none: `of`
  When at{};
  Duration window{};          ///< 0: derivative of the interpolated pose; else a central difference over it
  bool with_measured = true;  ///< false: poses alone, as if nobody had measured a twist
  QueryContext context{};
};

/// A question about a pose by name: for waits, which may be asked before the frames exist.
struct NamedQuestion {
  std::string of, in_frame, fixed_frame;
  When at{}, of_at{};
  QueryContext context{};
};

/// A question about motion by name; what is not asked for is empty.
struct NamedTwistQuestion {
  std::string of, relative_to, expressed_in, point;
  When at{};
  Duration window{};
  bool with_measured = true;
  QueryContext context{};
};

/// All frames seen from one, at one time.
struct Sweep {
  Sweep() = default;
  Sweep(Sweep&&) = default;
  Sweep& operator=(Sweep&&) = default;

  struct Found {
    FrameId frame;
    Transform transform;
    Stamp stamp;
    bool held;
    bool predicted;
  };
  struct Missing {
    std::string name;
    Failure failure;
  };
  std::vector<Found> found;
  std::vector<Missing> missing;
  HeldSamples held;                      ///< what was held for any of them; with LATEST the oldest of each
  std::string names;                     ///< of what was found, one behind the other
  std::vector<std::uint32_t> name_ends;  ///< where each of them ends

  [[nodiscard]] std::string_view name(std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : name_ends[i - 1];
    return std::string_view(names).substr(begin, name_ends[i] - begin);
  }
};

/// Samples of one relation, oldest first.
struct SampleTable {
  std::vector<std::int64_t> stamps;
  std::size_t width = 7;
  std::vector<double> values;       ///< `width` a row: xyz, wxyz; of a twist linear, angular, in the body form
  std::vector<double> covariances;  ///< 36 a row, NaN where unknown; empty where no row has one
};

/// A relation that may have samples.
struct SampledRelation {
  bool is_twist = false;
  std::string in_frame{}, source{};  ///< of motion: what it is relative to
  bool is_of_node = false;           ///< it follows from where a node is
  std::size_t within = 0, all = 0;   ///< samples that were given
};

/// One frame seen from another.
struct FramePair {
  FrameId of = kNone, in_frame = kNone;
};

/// Frames, pose relations and their histories; every question about them.
///
/// Writing takes one lock. Reading takes none: structure is read through one version per question, samples are
/// whole per relation, and nothing a reader holds is freed. Reading never waits for writing.
class Forest {
 public:
  explicit Forest(ForestOptions options);
  ~Forest();
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;

  /// Takes over frames, relations and samples of another; not its companion, nor who waits. To be called on an empty forest.
  void become(const Forest& other);

  // -- Names

  FrameId add_frame(std::string_view name);
  /// The frame of this name, or the one that the companion calls so; kNone where there is none.
  [[nodiscard]] FrameId find_frame(std::string_view name) const;
  [[nodiscard]] bool has_frame(std::string_view name) const;  ///< by its own name
  /// Asks again who waits for a frame of this name: the companion calls one so now.
  void wake_name(const std::string& name);
  [[nodiscard]] std::string frame_name(FrameId id) const;
  [[nodiscard]] std::vector<std::string> frame_names() const;  ///< in the order they came
  [[nodiscard]] BodyId body_of(FrameId id) const;
  /// The body of this name, or that of the frame of this name; kNone where there is neither.
  [[nodiscard]] BodyId find_body(std::string_view name) const;
  [[nodiscard]] std::string body_name(BodyId id) const;
  [[nodiscard]] std::vector<std::string> body_names() const;  ///< that were ever declared, in the order they came
  [[nodiscard]] std::vector<std::string> frames_of(BodyId body) const;
  [[nodiscard]] const ForestOptions& options() const;

  // -- Writing. A failed call changes nothing.

  /// Places a frame at one instant; a new parent moves it there from that instant on.
  /// A relation whose samples are to come from `since` on; where it is known, it gets the interpolation.
  Failure add_relation(const EdgeName& edge, Stamp since, SampleInterpolation interpolation);
  Failure set_pose(const EdgeName& edge, Stamp at, const Transform& in_frame_T_of, const Covariance* covariance = nullptr);

  /// Stores a sample by relation number; does nothing where there is no such relation of samples: use `set_pose` then.
  std::optional<Failure> try_insert(FrameId of, FrameId in_frame, SourceId source, Stamp at, const Transform& in_frame_T_of,
                                    const Covariance* covariance = nullptr);

  /// Stores samples of others of a relation that has one parent for all time, and gives back how many of the first ones are
  /// done so: stored, or left out because they are older than what is remembered. The others need `transact`.
  std::size_t merge_in_place(const PlaceSamples& samples, const SampleBase* base);

  /// kNone where there is none.
  [[nodiscard]] RelationId find_relation(FrameId of, FrameId in_frame, std::string_view source) const;
  [[nodiscard]] SourceId find_source(std::string_view name) const;

  /// The fast lane of decoders: no names, no structure.
  Failure insert(RelationId relation, Stamp at, const Transform& in_frame_T_of, const Covariance* covariance = nullptr);

  /// Many samples of one relation: stamps, seven values a row (wxyz, xyz), and 21 a row or null. All or nothing.
  Failure set_poses(const EdgeName& edge, std::span<const std::int64_t> stamps, const double* rows, const double* sides);

  /// A constant pose: always, or from `from` until a newer one. Within a body it is given once, unless
  /// it is to be corrected.
  Failure fix(const EdgeName& edge, Stamp from, const FixedPose& pose, bool recalibrate = false);
  Failure fix(const EdgeName& edge, Stamp from, std::shared_ptr<const FixedPose> pose, bool recalibrate = false);

  /// A computed pose: always, or from `from` on.
  Failure drive(const EdgeName& edge, Stamp from, std::shared_ptr<DrivenProvider> provider);
  /// To be called when what `relation`'s provider covers has grown to `stamp`.
  void driven_changed(RelationId relation, Stamp stamp);

  // -- Joints: the variables that drive poses

  /// See `Variables::declare`.
  Failure declare_variables(std::span<const Variables::Declaration> declarations);
  [[nodiscard]] VariablePtr find_variable(std::string_view name) const;  ///< null where there is none
  [[nodiscard]] bool has_velocities() const;  ///< whether some velocity was measured alone: see `Variables::has_velocities`
  [[nodiscard]] std::vector<std::pair<std::string, VariableKind>> variables() const;         ///< in the order they came
  [[nodiscard]] Result<ChannelId> joint_channel(ChannelName name, std::string_view source);  ///< for `set_joints`
  /// Rows as `Channel` has them. All or nothing; rotations are brought to length one in place.
  Failure set_joints(ChannelId channel, std::span<const std::int64_t> stamps, double* rows);
  /// What the rows of a channel are: `names` in the order of the columns.
  struct JointChannelInfo {
    RowForm form{};
    std::string source{};
    std::vector<std::string> names{};
  };
  [[nodiscard]] JointChannelInfo channel_info(ChannelId channel) const;
  /// From now on copies of samples go to `tap`, but those of nodes, which are no samples of a relation.
  void add_tap(std::shared_ptr<SampleTap> tap);

  // -- What lacks of samples that others give (gaps.cpp). False, or nothing, where there is no such relation or channel.

  /// What questions lack because it is not received.
  [[nodiscard]] Demands& demands() const;
  /// All waits ask again.
  void wake_waits();
  /// Samples after those that are here are not received any more: nothing after them is answered until it is resumed.
  bool end_coverage(SampleKind kind, std::uint32_t id);
  /// They are received again: all of them where `from` is empty, else those from `from` on, and before it there is a gap.
  bool resume_coverage(SampleKind kind, std::uint32_t id, std::optional<Stamp> from);
  [[nodiscard]] bool has_ended(SampleKind kind, std::uint32_t id) const;
  /// Samples were lost between two instants.
  bool add_gap(SampleKind kind, std::uint32_t id, Gap gap);
  /// All samples between two instants are here: gaps within are none any more.
  bool close_gaps(SampleKind kind, std::uint32_t id, Gap filled);
  /// The samples from an instant on, by stamp: those without a covariance, then those with one.
  [[nodiscard]] std::vector<SampleBatch> stored(SampleKind kind, std::uint32_t id, Stamp from) const;
  [[nodiscard]] Stamp newest_stored(SampleKind kind, std::uint32_t id) const;  ///< `always` where there is none
  /// A pose that joints drive: always, or from `from` on. `part_of_rotation` where they do not fit.
  Failure drive_by_joints(const EdgeName& edge, Stamp from, const DrivenForm& form);
  /// Prefers a source of a variable at all times, while it is open; an empty optional removes the preference. False: the source
  /// has no sample of it.
  bool prefer_variable(const Variable& variable, std::optional<std::string_view> source);
  [[nodiscard]] std::vector<std::string> sources_of(const Variable& variable) const;
  /// LATEST is its newest sample.
  [[nodiscard]] Result<JointAnswer> joint(const Variable& variable, When at, const QueryContext& context) const;
  /// LATEST is the newest instant that all of them cover.
  [[nodiscard]] Result<JointsAnswer> joints(std::span<const Variable* const> variables, When at,
                                            const QueryContext& context) const;
  [[nodiscard]] VariableTable joint_samples(const Variable& variable, std::string_view source, Stamp from, Stamp to) const;

  /// Frames that are one rigid body from now on, made where they are new. They come from bodies of their own; two of
  /// them must not be joined by a relation that can move. A second call adds frames.
  Failure add_body(std::string_view name, std::span<const std::string_view> frames);

  /// How a frame moves at one instant. Other axes than its own are turned with the poses known for that instant.
  Failure set_twist(const TwistName& name, const TwistSample& sample);
  /// What keeps one of these twists from being stored, with its row; nothing is stored.
  [[nodiscard]] Failure check_twists(const TwistName& name, std::span<const TwistSample> samples) const;
  /// All of them, or none; those that the newest makes too old are not kept. The relation was made before.
  Failure set_twists(const TwistName& name, std::span<const TwistSample> samples);
  /// kNone where no such twist relation was made before.
  [[nodiscard]] RelationId find_twist(const TwistName& name) const;
  /// Whether what is missing can never come any more.
  [[nodiscard]] bool is_hopeless(const Failure& failure) const;

  /// Whose placement of a frame ends when the frame is released; none where nobody's does.
  [[nodiscard]] std::optional<std::string> holder(FrameId frame, Stamp at) const;

  /// Prefers a source of a frame at all times, while it is open; an empty optional removes the preference.
  Failure prefer(FrameId of, std::optional<std::string_view> source);
  /// Whether a source places a frame, or measures how its body moves: else there is nothing to prefer.
  [[nodiscard]] Failure check_source(FrameId of, std::string_view source) const;

  Failure keep(RelationId relation, const Retention& retention);
  [[nodiscard]] Retention retention_of(RelationId relation) const;

  Failure remove_frame(FrameId frame, bool with_subtree);
  /// The frame and everything that is or was below it; empty where there is no such frame.
  [[nodiscard]] std::vector<std::string> subtree(FrameId frame) const;
  /// How many frames were published until now, each as often as it was: grows with every change of where frames are
  /// fixed, and from where they are sampled or driven.
  [[nodiscard]] std::uint64_t frames_changed() const;
  /// The frames that were published since there were so many, and all that are or were below them: every other pose in
  /// every other frame is what it was. Nothing where that is forgotten.
  [[nodiscard]] std::optional<std::vector<std::string>> frames_changed_since(std::uint64_t number) const;
  /// The frames that are or were in a frame.
  [[nodiscard]] std::vector<std::string> children(std::string_view name) const;

  /// All edits, in order; readers see them at once, and the companion with them (null: the present one stays).
  /// Where an edit fails nothing has changed, and `row` of the failure is its place in the list. Without edits the
  /// companion alone is published, at a cost that does not grow with the frames.
  Failure transact(std::span<const FrameEdit> edits, CompanionPtr companion = nullptr);
  /// Runs that `ResolveCycles` made inactive, in the order of their assertions.
  [[nodiscard]] std::vector<ClosingRun> closing_runs() const;
  [[nodiscard]] bool has_closing_runs() const;
  /// Whether nothing of a source comes after what it asserts of a frame from `since` on.
  [[nodiscard]] bool ends_with(std::string_view of, std::string_view source, Stamp since) const;

  /// Samples that are given from now on are on top of this.
  void set_base(const SampleBase& base);
  [[nodiscard]] SampleBase base() const;

  /// The samples, those of nodes aside, that were given on top of `base` or of what came later: by one source of one frame,
  /// or all.
  [[nodiscard]] std::vector<PlaceSample> samples_since(const SampleBase& base, std::string_view of = {},
                                                       std::string_view source = {}) const;

  /// A frame that samples given here moved to another parent, or back to one.
  struct Move {
    std::string of, in_frame, source;
    Stamp from;
  };
  [[nodiscard]] bool has_moves() const;
  /// Those since the last call, of relations that are still there.
  [[nodiscard]] std::vector<Move> take_moves();

  /// How many samples were taken back so far: by `ForgetSamples`, with relations and with frames.
  [[nodiscard]] std::size_t taken_back() const;
  /// The relations of a frame that may have samples, and how many they have from `from` until before `to`, and at all times.
  [[nodiscard]] std::vector<SampledRelation> sampled_relations(std::string_view of, Stamp from, Stamp to) const;
  /// From when until when a frame is in another by samples of a source, around `at`; none where it is not.
  [[nodiscard]] std::optional<std::pair<Stamp, Stamp>> run_of(const EdgeName& edge, Stamp at) const;

  void clear();                                                    ///< forgets samples; structure and fixed poses stay
  void clear_poses(std::string_view of, std::string_view source);  ///< as `clear`, of the poses of one frame by one source
  void reset_time();  ///< as `clear`, for a clock that starts again; a fixed pose is then fixed since always

  // -- Asking

  [[nodiscard]] Result<PoseAnswer> pose(const Question& question) const;
  [[nodiscard]] bool can_pose(const Question& question) const;
  /// Several poses, all at one instant and in one version of the structure: with LATEST at the newest that every path
  /// covers. A failure names its pair as a row.
  [[nodiscard]] Result<std::vector<PoseAnswer>> poses_at_once(std::span<const FramePair> pairs, When at,
                                                              const QueryContext& context) const;
  /// Every path between the two frames, through each of the sources that place a contested frame; those without an
  /// answer carry the reason. Paths that lead elsewhere are among them, as `not_connected`.
  [[nodiscard]] Result<CandidateSet> candidates(const Question& question, std::size_t max_paths = 64) const;
  /// By the policy of the context: as `pose` where nobody contests anything, else of all paths.
  [[nodiscard]] Result<PolicyAnswer> pose_by_policy(const Question& question) const;
  [[nodiscard]] Result<TwistAnswer> twist_by_policy(const TwistQuestion& question) const;
  /// Measured twists that lead from body to body; else along the poses, edge by edge.
  [[nodiscard]] Result<TwistAnswer> twist(const TwistQuestion& question) const;
  /// The same question at many instants, six values a row: linear, angular. Stops at the first failure and names its row.
  [[nodiscard]] Failure twists(const TwistQuestion& question, std::span<const std::int64_t> stamps, double* out) const;
  /// With 36 numbers of covariance for each, NaN where it is unknown.
  [[nodiscard]] Failure twists(const TwistQuestion& question, std::span<const std::int64_t> stamps, double* out,
                               double* covariances) const;

  /// One answer per stamp, in order; `write(row, transform)`. Stops at the first failure and names its row.
  enum class Layout { matrix, xyz_wxyz };
  [[nodiscard]] Failure poses(FrameId of, FrameId in_frame, std::span<const std::int64_t> stamps, const QueryContext& context,
                              Layout layout, double* out) const;

  /// `to_T_from(t_i) * p_i` for every point.
  [[nodiscard]] Failure map_points(FrameId from, FrameId to, std::span<const std::int64_t> stamps, const QueryContext& context,
                                   const double* points, double* out) const;

  [[nodiscard]] Sweep snapshot(FrameId in_frame, When at, const QueryContext& context) const;

  [[nodiscard]] std::vector<RelationInfo> relations() const;
  /// The newest stamp of all samples, those of joints and twists included; `always` where there is none.
  [[nodiscard]] Stamp newest_stamp() const;
  [[nodiscard]] std::optional<RelationInfo> relation(RelationId id) const;
  [[nodiscard]] std::vector<FixedInfo> fixed_poses() const;
  [[nodiscard]] std::vector<DrivenInfo> driven_poses() const;
  [[nodiscard]] RelationId relations_made() const;             ///< one more than the highest relation id so far
  [[nodiscard]] std::size_t relations_alive() const;           ///< how many there are
  [[nodiscard]] std::vector<RelationId> relation_ids() const;  ///< of those there are
  /// The names of a relation; of a motion, `in_frame` is a body.
  struct Edge {
    std::string of, in_frame, source;
  };
  [[nodiscard]] std::optional<Edge> edge_of(RelationId relation) const;
  [[nodiscard]] SampleTable samples(RelationId relation, Stamp from, Stamp to) const;
  /// Brings a filter in line with the samples there are: it goes on from the first that it has not had. How many of each source
  /// it uses.
  [[nodiscard]] std::vector<MeasuredCount> measure(const MeasuredFrame& question, PoseFilter& filter) const;
  /// Samples that a source gave of a node's frame, in the runs that begin from `from` until before `until`.
  [[nodiscard]] SampleTable node_samples(std::string_view of, std::string_view source, Stamp from, Stamp until) const;
  [[nodiscard]] std::vector<std::string> sources_of(FrameId frame) const;
  /// The sources that hold the frame at `at`; more than one contest it.
  [[nodiscard]] std::vector<std::string> sources_at(FrameId frame, Stamp at) const;
  /// The sources that measure the motion between the two bodies of a twist relation, in the order of their first samples.
  [[nodiscard]] std::vector<std::string> rivals_of_twist(RelationId relation) const;
  /// Parent of `frame` at `at` as `pose` would take it; kNone for a root or a contested frame.
  [[nodiscard]] std::pair<FrameId, RelationId> parent_at(FrameId frame, When at) const;

  /// Whether a body was declared or a motion measured: then structure obeys rules.
  [[nodiscard]] bool has_bodies() const;
  /// The instants after `from` at which a frame gets another parent or another source; oldest first.
  [[nodiscard]] std::vector<Stamp> moves_after(Stamp from) const;

  /// A frame, its parent and the source of that; empty names for a root or a contested frame.
  struct Parentage {
    std::string frame, parent, source;
  };
  /// The parent of every frame, in the order the frames came.
  [[nodiscard]] std::vector<Parentage> parents(When at) const;

  /// What was published with the frames last; null where nobody gave one. To see both in one version: ForestView.
  [[nodiscard]] CompanionPtr companion() const;

  /// Frames, other than these, that are below them at `at` or later, in the order they came.
  [[nodiscard]] std::vector<std::string> frames_under(std::span<const std::string> frames, Stamp at) const;

  /// Whether the source gives nothing of the frame after `at`, and the frame has that parent then.
  [[nodiscard]] bool ends_with(const EdgeName& edge, Stamp at) const;
  /// Whether a source places the frame already, or one more may.
  [[nodiscard]] bool has_room_for(FrameId of, std::string_view source) const;
  /// Whether the frame is that of a thing which was away, or is.
  [[nodiscard]] bool has_inactive_intervals(const std::string& of) const;

  // -- Waiting

  /// Answers, or arranges for `watch` to be woken when the one missing thing changes: ask again then.
  [[nodiscard]] Result<PoseAnswer> answer_or_watch(const NamedQuestion& question, const Watch& watch);
  [[nodiscard]] Result<TwistAnswer> answer_or_watch(const NamedTwistQuestion& question, const Watch& watch);
  /// Arranges for `watch` to be woken when the answer may be another one, beside the waits and their limit. False: there
  /// is an answer, or none can come any more.
  [[nodiscard]] bool watch_pose(const NamedQuestion& question, const Watch& watch);
  /// Arranges for `watch` to be woken when any path between the frames changes, or gets what it lacks. A failure: none
  /// of them ever will.
  [[nodiscard]] Failure watch_paths(const NamedQuestion& question, const Watch& watch, std::size_t max_paths = 64);
  [[nodiscard]] bool is_watching(WaitId id) const;  ///< false: answered, or no answer can come
  void forget_watch(WaitId id);
  [[nodiscard]] WaitId new_wait_id();
  /// Blocks until there is an answer, or none can come (`hopeless`), or `timeout_ns` is over (negative: no limit).
  /// `keep_waiting` is asked now and then, to let an interrupt through; nothing is asked again for it.
  [[nodiscard]] Result<PoseAnswer> wait_for_pose(const NamedQuestion& question, std::int64_t timeout_ns,
                                                 const std::function<bool()>& keep_waiting = {}, bool* hopeless = nullptr);
  [[nodiscard]] Result<TwistAnswer> wait_for_twist(const NamedTwistQuestion& question, std::int64_t timeout_ns,
                                                   const std::function<bool()>& keep_waiting = {}, bool* hopeless = nullptr);
  [[nodiscard]] std::size_t waits_pending() const;

  /// Ends every wait; later waits fail at once.
  void close();

 private:
  friend class ForestView;
  struct State;
  [[nodiscard]] RelationInfo twist_info(const struct TwistRecord& record) const;
  std::unique_ptr<State> state_;
};

}  // namespace armillary
