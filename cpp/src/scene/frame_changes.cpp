// Changes of frames beside the nodes: what they mean for the forest, here where they are said and at who merges them.

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

std::optional<std::string> chosen(const FrameFact& fact) { return fact.has_source ? std::optional(fact.source) : std::nullopt; }

std::vector<std::string> names_of(const FrameFact& fact) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : fact.joints) names.push_back(name);
  return names;
}

PlaceFixed placed(const FrameFact& fact) {
  PlaceFixed edit{.of = fact.of, .in_frame = fact.in_frame, .source = fact.source, .from = fact.since};
  edit.in_frame_T_of = fact.pose->value;
  if (fact.pose->certainty == Certainty::known) edit.covariance = fact.pose->covariance;
  edit.is_unsure = fact.pose->certainty == Certainty::unknown;
  edit.recalibrate = fact.recalibrate;
  return edit;
}

}  // namespace

void add_frame_edits(const Change& change, std::vector<FrameEdit>& edits) {
  const FrameFact& fact = *change.fact;
  switch (change.kind) {
    case ChangeKind::add_frame:
      for (const std::string& frame : fact.frames) edits.emplace_back(AddFrame{frame});
      return;
    case ChangeKind::fix:
      edits.emplace_back(placed(fact));
      return;
    case ChangeKind::drive:
      edits.emplace_back(PlaceDriven{fact.of, fact.in_frame, fact.source, fact.since, fact.form});
      return;
    case ChangeKind::release:
      edits.emplace_back(CloseFrame{fact.of, fact.source, fact.since});
      return;
    case ChangeKind::add_joints:
      edits.emplace_back(AddJoints{fact.joints});
      return;
    case ChangeKind::remove_joints:
      edits.emplace_back(HideJoints{names_of(fact)});
      return;
    case ChangeKind::unfix:
      edits.emplace_back(EraseFixed{fact.of, fact.source, fact.since});
      return;
    case ChangeKind::add_relation:
      edits.emplace_back(AwaitSamples{fact.of, fact.in_frame, fact.source, fact.since});
      return;
    case ChangeKind::add_twist_relation:
      edits.emplace_back(AwaitTwists{fact.of, fact.in_frame, fact.source});
      return;
    case ChangeKind::add_body:
      edits.emplace_back(JoinBody{fact.of, fact.frames});
      return;
    case ChangeKind::prefer:
      edits.emplace_back(PreferSource{fact.of, chosen(fact)});
      return;
    case ChangeKind::remove_frame:
      edits.emplace_back(EraseFrames{.frames = fact.frames, .lets_others_go = fact.takes_back});
      return;
    case ChangeKind::reset_time:
      edits.emplace_back(RestartTime{});
      return;
    default:
      return;
  }
}

namespace {

/// What a set of changes asks of the forest. The facts have taken them all: what counts is read there.
class Alignment {
 public:
  /// `were_idle`: what did not count before because of bodies. `is_done`: what is erased by the changes is gone already.
  Alignment(const Facts& facts, const std::vector<Idle>& were_idle, bool is_done) : facts_(facts), is_done_(is_done) {
    for (const std::vector<Idle>* all : {&were_idle, &facts.rigid().idle})
      for (const Idle& idle : *all) touch(idle);
  }

  void add(const Change& change) {
    const FrameFact& fact = *change.fact;
    if (change.kind == ChangeKind::remove_frame) return add_removal(fact);
    for (const std::string& frame : fact.frames) named_.insert(frame);
    if (change.kind == ChangeKind::reset_time) restarts_ = true;
    if (change.kind == ChangeKind::add_twist_relation) measured_.push_back(&fact);
    if (change.kind == ChangeKind::add_body) add_relative_to(fact.of);
    if (change.kind == ChangeKind::add_relation) {
      tracks_[{fact.of, fact.source}];
      new_relations_.emplace(fact.of, fact.source, fact.in_frame);
    }
    if (!fact.joints.empty()) add_joints(fact);
    if (is_since(change.kind)) {
      bool& forgets = tracks_[{fact.of, fact.source}];
      forgets = forgets || (facts_.is_last_word(change) && !is_done_);
      if (!is_done_) new_words_.emplace(fact.of, fact.source, fact.since);
      if (change.kind == ChangeKind::unfix) renewed_.insert({fact.of, fact.source});
    }
    if (!fact.of.empty()) spoken_of_.insert(fact.of);
  }

