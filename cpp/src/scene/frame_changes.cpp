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
  const Change& change;
  std::vector<FrameEdit>& edits;

  void operator()(const log::SetFrames& payload) const {
    for (const std::string& frame : payload.names) edits.emplace_back(AddFrame{frame});
  }
  void operator()(const log::RemoveFrames& payload) const {
    edits.emplace_back(EraseFrames{.frames = payload.names, .lets_others_go = change.origin == kUndoOrigin});
  }
  void operator()(const log::Assert& payload) const {
    const log::Track& track = payload.track;
    const std::string& parent = log::parent_of(payload.value);
    if (track.kind == log::TrackKind::twist)
      edits.emplace_back(AwaitTwists{track.of, parent, track.source});
    else if (const auto* fixed = std::get_if<log::Fixed>(&payload.value))
      edits.emplace_back(placed(payload, *fixed));
    else if (const auto* driven = std::get_if<log::Driven>(&payload.value))
      edits.emplace_back(PlaceDriven{track.of, parent, track.source, payload.since, driven->form});
    else if (std::holds_alternative<log::Sampled>(payload.value))
      edits.emplace_back(AwaitSamples{track.of, parent, track.source, payload.since});
    else if (std::holds_alternative<log::Ended>(payload.value))
      edits.emplace_back(CloseFrame{track.of, track.source, payload.since});
    else
      edits.emplace_back(EraseFixed{track.of, track.source, payload.since});
  }
  void operator()(const log::SetBody& payload) const { edits.emplace_back(JoinBody{payload.body, payload.frames}); }
  void operator()(const log::Prefer& payload) const { edits.emplace_back(PreferSource{payload.subject.name, payload.source}); }
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
  void operator()(const log::ResetTime&) const { edits.emplace_back(RestartTime{}); }
  void operator()(const auto&) const {}

 private:
  static PlaceFixed placed(const log::Assert& payload, const log::Fixed& fixed) {
    PlaceFixed edit{
        .of = payload.track.of, .in_frame = fixed.in_frame, .source = payload.track.source, .from = payload.since};
    edit.in_frame_T_of = fixed.pose->value;
    if (fixed.pose->certainty == Certainty::known) edit.covariance = fixed.pose->covariance;
    edit.is_unsure = fixed.pose->certainty == Certainty::unknown;
    edit.recalibrate = payload.recalibrate;
    return edit;
  }
};

}  // namespace

void add_frame_edits(const Change& change, std::vector<FrameEdit>& edits) {
  std::visit(LocalEdits{change, edits}, change.payload);
}

namespace {

/// What a set of changes asks of the forest. The assertion log has taken them all: what holds is read there.
class Alignment {
 public:
  /// `were_inactive`: what did not count before because of bodies. `is_done`: what is erased by the changes is gone already.
  Alignment(const AssertionLog& assertions, const std::vector<InactiveAssertion>& were_inactive, bool is_done)
      : assertions_(assertions), is_done_(is_done) {
    for (const std::vector<InactiveAssertion>* all : {&were_inactive, &assertions.rigid().inactive})
      for (const InactiveAssertion& inactive : *all) touch(inactive);
  }

  void add(const Change& change) {
    for (std::string& frame : assertions_.named_by(change.payload)) named_.insert(std::move(frame));
    std::visit([&](const auto& payload) { add(change, payload); }, change.payload);
  }

  [[nodiscard]] std::vector<FrameEdit> edits() {
    std::vector<FrameEdit> edits;
    if (!removed_.empty())
      for (const TrackName& track : assertions_.tracks_at(removed_)) renew(track);
    if (!removed_.empty() && !is_done_) edits.emplace_back(EraseFrames{{removed_.begin(), removed_.end()}, true});
    if (restarts_) {
      if (!is_done_) edits.emplace_back(RestartTime{});
      for (const TrackName& track : assertions_.tracks()) renew(track);
    }
    for (const log::SetVariables* variables : joints_) declare(*variables, edits);
    for (const std::string& frame : named_)
      if (assertions_.has_frame(frame)) edits.emplace_back(AddFrame{frame});
    if (assertions_.has_bodies()) edits.emplace_back(bodies());
    for (const auto& [track, forgets] : tracks_)
      if (assertions_.has_frame(track.first)) edits.emplace_back(aligned(track.first, track.second, forgets));
    for (const RelationName& twist : measured_)
      if (assertions_.has_name(twist.in_frame) && assertions_.has_twist(twist) && !is_inactive(twist))
        edits.emplace_back(AwaitTwists{twist.of, twist.in_frame, twist.source});
    for (const std::string& frame : named_frames_)
      if (assertions_.has_preference(frame)) edits.emplace_back(PreferSource{frame, assertions_.preferred(frame)});
    return edits;
  }

