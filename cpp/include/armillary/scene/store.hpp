#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <span>

#include "armillary/detail/at_fork.hpp"
#include "armillary/graph/forest.hpp"
#include "armillary/scene/assertion_log.hpp"
#include "armillary/scene/frames.hpp"
#include "armillary/scene/record_tap.hpp"

namespace armillary::scene {

enum class Fault : std::uint8_t {
  none,
  unknown_node,
  unknown_parent,
  node_exists,
  not_a_group,
  not_a_transform,
  cycle,
  not_its_parent,
  already_its_parent,
  permanent,
  too_many_keys,
  built_upon,
  built_upon_frame,
  no_inverse,  ///< a change that cannot be undone
  nothing_to_undo,
  holds_nodes,       ///< nodes are in the frame that was to be removed: see `path`
  frame_of_node,     ///< the frame goes with its node alone
  name_taken,        ///< a node (`parent`), or a frame or body, has the name that the frame of a new node was to have
  frame_in_use,      ///< other frames are below the frame that was to be removed: see `failure`
  unknown_relation,  ///< nothing is known of `frame` in `in_frame`, or by `source`
  relation_of_node,  ///< it follows from where a node is
  frames,            ///< the frames of the world do not allow it: see `failure`
};

/// Why a change was refused: what was asked, what is true.
struct Refusal {
  Fault fault = Fault::none;
  std::size_t row = 0;  ///< which of the changes
  NodeId node{}, parent{};
  NodeKind kind = NodeKind::unknown;
  std::string frame{}, in_frame{}, source{};
  std::vector<NodeId> path{};  ///< of a cycle, from the new parent up to the node
  Failure failure{};