  [[nodiscard]] std::vector<FrameEdit> edits() {
    std::vector<FrameEdit> edits;
    if (!removed_.empty())
      for (const TrackName& track : facts_.tracks_at(removed_)) renew(track);
    if (!removed_.empty() && !is_done_) edits.emplace_back(EraseFrames{{removed_.begin(), removed_.end()}, true});
    if (restarts_) {
      if (!is_done_) edits.emplace_back(RestartTime{});
      for (const TrackName& track : facts_.tracks()) renew(track);
    }
    for (const FrameFact* fact : joints_) declare(*fact, edits);
    for (const std::string& frame : named_)
      if (facts_.has_frame(frame)) edits.emplace_back(AddFrame{frame});
    if (facts_.has_bodies()) edits.emplace_back(bodies());
    for (const auto& [track, forgets] : tracks_)
      if (facts_.has_frame(track.first)) edits.emplace_back(aligned(track.first, track.second, forgets));
    for (const FrameFact* fact : measured_)
      if (facts_.has_name(fact->in_frame) && facts_.has_twist(*fact) && !is_idle(*fact))
        edits.emplace_back(AwaitTwists{fact->of, fact->in_frame, fact->source});
    for (const std::string& frame : spoken_of_)
      if (facts_.has_preference(frame)) edits.emplace_back(PreferSource{frame, facts_.preferred(frame)});
    return edits;
  }

 private:
  /// A frame that somebody named later begins anew with what was said of it since.
  void add_removal(const FrameFact& fact) {
    for (const std::string& frame : fact.frames) {
      removed_.insert(frame);
      spoken_of_.insert(frame);
      if (facts_.has_frame(frame)) named_.insert(frame);
    }
  }

  /// What moves relative to a body may have come before it.
  void add_relative_to(const std::string& body) {
    for (FrameFact& twist : facts_.twists_relative_to(body)) measured_.push_back(&waiting_.emplace_back(std::move(twist)));
  }

  /// What they drive may have come before them.
  void add_joints(const FrameFact& fact) {
    joints_.push_back(&fact);
    for (const TrackName& track : facts_.tracks_driven_by(fact)) tracks_[track];
  }

  void renew(const TrackName& track) {
    tracks_.try_emplace(track);
    renewed_.insert(track);
  }

  [[nodiscard]] bool is_said_now(const std::string& of, const std::string& source, const Word& word) const {
    if (!word.is_samples()) return new_words_.contains({of, source, word.since});
    return new_relations_.contains({of, source, word.in_frame});
  }

  /// Joint by joint, and rotations whole; of two kinds the last that was said counts.
  void declare(const FrameFact& fact, std::vector<FrameEdit>& edits) const {
    AddJoints whole{.replaces = true};
    for (const auto& [name, kind] : fact.joints) {
      const std::optional<VariableKind> counts = facts_.joint(name);
      if (!counts) edits.emplace_back(HideJoints{{name}});
      if (counts != kind) continue;
      whole.joints.emplace_back(name, kind);
      if (kind == VariableKind::unit_quaternion && whole.joints.size() % 4 != 0) continue;
      edits.emplace_back(std::exchange(whole, AddJoints{.replaces = true}));
    }
  }

  void touch(const Idle& idle) {
    const bool is_pose = idle.kind == ChangeKind::fix || idle.kind == ChangeKind::add_relation;
    if (is_pose) tracks_[{idle.fact.of, idle.fact.source}];
    if (idle.kind == ChangeKind::add_twist_relation) measured_.push_back(&idle.fact);
  }

  /// Of a twist: whether it is one within a body.
  [[nodiscard]] bool is_idle(const FrameFact& twist) const {
    return std::ranges::any_of(facts_.rigid().idle, [&](const Idle& idle) {
      return idle.kind == ChangeKind::add_twist_relation && idle.fact.of == twist.of && idle.fact.in_frame == twist.in_frame &&
             idle.fact.source == twist.source;
    });
  }

  [[nodiscard]] AssignBodies bodies() const {
    AssignBodies edit{.bodies = facts_.rigid().bodies, .on = facts_.rigid().on};
    for (const Idle& idle : facts_.rigid().idle)
      if (idle.kind == ChangeKind::add_twist_relation)
        edit.idle_twists.insert({idle.fact.of, idle.fact.in_frame, idle.fact.source});
    return edit;
  }

  [[nodiscard]] bool breaks_body(const std::string& of, const std::string& source, const Word& word) const {
    return std::ranges::any_of(facts_.rigid().idle, [&](const Idle& idle) {
      return idle.fact.of == of && idle.fact.in_frame == word.in_frame && idle.fact.source == source &&
             idle.fact.since == word.since && idle.kind == (word.pose ? ChangeKind::fix : ChangeKind::add_relation);
    });
  }

