// Changes of frames beside the nodes: what they mean for the forest, where they are made and where they are merged.

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

/// Adds the edits of a change made here to a list.
struct LocalEdits {
  bool lets_others_go;
  std::vector<FrameEdit>& edits;

  void operator()(const log::SetFrames& payload) const {
    if (!payload.present) return;  // what nothing names any more goes by itself
    for (const std::string& frame : payload.names) edits.emplace_back(AddFrame{frame});
  }
  void operator()(const log::RemoveFrames& payload) const { edits.emplace_back(EraseFrames{payload.names, lets_others_go}); }
  void operator()(const log::Assert& payload) const {
    const log::Track& track = payload.track;
    const std::string& parent = log::parent_of(payload.value);
    if (std::holds_alternative<log::Empty>(payload.value) && !log::sampled_in(payload.value).empty())
      return;  // the relation may be asserted otherwise
    if (track.kind == log::TrackKind::twist)
      edits.emplace_back(AwaitTwists{track.of, parent, track.source});
    else if (const auto* fixed = std::get_if<log::Fixed>(&payload.value))
      edits.emplace_back(placed(payload, *fixed));
    else if (const auto* driven = std::get_if<log::Driven>(&payload.value))
      edits.emplace_back(PlaceDriven{track.of, parent, track.source, payload.since, driven->form});
    else if (const auto* sampled = std::get_if<log::Sampled>(&payload.value))
      edits.emplace_back(AwaitSamples{track.of, parent, track.source, payload.since, sampled->interpolation});
    else if (std::holds_alternative<log::Ended>(payload.value))
      edits.emplace_back(CloseFrame{track.of, track.source, payload.since});
    else
      edits.emplace_back(EraseFixed{track.of, track.source, payload.since});
  }
  void operator()(const log::SetBody& payload) const {
    if (payload.present) edits.emplace_back(JoinBody{payload.body, payload.frames});  // else what is left is read in the log
  }
  void operator()(const log::Prefer& payload) const {
    if (payload.source && !payload.is_of_joint())
      edits.emplace_back(PreferSources{.of = payload.subject.name, .known = payload.source});
  }
  void operator()(const log::SetVariables& payload) const {
    AddJoints added;
    HideJoints hidden;
    for (const auto& [name, kind] : payload.variables)
      if (kind)
        added.joints.emplace_back(name, *kind);
      else
        hidden.names.push_back(name);
    if (!added.joints.empty()) edits.emplace_back(std::move(added));
    if (!hidden.names.empty()) edits.emplace_back(std::move(hidden));
  }
  void operator()(const auto&) const {}

 private:
  static PlaceFixed placed(const log::Assert& payload, const log::Fixed& fixed) {
    PlaceFixed edit{.of = payload.track.of, .in_frame = fixed.in_frame, .source = payload.track.source, .from = payload.since};
    edit.pose = fixed.pose;
    edit.recalibrate = payload.recalibrate;
    edit.rank = payload.rank;
    return edit;
  }
};

}  // namespace

void add_frame_edits(const Change& change, bool lets_others_go, std::vector<FrameEdit>& edits) {
  std::visit(LocalEdits{lets_others_go, edits}, change.payload);
}

namespace {

/// What a set of changes asks of the forest. The assertion log has taken them all: what holds is read there.
class Alignment {
 public:
  Alignment(const AssertionLog& assertions, const FrameKeeper& is_kept, const TouchedTracks& touched, bool is_done)
      : assertions_(assertions), is_kept_(is_kept), is_done_(is_done) {
    for (const log::Track& track : touched.tracks) touch(track);
    for (const log::Inactive& inactive : assertions.bodies().inactive)
      if (const auto* relation = std::get_if<log::Assert>(&assertions.log().find(inactive.id)->payload)) touch(relation->track);
    twists_before_ = touched.twists;
    frames_ = touched.frames;
  }