 private:
  /// A frame that was named again later begins anew with what was asserted since.
  void add(const Change&, const log::RemoveFrames& payload) {
    for (const std::string& frame : payload.names) {
      removed_.insert(frame);
      named_frames_.insert(frame);
      if (assertions_.has_frame(frame)) named_.insert(frame);
    }
  }

  void add(const Change&, const log::ResetTime&) { restarts_ = true; }

  void add(const Change& change, const log::Assert& payload) {
    const auto& [kind, of, source] = payload.track;
    named_frames_.insert(of);
    const std::string& parent = log::parent_of(payload.value);
    if (kind == log::TrackKind::twist) return measured_.push_back({of, parent, source});
    if (std::holds_alternative<log::Sampled>(payload.value)) {
      tracks_[{of, source}];
      new_relations_.emplace(of, source, parent);
      return;
    }
    bool& forgets = tracks_[{of, source}];
    forgets = forgets || (assertions_.is_latest(change, payload) && !is_done_);
    if (!is_done_) new_assertions_.emplace(of, source, payload.since);
    if (std::holds_alternative<log::Empty>(payload.value)) renewed_.insert({of, source});
  }

  /// What moves relative to a body may have come before it.
  void add(const Change&, const log::SetBody& payload) {
    named_frames_.insert(payload.body);
    std::ranges::move(assertions_.twists_relative_to(payload.body), std::back_inserter(measured_));
  }

  void add(const Change&, const log::Prefer& payload) { named_frames_.insert(payload.subject.name); }

  /// What they drive may have come before them.
  void add(const Change&, const log::SetVariables& payload) {
    joints_.push_back(&payload);
    for (const TrackName& track : assertions_.tracks_driven_by(payload)) tracks_[track];
  }

  void add(const Change&, const auto&) {}

  void renew(const TrackName& track) {
    tracks_.try_emplace(track);
    renewed_.insert(track);
  }

  [[nodiscard]] bool is_asserted_now(const std::string& of, const std::string& source, const PoseAssertion& asserted) const {
    if (!asserted.is_samples()) return new_assertions_.contains({of, source, asserted.since});
    return new_relations_.contains({of, source, asserted.in_frame});
  }

  /// Joint by joint, and rotations whole; of two kinds the latest wins.
  void declare(const log::SetVariables& payload, std::vector<FrameEdit>& edits) const {
    AddJoints whole{.joints = {}, .replaces = true};
    for (const auto& [name, kind] : payload.variables) {
      const std::optional<VariableKind> counts = assertions_.joint(name);
      if (!counts) edits.emplace_back(HideJoints{{name}});
      if (!counts || counts != kind) continue;
      whole.joints.emplace_back(name, *kind);
      if (kind == VariableKind::unit_quaternion && whole.joints.size() % 4 != 0) continue;
      edits.emplace_back(std::exchange(whole, AddJoints{.joints = {}, .replaces = true}));
    }
  }

  void touch(const InactiveAssertion& inactive) {
    const auto* relation = std::get_if<log::Assert>(&inactive.payload);
    if (relation == nullptr) return;
    const auto& [kind, of, source] = relation->track;
    if (kind == log::TrackKind::pose)
      tracks_[{of, source}];
    else
      measured_.push_back({of, log::parent_of(relation->value), source});
  }

  /// Whether a twist is one within a body.
  [[nodiscard]] bool is_inactive(const RelationName& twist) const {
    return std::ranges::any_of(assertions_.rigid().inactive, [&](const InactiveAssertion& inactive) {
      const auto* relation = std::get_if<log::Assert>(&inactive.payload);
      return relation != nullptr && relation->track == log::Track{log::TrackKind::twist, twist.of, twist.source} &&
             log::parent_of(relation->value) == twist.in_frame;
    });
  }

  [[nodiscard]] AssignBodies bodies() const {
    AssignBodies edit{.bodies = assertions_.rigid().bodies, .on = assertions_.rigid().on};
    for (const InactiveAssertion& inactive : assertions_.rigid().inactive)
      if (const auto* relation = std::get_if<log::Assert>(&inactive.payload);
          relation != nullptr && relation->track.kind == log::TrackKind::twist)
        edit.inactive_twists.insert({relation->track.of, log::parent_of(relation->value), relation->track.source});
    return edit;
  }

  [[nodiscard]] bool breaks_body(const std::string& of, const std::string& source, const PoseAssertion& asserted) const {
    return std::ranges::any_of(assertions_.rigid().inactive, [&](const InactiveAssertion& inactive) {
      const auto* relation = std::get_if<log::Assert>(&inactive.payload);
      return relation != nullptr && relation->track == log::Track{log::TrackKind::pose, of, source} &&
             log::parent_of(relation->value) == asserted.in_frame && relation->since == asserted.since &&
             std::holds_alternative<log::Fixed>(relation->value) == (asserted.pose != nullptr);
    });
  }