  explicit operator bool() const { return fault != Fault::none; }
};

/// A change as its author wants it: what it refers to is filled in when it is applied.
struct ChangeRequest {
  Change change{};                 ///< its payload and `at`; of a removal the parent, or none for all
  bool with_frames_under = false;  ///< removes though frames of others are below; of frames, those and nodes in them as well
  bool restores = false;           ///< undoes a removal: the node may be removed; or makes a change again, as it was
  bool is_unchecked = false;       ///< may contradict what is active: it is then inactive, as if others had asserted it
  /// What goes with samples that are forgotten: nothing, relations that have none left, or all that is asserted of a relation.
  enum class Empties : std::uint8_t { nothing, unsampled, relation } empties = Empties::nothing;
  std::optional<log::Epoch> epoch{};   ///< whose slot it writes; none: that of the present
  std::optional<NodeSample> sample{};  ///< in place of a change: where a Transform is at an instant
  /// Of samples that are asserted to come: the first of them, which make the relation. `PlaceSample`, `PlaceSamples`,
  /// `PlaceTwist`, after an `AwaitSamples` where it chooses how they are interpolated.
  std::vector<FrameEdit> first_samples{};
};

struct Outcome {
  Refusal refusal{};
  std::vector<ChangePtr> changes{};
  std::vector<std::size_t> rows{};  ///< of which request each change is
  std::size_t samples_gone = 0;     ///< samples that were taken back with it
  bool frames_went = false;         ///< because nothing names them any more
};

struct StoreOptions {
  std::string author{};
  std::string root_frame = "map";
  Duration history{};                ///< how long what ended is remembered
  std::size_t max_removed = 10'000;  ///< names of removed frames that are remembered
  std::size_t max_undo = 100;
  std::uint64_t replica_id = 0;  ///< tells replicas of the same author name apart
  std::size_t max_runs = 1000;
  std::uint8_t authority = 0;  ///< where replicas contradict one another, more of it wins
};

/// What undoing one change needs.
struct UndoEntry {
  ChangePtr change{};
  RecordPtr before{};              ///< of a removal and of attributes: the node before
  VersionPtr version{};            ///< of a removal where others were in the node: what they were
  bool with_frames_under = false;  ///< of frames that were removed: though others were below
};

/// A change that was undone, and how many entries of its batch did that.
struct UndoneChange {
  ChangePtr change{};
  bool with_frames_under = false;
  std::size_t entries = 0;
};

/// The inverses of changes of frames, one by one; none where there is none.
using Inverses = std::vector<Inverse>;

/// Samples that moved a frame to another parent.
struct SampleMove {
  RelationName relation{};
  Stamp from{};
};

struct Batch {
  std::vector<UndoEntry> entries{};
  Inverses inverses{};
  std::vector<UndoneChange> undone{};  ///< where it is for `redo`: what the last of its entries undid, the last change first
  std::string tag{};
  bool detaches_frames = false;       ///< nodes go though frames of others are below
  std::vector<NodeSample> samples{};  ///< of nodes whose frames went with what they were in
  std::vector<NodeSample> written{};  ///< that came with it
  std::vector<SampleMove> moves{};    ///< that samples made
  bool is_by_samples = false;         ///< nobody asked for it but by samples
  std::size_t samples_gone = 0;       ///< samples that were taken back with it
};

/// What undo, or redo, took back.
struct TakenBack {
  Outcome outcome{};
  std::vector<ChangePtr> undone{};
  std::vector<NodeSample> written{};
  std::vector<SampleMove> moves{};
  std::string tag{};
  std::size_t samples_lost = 0;  ///< those that went with it, and those that do not come back
};

/// The frame edits of a change made here: all of it is done, or it is refused.
/// `lets_others_go`: frames are removed though others are below.
void add_frame_edits(const Change& change, bool lets_others_go, std::vector<FrameEdit>& edits);
/// Whether a frame is there though no record names it.
using FrameKeeper = std::function<bool(const std::string& frame)>;

/// What a set of changes may end, as it was asserted before.
struct TouchedTracks {
  std::vector<log::Track> tracks{};
  std::vector<RelationName> twists{};
  std::set<std::string> frames{};     ///< that records name which are superseded
  std::vector<std::string> placed{};  ///< frames of nodes that are placed anew by sources that others use as well
  log::Superseded superseded{};
};

/// What changes that are not taken yet may end, and what bodies make inactive until now.
[[nodiscard]] TouchedTracks touched_tracks(const AssertionLog& assertions, std::span<const ChangePtr> changes);
/// The frame edits of a set of changes that the assertion log has taken. `is_done`: what they erase is gone already.
[[nodiscard]] std::vector<FrameEdit> aligning_edits(const AssertionLog& assertions, std::span<const ChangePtr> changes,
                                                    const FrameKeeper& is_kept, const TouchedTracks& touched, bool is_done);
/// The frames that changes are about, or name, and those of nodes that are placed anew with them.
[[nodiscard]] std::vector<std::string> frames_in(std::span<const ChangePtr> changes, const TouchedTracks& touched);
/// The edit that decides which poses are active among those that close cycles together.
[[nodiscard]] FrameEdit cycle_resolution(const AssertionLog& assertions);

/// The writer of a world's structure: changes are applied whole or not at all, versions are published.
///
/// Writers take the one lock of their store; readers take none. No two stores' locks are ever waited for together: copies
/// share immutable tries, and what is merged was copied out before.
class Store {
 public:
  /// Keeps other threads from changing this store, or waiting for it, as long as it lives. What its thread does goes on.
  class Hold : detail::TrieArena::Guard {
   public:
    explicit Hold(const Store& store) : Guard(*store.arena_) {}
    /// False where another thread holds it.
    Hold(const Store& store, std::try_to_lock_t) : Guard(*store.arena_, std::try_to_lock) {}
    using Guard::operator bool;
  };

  Store(std::shared_ptr<Forest> forest, StoreOptions options);

  /// A copy of a scene for a copy of its forest; what it does not change it shares.
  Store(const Store& other, std::shared_ptr<Forest> forest, std::uint64_t replica_id);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Makes the frame of the root, when the scene is first used; from then on it is there, whatever is undone.
  void open();