  void add(const Change& change) {
    const std::vector<ChangePtr>& resets = assertions_.log().resets();
    const bool is_known = !change.epoch || (!resets.empty() && !log::newer(*change.epoch, resets.back()->signature()));
    restarts_ = restarts_ || !is_known;  // of an epoch whose beginning is still to come
    is_late_ = is_late_ || change.epoch != assertions_.log().epoch();
    if (!is_of_frames(change.payload)) return;
    for (std::string& frame : frames_in(change.payload)) frames_.insert(std::move(frame));
    std::visit([&](const auto& payload) { add(change, payload); }, change.payload);
  }

  [[nodiscard]] std::vector<FrameEdit> edits() {
    std::vector<FrameEdit> edits;
    if (restarts_) {
      for (const log::Track& track : assertions_.tracks()) renew(track);
      for (const auto& [joint, records] : assertions_.log().preferences()) joints_.insert(joint);
      for (const auto& [name, frame] : assertions_.log().frames()) frames_.insert(name);  // what had ended names none any more
    }
    if (std::vector<std::string> gone = gone_frames(); !gone.empty()) edits.emplace_back(EraseFrames{std::move(gone), true});
    if (!removed_.empty() && !is_done_) edits.emplace_back(DropTwists{dropped_twists()});
    for (const auto& [track, parent] : emptied_) erase(track, parent, edits);
    for (const log::SetVariables* variables : variables_) declare(*variables, edits);
    for (const std::string& frame : frames_)
      if (assertions_.has_frame(frame)) edits.emplace_back(AddFrame{frame});
    if (assertions_.has_bodies()) edits.emplace_back(bodies());
    for (const auto& [track, forgets] : tracks_)
      if (assertions_.has_frame(track.of) || is_kept_(track.of)) edits.emplace_back(aligned(track, forgets));
    bool is_inactive = false;
    for (const RelationName& twist : twists_)
      if (assertions_.has_name(twist.in_frame) && assertions_.has_twist(twist)) {
        edits.emplace_back(AwaitTwists{twist.of, twist.in_frame, twist.source});
        is_inactive = is_inactive || is_within_body(twist);
      }
    if (is_inactive) edits.emplace_back(bodies());
    for (const std::string& frame : frames_)
      if (assertions_.has_preference(frame)) edits.emplace_back(assertions_.preferences({log::Subject::Kind::frame, frame}));
    for (const std::string& joint : joints_) edits.emplace_back(assertions_.preferences({log::Subject::Kind::variable, joint}));
    return edits;
  }

 private:
  /// A frame that was named again later begins anew with what was asserted since.
  void add(const Change&, const log::RemoveFrames& payload) {
    removed_.insert(payload.names.begin(), payload.names.end());
    for (const log::Track& track : assertions_.tracks_at({payload.names.begin(), payload.names.end()})) {
      renew(track);
      frames_.insert(track.of);  // what it held since before time was reset may have been all that named it
    }
  }

  void add(const Change&, const log::ResetTime&) { restarts_ = true; }

  void add(const Change& change, const log::Assert& payload) {
    const auto& [kind, of, source] = payload.track;
    const std::string& parent = log::parent_of(payload.value);
    if (std::holds_alternative<log::Empty>(payload.value) && !log::sampled_in(payload.value).empty()) {
      emptied_.emplace(payload.track, log::sampled_in(payload.value));
      if (kind == log::TrackKind::pose) renew(payload.track);
      return;
    }
    if (kind == log::TrackKind::twist) return twists_.push_back({of, parent, source});
    bool& forgets = tracks_[payload.track];
    if (std::holds_alternative<log::Sampled>(payload.value)) {
      new_relations_.emplace(of, source, parent);
      return;
    }
    forgets = forgets || (assertions_.is_latest(change, payload) && !is_done_);
    if (!is_done_) new_assertions_.emplace(of, source, payload.since);
    if (std::holds_alternative<log::Empty>(payload.value)) renewed_.insert(payload.track);
  }

  /// What moves relative to a body may have come before it, and then named it as a frame.
  void add(const Change&, const log::SetBody& payload) {
    frames_.insert(payload.body);
    std::ranges::move(assertions_.twists_relative_to(payload.body), std::back_inserter(twists_));
  }