  [[nodiscard]] AlignTrack aligned(const std::string& of, const std::string& source, bool forgets) const {
    AlignTrack edit{.of = of, .source = source, .forgets = forgets, .renews = renewed_.contains({of, source})};
    for (Word& word : facts_.words(of, source)) {
      const bool is_idle = breaks_body(of, source, word);
      const bool is_new = is_said_now(of, source, word);
      edit.words.push_back(
          {word.since, std::move(word.in_frame), std::move(word.pose), is_idle, std::move(word.form), word.is_closed, is_new});
    }
    return edit;
  }

  const Facts& facts_;
  bool is_done_;
  std::set<std::string> removed_, named_, spoken_of_;
  std::deque<FrameFact> waiting_;
  std::vector<const FrameFact*> joints_, measured_;
  std::map<TrackName, bool> tracks_;                                           // and whether what came before is forgotten
  std::set<std::tuple<std::string, std::string, Stamp>> new_words_;            // of, source, since
  std::set<std::tuple<std::string, std::string, std::string>> new_relations_;  // of, source, in_frame
  std::set<TrackName> renewed_;                                                // something was taken back
  bool restarts_ = false;
};

}  // namespace

std::vector<FrameEdit> aligning_edits(const Facts& facts, std::span<const ChangePtr> changes, const std::vector<Idle>& were_idle,
                                      bool is_done) {
  Alignment alignment(facts, were_idle, is_done);
  for (const ChangePtr& change : changes)
    if (is_of_frames(change->kind)) alignment.add(*change);
  return alignment.edits();
}

std::vector<std::string> spoken_of(std::span<const ChangePtr> changes) {
  std::set<std::string> names;
  for (const ChangePtr& change : changes) {
    if (!is_of_frames(change->kind)) continue;
    names.insert(change->fact->frames.begin(), change->fact->frames.end());
    if (!change->fact->of.empty()) names.insert(change->fact->of);
  }
  return {names.begin(), names.end()};
}

FrameEdit settling(const Facts& facts) {
  return SettleLoops{[&facts](const RunName& run) -> std::optional<SettleLoops::Rank> {
    for (const Word& word : facts.words(std::string(run.of), std::string(run.source))) {
      const bool is_it = word.in_frame == run.in_frame && (!run.is_fixed || word.since == run.since);
      if (!is_it || word.is_closed || !!word.pose != run.is_fixed) continue;
      const auto& [less_authority, mark] = precedence(word.mark);
      return SettleLoops::Rank{less_authority, mark.wall_ns, mark.count, mark.dot.author, mark.dot.sequence};
    }
    return std::nullopt;
  }};
}

// -- What is done here is in line with what everybody will make of it

namespace {

bool may_concern_bodies(ChangeKind kind) { return kind == ChangeKind::add_body || kind == ChangeKind::remove_frame; }

}  // namespace

/// What counts may change for what others said: they may have waited for it.
void Store::realign(std::span<const ChangePtr> changes, const Draft& draft) {
  const std::vector<Idle> were_idle = facts_.rigid().idle;
  const auto concerns_bodies = [](const ChangePtr& change) { return may_concern_bodies(change->kind); };
  if (facts_.has_bodies() && (!were_idle.empty() || std::ranges::any_of(changes, concerns_bodies))) facts_.settle_bodies();
  std::vector<FrameEdit> edits = aligning_edits(facts_, changes, were_idle, true);
  add_places_again(draft.share(), spoken_of(changes), names_, edits);
  edits.push_back(settling(facts_));
  (void)publish(std::move(edits), draft, false, false);
}

bool Store::is_in_line(const Change& change) const {
  if (forest_->has_closing_runs() || !facts_.rigid().idle.empty()) return false;
  const bool is_said = is_since(change.kind) && change.kind != ChangeKind::unfix;
  if (is_said) return !facts_.has_samples(change.fact->of, change.fact->source);
  return change.kind != ChangeKind::reset_time && change.kind != ChangeKind::unfix && !may_concern_bodies(change.kind);
}

/// Where loops and bodies leave the relation out, its samples are there when it comes into force.
bool Store::merge_samples(std::vector<PlaceSample> samples) {
  const VersionLock guard;
  const auto is_known = [this](const PlaceSample& sample) {
    return facts_.has_relation({.of = sample.of, .in_frame = sample.in_frame, .source = sample.source});
  };
  if (!std::ranges::all_of(samples, is_known)) return false;
  std::vector<FrameEdit> edits(std::make_move_iterator(samples.begin()), std::make_move_iterator(samples.end()));
  if (!facts_.rigid().idle.empty()) std::ranges::move(aligning_edits(facts_, {}, {}, true), std::back_inserter(edits));
  edits.push_back(settling(facts_));
  (void)publish(std::move(edits), Draft(version(), *keys_), false, false);
  return true;
}