  [[nodiscard]] VersionPtr version() const;
  [[nodiscard]] const FrameNames& names() const { return names_; }
  /// The name by which the forest and the log know a frame: that of a node's frame is made of the node's id.
  [[nodiscard]] std::string frame_key(std::string_view name) const;
  /// The name by which people know a frame; the inverse of `frame_key`.
  [[nodiscard]] std::string frame_label(std::string key) const;
  /// The name by which people know a source: that of a containment is the id of the parent, and is called like its frame.
  [[nodiscard]] std::string source_label(std::string source) const;
  /// The frame that a node is in, as the forest knows it; empty where there is no such node.
  [[nodiscard]] std::string frame_of_node(const NodeId& node) const;
  /// A node whose frame was to have a name that another node, or a frame or body of that name, has.
  struct Unnamed {
    NodeId node{};
    std::string name{};
    NodeId owner{};  ///< nil: a frame or a body
  };
  [[nodiscard]] std::vector<Unnamed> unnamed() const;
  /// How often a frame that existed got another label.
  [[nodiscard]] std::uint64_t relabelled() const { return relabelled_.load(std::memory_order_relaxed); }
  [[nodiscard]] const StoreOptions& options() const { return options_; }

  /// Refuses what is wrong: then nothing has happened. What nobody asked for, such as expiry, is not for `undo`.
  /// `tag` names the batch for who wants to undo it.
  Outcome apply(std::vector<ChangeRequest> requests, std::int64_t now_ns, bool for_undo = true, std::string tag = {});
  /// Applies changes as `merge` takes those of others: conflicting ones become inactive. What is malformed is still refused.
  Outcome apply_unchecked(std::vector<ChangeRequest> requests, std::int64_t now_ns);
  /// Whether samples of a relation are asserted: that it is fixed, or driven, is not enough.
  [[nodiscard]] bool expects_samples(const RelationName& relation) const;
  /// The assertion that decides how samples of a relation are interpolated; none where nobody made one.
  [[nodiscard]] std::optional<log::Slot> samples_slot(const RelationName& relation) const;
  [[nodiscard]] bool knows_twist(const RelationName& relation) const;
  [[nodiscard]] std::optional<bool> is_named(const std::string& name) const;
  [[nodiscard]] std::uint64_t time_epoch() const;
  /// Samples of a Transform in its last incarnation.
  [[nodiscard]] SampleTable samples(const NodeId& node) const;
  /// Forgets all samples of a Transform, the pose that it was made with included where it is one.
  void clear_samples(const NodeId& node);
  [[nodiscard]] Digest frames_digest() const;
  /// Assertions about frames that are inactive: the same for every replica with the same changes.
  [[nodiscard]] std::vector<InactiveAssertion> inactive() const;
  /// Takes what others accepted already, in any order, any number of times; gives back what was new.
  Outcome merge(std::span<const ChangePtr> changes);
  /// Takes samples of others. False where there is no assertion of such a relation: then nothing happened. A sample
  /// that is older than what is remembered is left out, and so is one that was taken back.
  bool merge_samples(std::vector<PlaceSample> samples);
  /// The same for those of the first samples of a relation that change nothing but its series; how many these were.
  std::size_t merge_in_place(const PlaceSamples& samples, const std::optional<SampleBase>& base);
  /// What orders changes: the machine's clock, or a fixed time for tests and simulations of several replicas.
  void set_machine_time(std::optional<std::int64_t> ns);
  /// The newest change that is held, as samples that are given now name it.
  [[nodiscard]] SampleBase sample_base() const;
  /// Applies the inverse of the last batch applied here, as new changes.
  TakenBack undo(std::int64_t now_ns);
  TakenBack redo(std::int64_t now_ns);
  /// Takes note of frames that samples moved since, for `undo`.
  void note_moves();
  /// The tags of what `undo` and `redo` would invert; empty where there is nothing, or it has none.
  [[nodiscard]] std::pair<std::string, std::string> tags();
  /// Marks an edit that `undo` must not cross; and removes the mark.
  void push_undo_barrier(std::string tag);
  bool remove_undo_barrier(const std::string& tag);  ///< false where there is no such barrier