  /// What they drive may have come before them.
  void add(const Change&, const log::SetVariables& payload) {
    variables_.push_back(&payload);
    for (const log::VariableSetting& setting : payload.variables)
      if (assertions_.log().preferences().contains(setting.name)) joints_.insert(setting.name);
    for (const log::Track& track : assertions_.tracks_driven_by(payload)) touch(track);
  }

  void add(const Change&, const log::Prefer& payload) {
    if (payload.is_of_joint()) joints_.insert(payload.subject.name);
  }

  /// A relation that has no sample left, and is asserted, waits for them again.
  void add(const Change&, const log::Forget& payload) {
    for (const log::Track& track : assertions_.tracks_at({payload.of}))
      if (track.of == payload.of && track.kind == log::TrackKind::pose) renew(track);
  }

  void add(const Change&, const auto&) {}

  /// Adds the end of a relation that nothing asserts any more.
  void erase(const log::Track& track, const std::string& parent, std::vector<FrameEdit>& edits) const {
    const RelationName relation{track.of, parent, track.source};
    if (track.kind == log::TrackKind::twist) {
      if (!assertions_.has_twist(relation)) edits.emplace_back(DropTwists{{{track.of, parent, track.source}}});
    } else if (!assertions_.has_samples_in(relation)) {
      edits.emplace_back(EraseRelation{track.of, parent, track.source});
    }
  }

  void touch(const log::Track& track) {
    if (track.kind == log::TrackKind::pose)
      tracks_.try_emplace(track);
    else
      for (const log::Slot& slot : log::slots_of(assertions_.log(), track))
        twists_.push_back({track.of, slot.parent(), track.source});
  }

  void renew(const log::Track& track) {
    touch(track);
    renewed_.insert(track);
  }

  /// Frames that nothing names any more.
  [[nodiscard]] std::vector<std::string> gone_frames() const {
    std::vector<std::string> gone;
    std::ranges::copy_if(frames_, std::back_inserter(gone),
                         [&](const std::string& frame) { return !assertions_.has_frame(frame) && !is_kept_(frame); });
    return gone;
  }

  /// Twists that were asserted before a removal, and are not any more.
  [[nodiscard]] std::vector<AssignBodies::Twist> dropped_twists() const {
    std::vector<AssignBodies::Twist> dropped;
    for (const RelationName& twist : twists_before_)
      if (!assertions_.has_twist(twist)) dropped.emplace_back(twist.of, twist.in_frame, twist.source);
    return dropped;
  }

  [[nodiscard]] bool is_asserted_now(const log::Track& track, const log::Slot& slot) const {
    if (slot.is<log::Sampled>()) return new_relations_.contains({track.of, track.source, slot.parent()});
    return new_assertions_.contains({track.of, track.source, slot.since});
  }

  /// Joint by joint, and rotations whole; of two kinds the latest wins.
  void declare(const log::SetVariables& payload, std::vector<FrameEdit>& edits) const {
    AddJoints whole{.joints = {}, .replaces = true};
    for (const auto& [name, kind] : payload.variables) {
      const std::optional<VariableKind> counts = assertions_.variable(name);
      if (!counts) edits.emplace_back(HideJoints{{name}});
      if (!counts || counts != kind) continue;
      whole.joints.emplace_back(name, *kind);
      if (kind == VariableKind::unit_quaternion && whole.joints.size() % 4 != 0) continue;
      edits.emplace_back(std::exchange(whole, AddJoints{.joints = {}, .replaces = true}));
    }
  }

  [[nodiscard]] bool is_within_body(const RelationName& twist) const {
    return std::ranges::any_of(log::slots_of(assertions_.log(), {log::TrackKind::twist, twist.of, twist.source}),
                               [&](const log::Slot& slot) {
                                 return slot.parent() == twist.in_frame && assertions_.bodies().breaks.contains(slot.record->id);
                               });
  }

