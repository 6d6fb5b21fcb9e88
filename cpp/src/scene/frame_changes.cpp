// Changes of frames beside the nodes: what they mean for the forest, where they are made and where they are merged.

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

std::optional<std::string> chosen(const FrameAssertion& assertion) {
  return assertion.has_source ? std::optional(assertion.source) : std::nullopt;
}

std::vector<std::string> names_of(const FrameAssertion& assertion) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : assertion.joints) names.push_back(name);
  return names;
}

PlaceFixed placed(const FrameAssertion& assertion) {
  PlaceFixed edit{.of = assertion.of, .in_frame = assertion.in_frame, .source = assertion.source, .from = assertion.since};
  edit.in_frame_T_of = assertion.pose->value;
  if (assertion.pose->certainty == Certainty::known) edit.covariance = assertion.pose->covariance;
  edit.is_unsure = assertion.pose->certainty == Certainty::unknown;
  edit.recalibrate = assertion.recalibrate;
  return edit;
}

}  // namespace

void add_frame_edits(const Change& change, std::vector<FrameEdit>& edits) {
  const FrameAssertion& assertion = *change.assertion;
  switch (change.kind) {
    case ChangeKind::add_frame:
      for (const std::string& frame : assertion.frames) edits.emplace_back(AddFrame{frame});
      return;
    case ChangeKind::fix:
      edits.emplace_back(placed(assertion));
      return;
    case ChangeKind::drive:
      edits.emplace_back(PlaceDriven{assertion.of, assertion.in_frame, assertion.source, assertion.since, assertion.form});
      return;
    case ChangeKind::release:
      edits.emplace_back(CloseFrame{assertion.of, assertion.source, assertion.since});
      return;
    case ChangeKind::add_joints:
      edits.emplace_back(AddJoints{assertion.joints});
      return;
    case ChangeKind::remove_joints:
      edits.emplace_back(HideJoints{names_of(assertion)});
      return;
    case ChangeKind::unfix:
      edits.emplace_back(EraseFixed{assertion.of, assertion.source, assertion.since});
      return;
    case ChangeKind::add_relation:
      edits.emplace_back(AwaitSamples{assertion.of, assertion.in_frame, assertion.source, assertion.since});
      return;
    case ChangeKind::add_twist_relation:
      edits.emplace_back(AwaitTwists{assertion.of, assertion.in_frame, assertion.source});
      return;
    case ChangeKind::add_body:
      edits.emplace_back(JoinBody{assertion.of, assertion.frames});
      return;
    case ChangeKind::prefer:
      edits.emplace_back(PreferSource{assertion.of, chosen(assertion)});
      return;
    case ChangeKind::remove_frame:
      edits.emplace_back(EraseFrames{.frames = assertion.frames, .lets_others_go = assertion.takes_back});
      return;
    case ChangeKind::reset_time:
      edits.emplace_back(RestartTime{});
      return;
    default:
      return;
  }
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
    const FrameAssertion& assertion = *change.assertion;
    if (change.kind == ChangeKind::remove_frame) return add_removal(assertion);
    for (const std::string& frame : assertion.frames) named_.insert(frame);
    if (change.kind == ChangeKind::reset_time) restarts_ = true;
    if (change.kind == ChangeKind::add_twist_relation) measured_.push_back(&assertion);
    if (change.kind == ChangeKind::add_body) add_relative_to(assertion.of);
    if (change.kind == ChangeKind::add_relation) {
      tracks_[{assertion.of, assertion.source}];
      new_relations_.emplace(assertion.of, assertion.source, assertion.in_frame);
    }
    if (!assertion.joints.empty()) add_joints(assertion);
    if (is_since(change.kind)) {
      bool& forgets = tracks_[{assertion.of, assertion.source}];
      forgets = forgets || (assertions_.is_latest(change) && !is_done_);
      if (!is_done_) new_assertions_.emplace(assertion.of, assertion.source, assertion.since);
      if (change.kind == ChangeKind::unfix) renewed_.insert({assertion.of, assertion.source});
    }
    if (!assertion.of.empty()) named_frames_.insert(assertion.of);
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
    for (const FrameAssertion* assertion : joints_) declare(*assertion, edits);
    for (const std::string& frame : named_)
      if (assertions_.has_frame(frame)) edits.emplace_back(AddFrame{frame});
    if (assertions_.has_bodies()) edits.emplace_back(bodies());
    for (const auto& [track, forgets] : tracks_)
      if (assertions_.has_frame(track.first)) edits.emplace_back(aligned(track.first, track.second, forgets));
    for (const FrameAssertion* assertion : measured_)
      if (assertions_.has_name(assertion->in_frame) && assertions_.has_twist(*assertion) && !is_inactive(*assertion))
        edits.emplace_back(AwaitTwists{assertion->of, assertion->in_frame, assertion->source});
    for (const std::string& frame : named_frames_)
      if (assertions_.has_preference(frame)) edits.emplace_back(PreferSource{frame, assertions_.preferred(frame)});
    return edits;
  }

 private:
  /// A frame that was named again later begins anew with what was asserted since.
  void add_removal(const FrameAssertion& assertion) {
    for (const std::string& frame : assertion.frames) {
      removed_.insert(frame);
      named_frames_.insert(frame);
      if (assertions_.has_frame(frame)) named_.insert(frame);
    }
  }

  /// What moves relative to a body may have come before it.
  void add_relative_to(const std::string& body) {
    for (FrameAssertion& twist : assertions_.twists_relative_to(body))
      measured_.push_back(&waiting_.emplace_back(std::move(twist)));
  }

  /// What they drive may have come before them.
  void add_joints(const FrameAssertion& assertion) {
    joints_.push_back(&assertion);
    for (const TrackName& track : assertions_.tracks_driven_by(assertion)) tracks_[track];
  }

  void renew(const TrackName& track) {
    tracks_.try_emplace(track);
    renewed_.insert(track);
  }

  [[nodiscard]] bool is_asserted_now(const std::string& of, const std::string& source, const PoseAssertion& asserted) const {
    if (!asserted.is_samples()) return new_assertions_.contains({of, source, asserted.since});
    return new_relations_.contains({of, source, asserted.in_frame});
  }

  /// Joint by joint, and rotations whole; of two kinds the latest wins.
  void declare(const FrameAssertion& assertion, std::vector<FrameEdit>& edits) const {
    AddJoints whole{.replaces = true};
    for (const auto& [name, kind] : assertion.joints) {
      const std::optional<VariableKind> counts = assertions_.joint(name);
      if (!counts) edits.emplace_back(HideJoints{{name}});
      if (counts != kind) continue;
      whole.joints.emplace_back(name, kind);
      if (kind == VariableKind::unit_quaternion && whole.joints.size() % 4 != 0) continue;
      edits.emplace_back(std::exchange(whole, AddJoints{.replaces = true}));
    }
  }

  void touch(const InactiveAssertion& inactive) {
    const bool is_pose = inactive.kind == ChangeKind::fix || inactive.kind == ChangeKind::add_relation;
    if (is_pose) tracks_[{inactive.assertion.of, inactive.assertion.source}];
    if (inactive.kind == ChangeKind::add_twist_relation) measured_.push_back(&inactive.assertion);
  }

  /// Whether a twist is one within a body.
  [[nodiscard]] bool is_inactive(const FrameAssertion& twist) const {
    return std::ranges::any_of(assertions_.rigid().inactive, [&](const InactiveAssertion& inactive) {
      return inactive.kind == ChangeKind::add_twist_relation && inactive.assertion.of == twist.of &&
             inactive.assertion.in_frame == twist.in_frame && inactive.assertion.source == twist.source;
    });
  }

  [[nodiscard]] AssignBodies bodies() const {
    AssignBodies edit{.bodies = assertions_.rigid().bodies, .on = assertions_.rigid().on};
    for (const InactiveAssertion& inactive : assertions_.rigid().inactive)
      if (inactive.kind == ChangeKind::add_twist_relation)
        edit.inactive_twists.insert({inactive.assertion.of, inactive.assertion.in_frame, inactive.assertion.source});
    return edit;
  }

  [[nodiscard]] bool breaks_body(const std::string& of, const std::string& source, const PoseAssertion& asserted) const {
    return std::ranges::any_of(assertions_.rigid().inactive, [&](const InactiveAssertion& inactive) {
      return inactive.assertion.of == of && inactive.assertion.in_frame == asserted.in_frame &&
             inactive.assertion.source == source && inactive.assertion.since == asserted.since &&
             inactive.kind == (asserted.pose ? ChangeKind::fix : ChangeKind::add_relation);
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
  std::deque<FrameAssertion> waiting_;
  std::vector<const FrameAssertion*> joints_, measured_;
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
    if (is_of_frames(change->kind)) alignment.add(*change);
  return alignment.edits();
}

std::vector<std::string> frames_named_by(std::span<const ChangePtr> changes) {
  std::set<std::string> names;
  for (const ChangePtr& change : changes) {
    if (!is_of_frames(change->kind)) continue;
    names.insert(change->assertion->frames.begin(), change->assertion->frames.end());
    if (!change->assertion->of.empty()) names.insert(change->assertion->of);
  }
  return {names.begin(), names.end()};
}

FrameEdit cycle_resolution(const AssertionLog& assertions) {
  return ResolveCycles{[&assertions](const RunName& run) -> std::optional<ResolveCycles::Rank> {
    for (const PoseAssertion& asserted : assertions.pose_assertions(std::string(run.of), std::string(run.source))) {
      const bool is_it = asserted.in_frame == run.in_frame && (!run.is_fixed || asserted.since == run.since);
      if (!is_it || asserted.is_closed || !!asserted.pose != run.is_fixed) continue;
      const auto& [less_authority, timestamp] = precedence(asserted.timestamp);
      return ResolveCycles::Rank{less_authority, timestamp.wall_ns, timestamp.count, timestamp.dot.author,
                                 timestamp.dot.sequence};
    }
    return std::nullopt;
  }};
}

// -- What is done here is in line with what everybody will make of it

namespace {

bool may_concern_bodies(ChangeKind kind) { return kind == ChangeKind::add_body || kind == ChangeKind::remove_frame; }

}  // namespace

/// Whether what is active may change for assertions of others: they may have waited for it.
void Store::realign(std::span<const ChangePtr> changes, const Draft& draft) {
  const std::vector<InactiveAssertion> were_inactive = assertions_.rigid().inactive;
  const auto concerns_bodies = [](const ChangePtr& change) { return may_concern_bodies(change->kind); };
  if (assertions_.has_bodies() && (!were_inactive.empty() || std::ranges::any_of(changes, concerns_bodies)))
    assertions_.resolve_bodies();
  std::vector<FrameEdit> edits = aligning_edits(assertions_, changes, were_inactive, true);
  add_placements_again(draft.share(), frames_named_by(changes), names_, edits);
  edits.push_back(cycle_resolution(assertions_));
  (void)publish(std::move(edits), draft, false, false);
}

bool Store::is_in_line(const Change& change) const {
  if (forest_->has_closing_runs() || !assertions_.rigid().inactive.empty()) return false;
  const bool is_given = is_since(change.kind) && change.kind != ChangeKind::unfix;
  if (is_given) return !assertions_.has_samples(change.assertion->of, change.assertion->source);
  return change.kind != ChangeKind::reset_time && change.kind != ChangeKind::unfix && !may_concern_bodies(change.kind);
}

/// Where loops and bodies leave the relation out, its samples are there when it comes into force.
bool Store::merge_samples(std::vector<PlaceSample> samples) {
  const Hold hold(*this);
  const auto is_known = [this](const PlaceSample& sample) {
    return assertions_.has_relation({.of = sample.of, .in_frame = sample.in_frame, .source = sample.source});
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

Failure Store::record(Change change, std::int64_t now_ns, const std::function<Failure(FrameAssertion&)>& act, bool for_undo,
                      ChangePtr* recorded) {
  const Hold hold(*this);
  auto assertion = std::make_shared<FrameAssertion>(*change.assertion);
  if (Failure failure = act(*assertion)) return failure;
  Draft draft(version(), *keys_);
  change.assertion = std::move(assertion);
  change.at = Stamp{now_ns};
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

bool Store::knows_relation(const FrameAssertion& assertion) const {
  const Hold hold(*this);
  return assertions_.has_relation(assertion);
}

bool Store::knows_twist(const FrameAssertion& assertion) const {
  const Hold hold(*this);
  return assertions_.has_twist(assertion);
}

std::vector<Change> Store::snapshot() const {
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
    InactiveAssertion& inactive =
        all.emplace_back(InactiveAssertion{.kind = run.pose ? ChangeKind::fix : ChangeKind::add_relation, .at = run.at});
    inactive.path = std::move(run.path);
    inactive.assertion = {
        .of = std::move(run.of), .in_frame = std::move(run.in_frame), .source = std::move(run.source), .since = run.since};
    inactive.assertion.pose = std::move(run.pose);
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
    if (!is_of_frames(change->kind)) continue;
    inverses.push_back(assertions_.inverse(*change));
    assertions_.take(*change);
  }
  return inverses;
}

/// The inverse of one change of a batch, as far as nothing rests on it that came after the `last` of the batch.
Refusal Store::undo_assertion(const Change& change, const std::optional<std::vector<Change>>& inverse,
                              const HybridTimestamp& last, std::vector<ChangeRequest>& requests) const {
  Refusal refusal;
  refusal.frame =
      change.assertion->of.empty() && !change.assertion->frames.empty() ? change.assertion->frames.front() : change.assertion->of;
  const bool is_newest =
      assertions_.is_newest(change, [this](const HybridTimestamp& timestamp) { return authorship_.wrote(timestamp); });
  refusal.fault = !inverse ? Fault::no_inverse : is_newest ? Fault::none : Fault::built_upon_frame;
  if (refusal) return refusal;
  for (const Change& back : *inverse) {
    ChangeRequest request;
    request.change = back;
    if (back.kind == ChangeKind::remove_frame) {
      FrameAssertion assertion = *back.assertion;
      assertion.frames = assertions_.unused_since(assertion.frames, last);
      if (assertion.frames.empty()) continue;
      request.change.assertion = std::make_shared<const FrameAssertion>(std::move(assertion));
    }
    requests.push_back(std::move(request));
  }
  return {};
}

}  // namespace armillary::scene