  /// The changes that a replica with this version vector lacks; false where some are not kept any more.
  [[nodiscard]] bool changes_since(const log::VersionVector& held, std::vector<ChangePtr>& out) const;
  /// Which source is preferred for which joint, and when.
  [[nodiscard]] std::vector<std::pair<std::string, log::PreferenceStep>> joint_preferences() const;
  /// Which changes are held, those that are superseded included.
  [[nodiscard]] log::VersionVector version_vector() const;
  /// Removals that are not kept any more: who has not seen them needs a full copy.
  [[nodiscard]] log::VersionVector dropped() const;
  /// From now on copies of records, and of samples of nodes, go to `tap`.
  void add_tap(std::shared_ptr<RecordTap> tap);
  /// Completes what `records` of another store gave: which changes it held, and dropped.
  void note_held(const log::VersionVector& held, const log::VersionVector& dropped);
  /// All changes that can still matter, in the order in which they were made: a replica that merges them is equal to this.
  [[nodiscard]] std::vector<ChangePtr> records() const;

 private:
  Store(const Hold& other_is_held, const Store& other, std::shared_ptr<Forest> forest, std::uint64_t replica_id);

  struct Taken {
    std::vector<ChangePtr> changes{};
    std::vector<UndoEntry> entries{};  ///< one for each change that is made here
    std::vector<NodeSample> samples{};
    bool adds = false;      ///< one of them puts a node somewhere
    bool is_local = false;  ///< what the frames of the world do not allow is refused
    bool expects_nothing_under = false;
    std::set<Dot> with_subtree{};  ///< removals of frames with all that is below
    std::set<Dot> of_other_epochs{};
    std::map<Dot, std::vector<FrameEdit>> first_samples{};
    std::vector<std::size_t> rows{};  ///< of which request each change is
    std::size_t row = 0;
    TouchedTracks touched{};
    log::Epoch epoch{};  ///< the time epoch of the next change that is signed here
    log::HybridClock clock{};
    std::uint64_t signed_here = 0;
    Inverses inverses{};       ///< filled in by `commit`
    bool frames_went = false;  ///< filled in by `commit`
  };