  [[nodiscard]] AssignBodies bodies() const {
    AssignBodies edit{.bodies = assertions_.bodies().bodies, .on = assertions_.bodies().on};
    for (const Dot& id : assertions_.bodies().breaks) {
      const auto& relation = std::get<log::Assert>(assertions_.log().find(id)->payload);
      if (relation.track.kind == log::TrackKind::twist)
        edit.inactive_twists.insert({relation.track.of, log::parent_of(relation.value), relation.track.source});
    }
    return edit;
  }

  [[nodiscard]] AlignTrack aligned(const log::Track& track, bool forgets) const {
    AlignTrack edit{.of = track.of, .source = track.source, .forgets = forgets, .renews = renewed_.contains(track)};
    edit.drops_unasserted = (is_late_ || !removed_.empty()) && !is_done_;
    const std::vector<log::Slot> slots = assertions_.pose_slots(track.of, track.source);
    edit.interpolations = log::interpolations_of(slots);
    for (const log::Slot& slot : slots) {
      if (!slot.is_boundary && slots.size() > 1) {
        edit.known.push_back(slot.parent());
        continue;
      }
      AlignTrack::PoseAssertion& asserted = edit.pose_assertions.emplace_back();
      asserted.since = slot.since;
      asserted.in_frame = slot.parent();
      if (slot.is<log::Fixed>()) asserted.pose = std::get<log::Fixed>(slot.payload->value).pose;
      if (slot.is<log::Driven>()) asserted.form = std::get<log::Driven>(slot.payload->value).form;
      asserted.rank = slot.payload->rank;
      asserted.is_closed = slot.is<log::Ended>();
      asserted.breaks_body = assertions_.bodies().breaks.contains(slot.record->id);
      asserted.is_new = is_asserted_now(track, slot);
    }
    return edit;
  }

  const AssertionLog& assertions_;
  const FrameKeeper& is_kept_;
  bool is_done_;
  std::set<std::string> frames_, removed_;
  std::vector<const log::SetVariables*> variables_;
  std::set<std::string> joints_;  // of which sources are preferred
  std::vector<RelationName> twists_, twists_before_;
  std::map<log::Track, bool> tracks_;                                          // and whether what came before is forgotten
  std::set<std::tuple<std::string, std::string, Stamp>> new_assertions_;       // of, source, since
  std::set<std::tuple<std::string, std::string, std::string>> new_relations_;  // of, source, in_frame
  std::set<log::Track> renewed_;                                               // something was undone
  std::set<std::pair<log::Track, std::string>> emptied_;  // and the parents of samples that are not announced
  bool restarts_ = false;
  bool is_late_ = false;  // one is of an earlier time, of which only what held last still holds
};

}  // namespace

std::vector<FrameEdit> aligning_edits(const AssertionLog& assertions, std::span<const ChangePtr> changes,
                                      const FrameKeeper& is_kept, const TouchedTracks& touched, bool is_done) {
  Alignment alignment(assertions, is_kept, touched, is_done);
  for (const ChangePtr& change : changes) alignment.add(*change);
  return alignment.edits();
}

TouchedTracks touched_tracks(const AssertionLog& assertions, std::span<const ChangePtr> changes) {
  TouchedTracks touched;
  const log::Epoch& epoch = assertions.log().epoch();
  const auto add = [&](const log::Track& track) {
    if (track.kind == log::TrackKind::pose) return touched.tracks.push_back(track);
    for (const log::Slot& slot : log::slots_of(assertions.log(), track))
      touched.twists.push_back({track.of, slot.parent(), track.source});
  };
  for (const log::Inactive& inactive : assertions.bodies().inactive)
    if (const auto* relation = std::get_if<log::Assert>(&assertions.log().find(inactive.id)->payload)) add(relation->track);
  for (const ChangePtr& change : changes) {
    if (const auto* removed = std::get_if<log::RemoveFrames>(&change->payload))
      for (const log::Track& track : assertions.tracks_at({removed->names.begin(), removed->names.end()})) add(track);
    if (!is_of_frames(change->payload)) continue;
    const auto* asserted = std::get_if<log::Assert>(&change->payload);
    if (asserted != nullptr && (change->epoch != epoch || asserted->since == Stamp::always()))
      for (const log::Slot& slot : log::slots_of(assertions.log(), asserted->track))  // another may hold, or have held, last
        for (std::string& frame : frames_in(slot.record->payload)) touched.frames.insert(std::move(frame));
    if (const auto* frames = std::get_if<log::SetFrames>(&change->payload); frames != nullptr && !frames->present) {
      touched.superseded.declarations.insert(frames->names.begin(), frames->names.end());
      touched.frames.insert(frames->names.begin(), frames->names.end());
    }
    for (const ChangePtr& record : assertions.superseded_by(*change)) {
      touched.superseded.assertions.insert(record->id);
      for (std::string& frame : frames_in(record->payload)) touched.frames.insert(std::move(frame));
    }
  }
  return touched;
}

