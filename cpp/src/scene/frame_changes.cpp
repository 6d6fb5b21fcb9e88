// Changes of frames beside the nodes: what they mean for the forest, here where they are said and at who merges them.

#include <algorithm>
#include <set>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

std::optional<std::string> chosen(const FrameFact& fact) { return fact.has_source ? std::optional(fact.source) : std::nullopt; }

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
      edits.emplace_back(EraseFrames{.frames = fact.frames});
      return;
    case ChangeKind::reset_time:
      edits.emplace_back(RestartTime{});
      return;
    default:
      return;
  }
}

namespace {

/// What a set of merged changes asks of the forest. The facts have taken them all: what counts is read there.
class Alignment {
 public:
  explicit Alignment(const Facts& facts) : facts_(facts) {}

  void add(const Change& change) {
    const FrameFact& fact = *change.fact;
    if (change.kind == ChangeKind::remove_frame) return add_removal(fact);
    for (const std::string& frame : fact.frames) named_.insert(frame);
    if (change.kind == ChangeKind::reset_time) restarts_ = true;
    if (change.kind == ChangeKind::add_body) bodies_.push_back(&fact);
    if (change.kind == ChangeKind::add_relation && facts_.has_relation(fact)) sampled_.push_back(&fact);
    if (change.kind == ChangeKind::add_twist_relation && facts_.has_twist(fact)) measured_.push_back(&fact);
    if (change.kind == ChangeKind::fix || change.kind == ChangeKind::unfix) {
      bool& forgets = tracks_[{fact.of, fact.source}];
      forgets = forgets || facts_.is_last_word(change);
    }
    if (!fact.of.empty()) spoken_of_.insert(fact.of);
  }

  [[nodiscard]] std::vector<FrameEdit> edits() {
    std::vector<FrameEdit> edits;
    if (!removed_.empty()) edits.emplace_back(EraseFrames{{removed_.begin(), removed_.end()}, true});
    if (restarts_) {
      edits.emplace_back(RestartTime{});
      for (const auto& track : facts_.tracks_at({})) tracks_.try_emplace(track);
    }
    for (const std::string& frame : named_)
      if (facts_.has_frame(frame)) edits.emplace_back(AddFrame{frame});
    for (const FrameFact* body : bodies_) add_body(*body, edits);
    for (const auto& [track, forgets] : tracks_)
      if (facts_.has_frame(track.first)) edits.emplace_back(aligned(track.first, track.second, forgets));
    for (const FrameFact* fact : sampled_) edits.emplace_back(AwaitSamples{fact->of, fact->in_frame, fact->source, fact->since});
    for (const FrameFact* fact : measured_) edits.emplace_back(AwaitTwists{fact->of, fact->in_frame, fact->source});
    for (const std::string& frame : spoken_of_)
      if (facts_.has_preference(frame)) edits.emplace_back(PreferSource{frame, facts_.preferred(frame)});
    return edits;
  }

 private:
  /// A frame that somebody named later begins anew with what was said of it since.
  void add_removal(const FrameFact& fact) {
    for (const std::string& frame : fact.frames) {
      removed_.insert(frame);
      if (!facts_.has_frame(frame)) continue;
      named_.insert(frame);
      for (const auto& track : facts_.tracks_at(frame)) tracks_[track];
    }
  }

  /// Frame by frame: one that another body has does not keep the rest away.
  void add_body(const FrameFact& fact, std::vector<FrameEdit>& edits) const {
    edits.emplace_back(JoinBody{fact.of, {}});
    for (const std::string& frame : fact.frames)
      if (facts_.has_frame(frame) && facts_.body_of(frame) == fact.of) edits.emplace_back(JoinBody{fact.of, {frame}});
  }

  [[nodiscard]] AlignFixed aligned(const std::string& of, const std::string& source, bool forgets) const {
    AlignFixed edit{.of = of, .source = source, .forgets = forgets};
    for (FixedSince& said : facts_.fixed(of, source))
      edit.poses.push_back({said.since, std::move(said.in_frame), std::move(said.pose)});
    return edit;
  }

  const Facts& facts_;
  std::set<std::string> removed_, named_, spoken_of_;
  std::vector<const FrameFact*> bodies_, sampled_, measured_;
  std::map<std::pair<std::string, std::string>, bool> tracks_;  // and whether what came before is forgotten
  bool restarts_ = false;
};

}  // namespace

std::vector<FrameEdit> merged_frame_edits(const Facts& facts, std::span<const ChangePtr> changes) {
  Alignment alignment(facts);
  bool has_any = false;
  for (const ChangePtr& change : changes)
    if (is_of_frames(change->kind)) alignment.add(*change), has_any = true;
  return has_any ? alignment.edits() : std::vector<FrameEdit>{};
}

// -- One change by itself

Failure Store::record(Change change, std::int64_t now_ns, const std::function<Failure(FrameFact&)>& act, bool for_undo,
                      ChangePtr* recorded) {
  const VersionLock guard;
  auto fact = std::make_shared<FrameFact>(*change.fact);
  if (Failure failure = act(*fact)) return failure;
  const VersionPtr before = version();
  Draft draft(before, *keys_);
  change.fact = std::move(fact);
  change.at = Stamp{now_ns};
  sign(change, draft, now_ns);
  std::vector<ChangePtr> changes{std::make_shared<const Change>(std::move(change))};
  draft.take(*changes.front());
  (void)forest_->transact({}, draft.share());
  Opposites opposites = take_facts(changes);
  note(draft, changes);
  if (recorded != nullptr) *recorded = changes.front();
  if (!for_undo) return {};
  remember(done_, batch_of(changes, before, std::move(opposites)));
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

std::uint64_t Store::time_epoch() const {
  const VersionLock guard;
  return facts_.time_epoch();
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
  refusal.fault = !opposite ? Fault::no_opposite : facts_.is_newest(change) ? Fault::none : Fault::built_upon_frame;
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