  [[nodiscard]] AlignTrack aligned(const std::string& of, const std::string& source, bool forgets) const {
    AlignTrack edit{.of = of, .source = source, .forgets = forgets, .renews = renewed_.contains({of, source})};
    for (PoseAssertion& asserted : assertions_.pose_assertions(of, source)) {
      const bool is_inactive = breaks_body(of, source, asserted);
      const bool is_new = is_asserted_now(of, source, asserted);
      edit.pose_assertions.push_back({asserted.since, std::move(asserted.in_frame), std::move(asserted.pose), is_inactive,
                                      std::move(asserted.form), asserted.is_closed, is_new});
    }
    return edit;
  }

  const AssertionLog& assertions_;
  bool is_done_;
  std::set<std::string> removed_, named_, named_frames_;
  std::vector<const log::SetVariables*> joints_;
  std::vector<RelationName> measured_;
  std::map<TrackName, bool> tracks_;                                           // and whether what came before is forgotten
  std::set<std::tuple<std::string, std::string, Stamp>> new_assertions_;       // of, source, since
  std::set<std::tuple<std::string, std::string, std::string>> new_relations_;  // of, source, in_frame
  std::set<TrackName> renewed_;                                                // something was undone
  bool restarts_ = false;
};

}  // namespace

std::vector<FrameEdit> aligning_edits(const AssertionLog& assertions, std::span<const ChangePtr> changes,
                                      const std::vector<InactiveAssertion>& were_inactive, bool is_done) {
  Alignment alignment(assertions, were_inactive, is_done);
  for (const ChangePtr& change : changes)
    if (is_of_frames(change->payload)) alignment.add(*change);
  return alignment.edits();
}

std::vector<std::string> frames_named_by(const AssertionLog& assertions, std::span<const ChangePtr> changes) {
  std::set<std::string> names;
  for (const ChangePtr& change : changes) {
    for (std::string& name : assertions.named_by(change->payload)) names.insert(std::move(name));
    if (const auto* asserted = std::get_if<log::Assert>(&change->payload)) names.insert(asserted->track.of);
    if (const auto* prefer = std::get_if<log::Prefer>(&change->payload)) names.insert(prefer->subject.name);
    if (const auto* removed = std::get_if<log::RemoveFrames>(&change->payload))
      names.insert(removed->names.begin(), removed->names.end());
  }
  return {names.begin(), names.end()};
}

FrameEdit cycle_resolution(const AssertionLog& assertions) {
  return ResolveCycles{[&assertions](const RunName& run) -> std::optional<ResolveCycles::Rank> {
    for (const PoseAssertion& asserted : assertions.pose_assertions(std::string(run.of), std::string(run.source))) {
      const bool is_it = asserted.in_frame == run.in_frame && (!run.is_fixed || asserted.since == run.since);
      if (!is_it || asserted.is_closed || !!asserted.pose != run.is_fixed) continue;
      const auto [less_authority, time, id] = log::strength(asserted.signature);
      return ResolveCycles::Rank{less_authority, time.wall_ns, time.count, id.author, id.sequence};
    }
    return std::nullopt;
  }};
}

// -- What is done here is in line with what everybody will make of it

namespace {

bool may_concern_bodies(const log::Payload& payload) {
  return std::holds_alternative<log::SetBody>(payload) || std::holds_alternative<log::RemoveFrames>(payload);
}

}  // namespace

/// Whether what is active may change for assertions of others: they may have waited for it.
void Store::realign(std::span<const ChangePtr> changes, const Draft& draft) {
  const std::vector<InactiveAssertion> were_inactive = assertions_.rigid().inactive;
  const auto concerns_bodies = [](const ChangePtr& change) { return may_concern_bodies(change->payload); };
  if (assertions_.has_bodies() && (!were_inactive.empty() || std::ranges::any_of(changes, concerns_bodies)))
    assertions_.resolve_bodies();
  std::vector<FrameEdit> edits = aligning_edits(assertions_, changes, were_inactive, true);
  add_placements_again(draft.share(), frames_named_by(assertions_, changes), names_, edits);
  edits.push_back(cycle_resolution(assertions_));
  (void)publish(std::move(edits), draft, false, false);
}

bool Store::is_in_line(const Change& change) const {
  if (forest_->has_closing_runs() || !assertions_.rigid().inactive.empty()) return false;
  if (const log::Assert* payload = as_since(change.payload))
    return !std::holds_alternative<log::Empty>(payload->value) &&
           !assertions_.has_samples(payload->track.of, payload->track.source);
  return !std::holds_alternative<log::ResetTime>(change.payload) && !may_concern_bodies(change.payload);
}