std::vector<std::string> frames_in(std::span<const ChangePtr> changes, const TouchedTracks& touched) {
  std::set<std::string> names(touched.placed.begin(), touched.placed.end());
  for (const ChangePtr& change : changes)
    for (std::string& name : frames_in(change->payload)) names.insert(std::move(name));
  return {names.begin(), names.end()};
}

FrameEdit cycle_resolution(const AssertionLog& assertions) {
  return ResolveCycles{[&assertions](const RunName& run) -> std::optional<ResolveCycles::Rank> {
    for (const log::Slot& slot : assertions.pose_slots(std::string(run.of), std::string(run.source))) {
      const bool is_it = slot.parent() == run.in_frame && (!run.is_fixed || slot.since == run.since);
      if (!is_it || slot.is<log::Fixed>() != run.is_fixed) continue;
      const auto [less_authority, time, id] = log::strength(slot.record->signature());
      return ResolveCycles::Rank{less_authority, time.wall_ns, time.count, id.author, id.sequence};
    }
    return std::nullopt;
  }};
}

// -- What is placed, or voided, with the changes of others

/// Notes what is asserted by the sources of nodes of their frames: it was placed around where the nodes were.
void Store::touch_placed(std::span<const FrameEdit> edits, TouchedTracks& touched) const {
  for (const FrameEdit& edit : edits)
    if (const auto* placed = std::get_if<PlaceRuns>(&edit); placed != nullptr && assertions_.knows(placed->of, placed->source))
      touched.tracks.push_back({log::TrackKind::pose, placed->of, placed->source}), touched.placed.push_back(placed->of);
}

/// Adds the end of samples that were given before a frame was removed, in relations that were asserted again since.
void Store::add_voided(const Change& change, const Version& version, std::vector<FrameEdit>& edits) const {
  const auto* removal = std::get_if<log::RemoveFrames>(&change.payload);
  if (removal == nullptr) return;
  for (const std::string& name : removal->names)
    for (const log::Track& track : assertions_.tracks_at({name})) {
      const std::optional<NodeId> node = NodeId::parse(std::string_view(track.of).substr(0, track.of.find('/')));
      if (track.kind != log::TrackKind::pose || (node && version.recall(*node) != nullptr)) continue;
      ForgetSamples edit{.of = track.of, .forgets_twists = false, .source = track.source};
      if (track.of != name) edit.in_frame = name;
      edit.before = {change.time.wall_ns, change.time.count};
      edits.emplace_back(std::move(edit));
    }
}

/// Adds samples once more that were given on top of what voids all older ones: of a new time epoch, and of a pose that holds
/// for always.
void Store::add_samples_since(const Draft& draft, const Taken& taken, std::vector<FrameEdit>& edits) const {
  const auto add = [&](const log::HybridTimestamp& time, std::string_view of, std::string_view source) {
    for (PlaceSample& sample : forest_->samples_since({time.wall_ns, time.count}, of, source))
      if (assertions_.has_relation({sample.of, sample.in_frame, sample.source}) &&
          !assertions_.takes_back({sample.of, sample.in_frame, sample.source}, sample.at, *sample.base))
        edits.emplace_back(std::move(sample));
  };
  if (draft.restarts_time()) return add(draft.version().epoch->time, {}, {});
  for (const ChangePtr& change : taken.changes)
    if (const log::Assert* payload = as_since(change->payload); payload != nullptr && assertions_.is_latest(*change, *payload))
      add(change->time, payload->track.of, payload->track.source);
}