  [[nodiscard]] Refusal complete(ChangeRequest& request, Draft& draft, std::int64_t now_ns, Taken& taken) const;
  [[nodiscard]] Refusal check_removal(const log::RemoveFrames& payload, const Version& version) const;
  [[nodiscard]] Refusal check_frame_name(const ChangeRequest& request, const Version& version, const Taken& taken) const;
  [[nodiscard]] bool is_plain_name(const std::string& name) const;
  void note_names(const Draft& draft, const std::vector<ChangePtr>& changes);
  [[nodiscard]] Refusal add_subtree(ChangeRequest& request, Draft& draft, std::int64_t now_ns, Taken& taken) const;
  [[nodiscard]] Refusal add_emptied(const ChangeRequest& request, Draft& draft, std::int64_t now_ns, Taken& taken) const;
  [[nodiscard]] Refusal take(std::vector<ChangeRequest> requests, Draft& draft, std::int64_t now_ns, Taken& taken) const;
  [[nodiscard]] Outcome commit(Draft& draft, Taken& taken);
  void note_assertions(Taken& taken);
  void sign(Change& change, Taken& taken) const;
  [[nodiscard]] FrameKeeper frame_keeper(const Version& version) const;
  Inverses take_assertions(const std::vector<ChangePtr>& changes);
  void realign(std::span<const ChangePtr> changes, const TouchedTracks& touched, const Draft& draft);
  [[nodiscard]] bool is_in_line(const Change& change) const;
  [[nodiscard]] bool ends_samples(const TouchedTracks& touched) const;
  [[nodiscard]] bool are_awaited(std::span<const ChangePtr> changes) const;
  [[nodiscard]] Refusal undo_assertion(const Change& change, const Inverse& inverse, std::vector<ChangeRequest>& requests) const;
  [[nodiscard]] std::vector<FrameEdit> edits_of(Draft& draft, Taken& taken) const;
  void add_voided(const Change& change, const Version& version, std::vector<FrameEdit>& edits) const;
  void add_samples_since(const Draft& draft, const Taken& taken, std::vector<FrameEdit>& edits) const;
  void touch_placed(std::span<const FrameEdit> edits, TouchedTracks& touched) const;
  /// Whether there are any.
  bool add_vanishing_frames(const Draft& draft, const std::vector<ChangePtr>& changes, const TouchedTracks& touched,
                            std::vector<FrameEdit>& edits) const;
  void add_samples(const Draft& draft, std::span<const NodeSample> samples, bool is_planned, std::vector<FrameEdit>& edits) const;
  [[nodiscard]] std::vector<NodeSample> samples_of_removed(const Draft& draft) const;
  [[nodiscard]] Failure publish(std::vector<FrameEdit>& edits, const Draft& draft, bool with_version, bool strictly);
  void note(const Draft& draft, const std::vector<ChangePtr>& changes);
  [[nodiscard]] TakenBack take_back(std::deque<Batch>& from, std::deque<Batch>& to, std::int64_t now_ns);
  /// Takes the inverses of what was done, the last first, and notes what each of them undoes.
  [[nodiscard]] Refusal take_inverses(const Batch& batch, Draft& draft, std::int64_t now_ns, Taken& taken,
                                      std::vector<UndoneChange>& undone) const;
  /// Takes what was undone once more, in the order in which it was done.
  [[nodiscard]] Refusal take_again(const Batch& batch, Draft& draft, std::int64_t now_ns, Taken& taken) const;
  [[nodiscard]] bool still_holds(const Change& change) const;
  [[nodiscard]] bool declares(const std::string& name) const;
  [[nodiscard]] std::vector<ChangeRequest> forgets_of(const Batch& batch, const Version& version) const;
  [[nodiscard]] ForgetSamples forgetting(const Change& change, const log::Forget& payload, const Version& version) const;
  [[nodiscard]] static UndoEntry undo_entry_of(const ChangePtr& change, const Draft& draft, const Taken& taken);
  [[nodiscard]] static Batch batch_of(Taken& taken, std::size_t samples_gone);
  void remember(std::deque<Batch>& stack, Batch batch) const;
  void begin_epoch(const std::vector<ChangePtr>& changes);
  void forget_past();
  void erase(std::vector<FrameEdit> edits, Draft& draft);

  std::shared_ptr<Forest> forest_;
  StoreOptions options_;
  FrameNames names_;
  Authorship authorship_;
  log::AuthorPtr author_;
  std::map<std::uint64_t, log::AuthorPtr> authors_;
  std::shared_ptr<KeyPool> keys_;
  // Its lock guards the order of commits, all that follows, and the loans of the trie nodes that were made here.
  std::shared_ptr<detail::TrieArena> arena_ = detail::TrieArena::make();
  log::VersionVector dropped_;  // removals of nodes that are forgotten
  std::deque<Batch> done_, undone_;
  AssertionLog assertions_;
  std::deque<std::pair<Stamp, NodeId>> ended_;
  Stamp newest_at_ = Stamp::always();
  std::optional<std::int64_t> machine_ns_;  // none: that of the machine's clock
  std::vector<std::shared_ptr<RecordTap>> taps_;
  bool is_open_ = false;
  std::atomic<std::uint64_t> relabelled_ = 0;
  detail::AtFork at_fork_{{.try_hold = [this] { return arena_->try_hold(); },
                           .release = [this] { arena_->release(); },
                           .renew = [this] { arena_->renew(); }}};
};

}  // namespace armillary::scene