/// Where loops and bodies leave the relation out, its samples are there when it comes into force.
bool Store::merge_samples(std::vector<PlaceSample> samples) {
  const Hold hold(*this);
  const auto is_known = [this](const PlaceSample& sample) {
    return assertions_.has_relation({sample.of, sample.in_frame, sample.source});
  };
  if (!std::ranges::all_of(samples, is_known)) return false;
  std::vector<FrameEdit> edits(std::make_move_iterator(samples.begin()), std::make_move_iterator(samples.end()));
  if (!assertions_.rigid().inactive.empty())
    std::ranges::move(aligning_edits(assertions_, {}, {}, true), std::back_inserter(edits));
  edits.push_back(cycle_resolution(assertions_));
  (void)publish(std::move(edits), Draft(version(), *keys_), false, false);
  return true;
}

// -- One change by itself

Failure Store::record(log::Payload payload, std::int64_t now_ns, const std::function<Failure(log::Payload&)>& act, bool for_undo,
                      ChangePtr* recorded) {
  const Hold hold(*this);
  if (Failure failure = act(payload)) return failure;
  Draft draft(version(), *keys_);
  Change change{.at = Stamp{now_ns}, .payload = std::move(payload)};
  sign(change, draft, now_ns);
  std::vector<ChangePtr> changes{std::make_shared<const Change>(std::move(change))};
  Taken taken;
  taken.entries.push_back(undo_entry_of(changes.front(), draft, taken));
  draft.take(*changes.front());
  (void)forest_->transact({}, draft.share());
  taken.inverses = take_assertions(changes);
  if (!is_in_line(*changes.front())) realign(changes, draft);
  note(draft, changes);
  if (recorded != nullptr) *recorded = changes.front();
  if (!for_undo) {
    assertions_.keep_names(changes);
    return {};
  }
  remember(done_, batch_of(taken, changes));
  undone_.clear();
  return {};
}

bool Store::knows_relation(const RelationName& relation) const {
  const Hold hold(*this);
  return assertions_.has_relation(relation);
}

bool Store::knows_twist(const RelationName& relation) const {
  const Hold hold(*this);
  return assertions_.has_twist(relation);
}

std::vector<log::Payload> Store::snapshot() const {
  const Hold hold(*this);
  return assertions_.snapshot();
}

std::optional<bool> Store::is_named(const std::string& name) const {
  const Hold hold(*this);
  return assertions_.is_named(name);
}

SampleTable Store::samples(const NodeId& node) const {
  const Hold hold(*this);
  const NodeRecord* record = version()->find(node);
  return record != nullptr && record->is_transform() ? samples_of(version(), *record, names_, *forest_) : SampleTable{};
}

std::uint64_t Store::time_epoch() const {
  const Hold hold(*this);
  return assertions_.time_epoch();
}

std::vector<InactiveAssertion> Store::inactive() const {
  const Hold hold(*this);
  std::vector<InactiveAssertion> all = assertions_.rigid().inactive;
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
    if (!is_of_frames(change->payload)) continue;
    inverses.push_back(assertions_.inverse(*change));
    assertions_.take(*change);
  }
  return inverses;
}

namespace {

/// The frame that a change is about; empty where it is about none, or all.
std::string frame_of(const log::Payload& payload) {
  if (const auto* asserted = std::get_if<log::Assert>(&payload)) return asserted->track.of;
  if (const auto* prefer = std::get_if<log::Prefer>(&payload)) return prefer->subject.name;
  if (const auto* body = std::get_if<log::SetBody>(&payload)) return body->body;
  if (const auto* frames = std::get_if<log::SetFrames>(&payload)) return frames->names.empty() ? "" : frames->names.front();
  if (const auto* removed = std::get_if<log::RemoveFrames>(&payload)) return removed->names.empty() ? "" : removed->names.front();
  return {};
}

}  // namespace

/// The inverse of one change of a batch, as far as nothing rests on it that came after the `last` of the batch.
Refusal Store::undo_assertion(const Change& change, const Inverse& inverse, const Signature& last,
                              std::vector<ChangeRequest>& requests) const {
  Refusal refusal;
  refusal.frame = frame_of(change.payload);
  const bool is_newest =
      assertions_.is_newest(change, [this](const Signature& signature) { return authorship_.wrote(signature); });
  refusal.fault = !inverse ? Fault::no_inverse : is_newest ? Fault::none : Fault::built_upon_frame;
  if (refusal) return refusal;
  for (const log::Payload& back : *inverse) {
    ChangeRequest request;
    request.change.payload = back;
    request.change.origin = kUndoOrigin;
    if (auto* removed = std::get_if<log::RemoveFrames>(&request.change.payload)) {
      removed->names = assertions_.unused_since(removed->names, last);
      if (removed->names.empty()) continue;
    }
    requests.push_back(std::move(request));
  }
  return {};
}

}  // namespace armillary::scene