// -- What is done here is in line with what everybody will make of it

namespace {

bool may_concern_bodies(const log::Payload& payload) {
  return std::holds_alternative<log::SetBody>(payload) || std::holds_alternative<log::RemoveFrames>(payload);
}

}  // namespace

/// Whether what is active may change for assertions of others: they may have waited for it.
void Store::realign(std::span<const ChangePtr> changes, const TouchedTracks& touched, const Draft& draft) {
  const auto concerns_bodies = [](const ChangePtr& change) { return may_concern_bodies(change->payload); };
  if (assertions_.has_bodies() && (!assertions_.bodies().inactive.empty() || std::ranges::any_of(changes, concerns_bodies)))
    assertions_.resolve_bodies();
  std::vector<FrameEdit> edits = aligning_edits(assertions_, changes, frame_keeper(draft.version()), touched, true);
  add_placements_again(draft.share(), frames_in(changes, touched), names_, edits);
  edits.push_back(cycle_resolution(assertions_));
  (void)publish(edits, draft, false, false);
}

/// A frame is there without any record of it where it is the root's, a node stands for it, or a node has it as its own which
/// is there or remembered.
FrameKeeper Store::frame_keeper(const Version& version) const {
  return [this, &version](const std::string& frame) {
    const std::optional<NodeId> node = NodeId::parse(std::string_view(frame).substr(0, frame.find('/')));
    const NodeRecord* owner = node ? version.recall(*node) : nullptr;
    const bool is_own = owner != nullptr && FrameNames::has_frame(*owner);
    return frame == options_.root_frame || is_own || version.is_alive(log::stand_in_of(frame));
  };
}

bool Store::is_in_line(const Change& change) const {
  if (forest_->has_closing_runs()) return false;
  if (!is_of_frames(change.payload) || std::holds_alternative<log::SetFrames>(change.payload)) return true;
  if (!assertions_.bodies().inactive.empty()) return false;
  if (const log::Assert* payload = as_since(change.payload))
    return !std::holds_alternative<log::Empty>(payload->value) &&
           (forest_->ends_with(payload->track.of, payload->track.source, payload->since) ||
            !assertions_.has_samples(payload->track.of, payload->track.source));
  const auto* twist = std::get_if<log::Assert>(&change.payload);
  const bool ends_twists = twist != nullptr && std::holds_alternative<log::Empty>(twist->value);
  if (std::holds_alternative<log::SetVariables>(change.payload) && !assertions_.log().preferences().empty()) return false;
  return !std::holds_alternative<log::ResetTime>(change.payload) && !std::holds_alternative<log::Prefer>(change.payload) &&
         !may_concern_bodies(change.payload) && !ends_twists;
}

/// Whether one of the assertions that are superseded says that samples come.
bool Store::ends_samples(const TouchedTracks& touched) const {
  return std::ranges::any_of(touched.superseded.assertions, [this](const Dot& id) {
    const Change* superseded = assertions_.log().find(id);
    const auto* asserted = superseded == nullptr ? nullptr : std::get_if<log::Assert>(&superseded->payload);
    return asserted != nullptr && std::holds_alternative<log::Sampled>(asserted->value);
  });
}

/// Whether variables of changes that are not taken yet drive poses which were asserted before: those may have waited for them.
bool Store::are_awaited(std::span<const ChangePtr> changes) const {
  return std::ranges::any_of(changes, [this](const ChangePtr& change) {
    const auto* variables = std::get_if<log::SetVariables>(&change->payload);
    return variables != nullptr && !assertions_.tracks_driven_by(*variables).empty();
  });
}