// -- One change by itself

Failure Store::record(Change change, std::int64_t now_ns, const std::function<Failure(FrameFact&)>& act, bool for_undo,
                      ChangePtr* recorded) {
  const VersionLock guard;
  auto fact = std::make_shared<FrameFact>(*change.fact);
  if (Failure failure = act(*fact)) return failure;
  Draft draft(version(), *keys_);
  change.fact = std::move(fact);
  change.at = Stamp{now_ns};
  sign(change, draft, now_ns);
  std::vector<ChangePtr> changes{std::make_shared<const Change>(std::move(change))};
  Taken taken;
  taken.deeds.push_back(deed_of(changes.front(), draft, taken));
  draft.take(*changes.front());
  (void)forest_->transact({}, draft.share());
  taken.opposites = take_facts(changes);
  if (!is_in_line(*changes.front())) realign(changes, draft);
  note(draft, changes);
  if (recorded != nullptr) *recorded = changes.front();
  if (!for_undo) {
    facts_.keep_names(changes);
    return {};
  }
  remember(done_, batch_of(taken, changes));
  undone_.clear();
  return {};
}

bool Store::knows_relation(const FrameFact& fact) const {
  const VersionLock guard;
  return facts_.has_relation(fact);
}

bool Store::knows_twist(const FrameFact& fact) const {
  const VersionLock guard;
  return facts_.has_twist(fact);
}

std::vector<Change> Store::said() const {
  const VersionLock guard;
  return facts_.said();
}

std::optional<bool> Store::is_named(const std::string& name) const {
  const VersionLock guard;
  return facts_.is_named(name);
}

SampleTable Store::samples(const NodeId& node) const {
  const VersionLock guard;
  const NodeRecord* record = version()->find(node);
  return record != nullptr && record->is_transform() ? samples_of(version(), *record, names_, *forest_) : SampleTable{};
}

std::uint64_t Store::time_epoch() const {
  const VersionLock guard;
  return facts_.time_epoch();
}

std::vector<Idle> Store::idle() const {
  const VersionLock guard;
  std::vector<Idle> all = facts_.rigid().idle;
  for (ClosingRun& run : forest_->closing_runs()) {
    Idle& idle = all.emplace_back(Idle{.kind = run.pose ? ChangeKind::fix : ChangeKind::add_relation, .at = run.at});
    idle.path = std::move(run.path);
    idle.fact = {
        .of = std::move(run.of), .in_frame = std::move(run.in_frame), .source = std::move(run.source), .since = run.since};
    idle.fact.pose = std::move(run.pose);
  }
  return all;
}

Digest Store::frames_digest() const {
  const VersionLock guard;
  return facts_.digest();
}

Opposites Store::take_facts(const std::vector<ChangePtr>& changes) {
  Opposites opposites;
  for (const ChangePtr& change : changes) {
    if (!is_of_frames(change->kind)) continue;
    opposites.push_back(facts_.opposite(*change));
    facts_.take(*change);
  }
  return opposites;
}

/// What takes one change of a batch back, as far as nothing rests on it that came after the `last` of the batch.
Refusal Store::take_fact_back(const Change& change, const std::optional<std::vector<Change>>& opposite, const Mark& last,
                              std::vector<Wish>& wishes) const {
  Refusal refusal;
  refusal.frame = change.fact->of.empty() && !change.fact->frames.empty() ? change.fact->frames.front() : change.fact->of;
  const bool is_newest = facts_.is_newest(change, [this](const Mark& mark) { return voice_.said(mark); });
  refusal.fault = !opposite ? Fault::no_opposite : is_newest ? Fault::none : Fault::built_upon_frame;
  if (refusal) return refusal;
  for (const Change& back : *opposite) {
    Wish wish;
    wish.change = back;
    if (back.kind == ChangeKind::remove_frame) {
      FrameFact fact = *back.fact;
      fact.frames = facts_.unused_since(fact.frames, last);
      if (fact.frames.empty()) continue;
      wish.change.fact = std::make_shared<const FrameFact>(std::move(fact));
    }
    wishes.push_back(std::move(wish));
  }
  return {};
}

}  // namespace armillary::scene