/// Where loops and bodies leave the relation out, its samples are there when it comes into force.
bool Store::merge_samples(std::vector<PlaceSample> samples) {
  const Hold hold(*this);
  std::erase_if(samples, [this](const PlaceSample& sample) {
    return sample.base && assertions_.takes_back({sample.of, sample.in_frame, sample.source}, sample.at, *sample.base);
  });
  if (samples.empty()) return true;
  const auto is_known = [this](const PlaceSample& sample) {
    return assertions_.has_relation({sample.of, sample.in_frame, sample.source});
  };
  if (!std::ranges::all_of(samples, is_known)) return false;
  std::vector<FrameEdit> edits(std::make_move_iterator(samples.begin()), std::make_move_iterator(samples.end()));
  if (!assertions_.bodies().inactive.empty())
    std::ranges::move(aligning_edits(assertions_, {}, frame_keeper(*version()), {}, true), std::back_inserter(edits));
  edits.push_back(cycle_resolution(assertions_));
  (void)publish(edits, Draft(version(), *keys_, assertions_.log()), false, false);
  return true;
}

std::size_t Store::merge_in_place(const PlaceSamples& samples, const std::optional<SampleBase>& base) {
  const Hold hold(*this);
  const RelationName relation{samples.of, samples.in_frame, samples.source};
  if (!assertions_.has_relation(relation) || !assertions_.bodies().inactive.empty()) return 0;
  const auto is_taken_back = [&](std::int64_t ns) { return base && assertions_.takes_back(relation, {ns}, *base); };
  if (std::ranges::any_of(samples.stamps, is_taken_back)) return 0;
  return forest_->merge_in_place(samples, base ? &*base : nullptr);
}

bool Store::expects_samples(const RelationName& relation) const {
  const Hold hold(*this);
  return assertions_.has_samples_in(relation);
}

std::optional<log::Slot> Store::samples_slot(const RelationName& relation) const {
  const Hold hold(*this);
  return log::samples_slot(assertions_.pose_slots(relation.of, relation.source), relation.in_frame);
}

bool Store::knows_twist(const RelationName& relation) const {
  const Hold hold(*this);
  return assertions_.has_twist(relation);
}

std::optional<bool> Store::is_named(const std::string& name) const {
  const Hold hold(*this);
  return assertions_.is_named(name);
}

SampleTable Store::samples(const NodeId& node) const {
  const Hold hold(*this);
  const NodeRecord* record = version()->recall(node);
  return record != nullptr && record->is_transform() ? samples_of(version(), *record, names_, *forest_) : SampleTable{};
}

void Store::clear_samples(const NodeId& node) {
  const Hold hold(*this);
  const NodeRecord* record = version()->recall(node);
  if (record != nullptr && record->is_transform()) forest_->clear_poses(names_.own(*record), record->placement->source);
}

std::uint64_t Store::time_epoch() const {
  const Hold hold(*this);
  return assertions_.time_epoch();
}

std::vector<InactiveAssertion> Store::inactive() const {
  const Hold hold(*this);
  std::vector<InactiveAssertion> all = assertions_.inactive();
  for (ClosingRun& run : forest_->closing_runs()) {
    log::Assert relation{.track = {log::TrackKind::pose, std::move(run.of), std::move(run.source)}, .since = run.since};
    if (run.pose)
      relation.value = log::Fixed{std::move(run.in_frame), std::move(run.pose)};
    else
      relation.value = log::Sampled{std::move(run.in_frame)};
    all.push_back({.payload = std::move(relation), .at = run.at, .path = std::move(run.path)});
  }
  return all;
}

Digest Store::frames_digest() const {
  const Hold hold(*this);
  return assertions_.digest();
}

Inverses Store::take_assertions(const std::vector<ChangePtr>& changes) {
  Inverses inverses;
  for (const ChangePtr& change : changes) {
    if (is_of_frames(change->payload)) inverses.push_back(assertions_.inverse(*change));
    assertions_.take(change);
  }
  return inverses;
}

}  // namespace armillary::scene
