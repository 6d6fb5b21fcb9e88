// Undo: the inverse of what was applied here, as a new change. What others built on stays.

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "armillary/scene/store.hpp"

namespace armillary::scene {

namespace {

const Attribute* newest(const NodeRecord& record, std::string_view key) {
  const Attribute* found = nullptr;
  for (const Attribute& attribute : record.attributes)
    if (*attribute.key.text == key) found = &attribute;
  return found;
}

FixedPose pose_in(const SampleTable& table, std::size_t row) {
  const double *v = table.values.data() + row * table.width, *spread = table.covariances.data() + row * 36;
  FixedPose pose{.value = {{v[3], v[4], v[5], v[6]}, {v[0], v[1], v[2]}}};
  if (table.covariances.empty() || std::isnan(*spread)) return pose;
  std::copy_n(spread, 36, pose.covariance.values.begin());
  pose.certainty = Certainty::known;
  return pose;
}

/// The node that a change is about; nil where it is about frames.
NodeId node_of(const Change& change) {
  return std::visit(
      [](const auto& payload) {
        if constexpr (requires { payload.node; })
          return payload.node;
        else
          return NodeId{};
      },
      change.payload);
}

/// The frame that a change is about; empty where it is about none, or all.
std::string frame_of(const log::Payload& payload) {
  if (const auto* asserted = std::get_if<log::Assert>(&payload)) return asserted->track.of;
  if (const auto* prefer = std::get_if<log::Prefer>(&payload)) return prefer->subject.name;
  if (const auto* body = std::get_if<log::SetBody>(&payload)) return body->body;
  if (const auto* frames = std::get_if<log::SetFrames>(&payload)) return frames->names.empty() ? "" : frames->names.front();
  if (const auto* removed = std::get_if<log::RemoveFrames>(&payload)) return removed->names.empty() ? "" : removed->names.front();
  return {};
}

/// The nodes that a batch moved: it put them into something, and took them out of something.
std::unordered_set<NodeId> moved_in(const Batch& batch) {
  std::unordered_set<NodeId> put, moved;
  for (const UndoEntry& entry : batch.entries)
    if (const auto* edge = std::get_if<log::AddEdge>(&entry.change->payload)) put.insert(edge->node);
  for (const UndoEntry& entry : batch.entries)
    if (const auto* left = std::get_if<log::RemoveEdges>(&entry.change->payload); left != nullptr && put.contains(left->node))
      moved.insert(left->node);
  return moved;
}

/// What was applied here later has been undone before: only others can have built on a change.
///
/// What was gone is back from now on. What was moved is where it was as if it had never been moved: it was somewhere else all
/// the time, where it would be at a place that nobody ever gave it.
class InverseBuilder {
 public:
  InverseBuilder(const Authorship& authorship, const Draft& draft, const FrameNames& names, const Forest& forest,
                 const Batch& batch)
      : authorship_(authorship), draft_(draft), names_(names), forest_(forest), moved_(moved_in(batch)) {}

  using Requests = std::optional<std::vector<ChangeRequest>>;

  /// The requests that undo a change; none where somebody else built on it.
  [[nodiscard]] Requests of(const UndoEntry& entry) const {
    return std::visit([&](const auto& payload) { return of(entry, payload); }, entry.change->payload);
  }

  /// The nodes that stood for frames which were removed, as they were.
  void add_stand_ins(const UndoEntry& entry, std::vector<ChangeRequest>& requests) const {
    for (const std::string& name : std::get<log::RemoveFrames>(entry.change->payload).names)
      if (const NodeRecord* record = entry.version->find(log::stand_in_of(name)))
        requests.push_back(beginning(*record, kRootNode));
  }

 private:
  [[nodiscard]] Requests of(const UndoEntry&, const log::AddNode& payload) const {
    const NodeRecord* record = draft_.version().recall(payload.node);
    return record == nullptr ? std::nullopt : inverse_of_add(*record);
  }
  [[nodiscard]] Requests of(const UndoEntry&, const log::AddEdge& payload) const {
    const NodeRecord* record = draft_.version().recall(payload.node);
    return record == nullptr ? std::nullopt : inverse_of_add_parent(payload, *record);
  }
  [[nodiscard]] Requests of(const UndoEntry& entry, const log::RemoveEdges& payload) const {
    const NodeRecord* record = draft_.version().recall(payload.node);
    return record == nullptr ? std::nullopt : inverse_of_remove(entry, *record);
  }
  [[nodiscard]] Requests of(const UndoEntry& entry, const log::SetAttributes& payload) const {
    const NodeRecord* record = draft_.version().recall(payload.node);
    return record == nullptr ? std::nullopt : restored(payload, entry.before.get(), *record);
  }
  [[nodiscard]] Requests of(const UndoEntry&, const auto&) const { return std::nullopt; }

  [[nodiscard]] bool is_own(const Signature& signature) const { return authorship_.wrote(signature); }

  [[nodiscard]] bool is_own(const Edge& edge) const { return edge.removed || is_own(edge.signature); }

  [[nodiscard]] Requests inverse_of_add(const NodeRecord& record) const {
    const bool is_mine =
        std::ranges::all_of(record.edges, [&](const Edge& edge) { return is_own(edge); }) &&
        std::ranges::all_of(record.attributes, [&](const Attribute& attribute) { return is_own(attribute.signature); });
    if (!is_mine || !draft_.version().children(record).empty()) return std::nullopt;
    if (!draft_.version().is_alive(record.id)) return std::vector<ChangeRequest>{};
    return std::vector{request(log::RemoveEdges{.node = record.id}, never_was(record) ? record.created_at : Stamp::always())};
  }

  /// What stands for a frame is there at all times; or at none, where nothing ever was in it.
  [[nodiscard]] bool never_was(const NodeRecord& parent) const {
    if (parent.kind != NodeKind::frame) return false;
    const auto was_in_it = [&](const Edge& edge) { return edge.parent == parent.id && edge.from < edge.until; };
    bool found = false;
    parent.past_children.for_each([&](const NodeId& child, const auto&) {
      for (const NodeRecord* record = draft_.version().recall(child); record != nullptr; record = record->previous.get())
        found = found || std::ranges::any_of(record->edges, was_in_it);
    });
    return !found;
  }

  [[nodiscard]] Requests inverse_of_add_parent(const log::AddEdge& payload, const NodeRecord& record) const {
    const NodeId& parent = payload.edge.parent;
    const auto is_meant = [&](const Edge& edge) { return !edge.removed && edge.parent == parent; };
    const auto edge = std::ranges::find_if(record.edges, is_meant);
    const bool has_left = edge == record.edges.end();
    if (has_left && parent == kDetachedNode) return std::vector<ChangeRequest>{};  // by being mounted, just now
    if (has_left || !is_own(edge->signature)) return std::nullopt;
    const Stamp at = moved_.contains(payload.node) || never_was(record) ? edge->from : Stamp::always();
    return std::vector{request(log::RemoveEdges{.node = payload.node, .parent = parent}, at)};
  }

  /// The parents that it had before; where its id was used again since, its past incarnation begins anew.
  [[nodiscard]] Requests inverse_of_remove(const UndoEntry& entry, const NodeRecord& record) const {
    const NodeRecord* before = entry.before.get();
    if (before == nullptr) return std::vector<ChangeRequest>{};
    const bool is_same_incarnation = record.incarnation == before->incarnation;
    const bool is_free = !draft_.version().is_alive(record.id) && (is_own(record.incarnation) || is_shared_identity(record));
    if (!is_same_incarnation && !is_free) return std::nullopt;
    const std::vector<NodeId> now = is_same_incarnation ? record.parents() : std::vector<NodeId>{};
    std::vector<ChangeRequest> requests;
    for (const NodeId& parent : before->parents()) {
      if (std::ranges::find(now, parent) != now.end()) continue;
      if (!draft_.version().is_alive(parent)) return std::nullopt;
      const bool begins = !is_same_incarnation && requests.empty();
      requests.push_back(begins ? beginning(*before, parent) : joined(record.id, parent, since(record, parent)));
    }
    for (const Edge& edge : before->edges)
      if (is_same_incarnation && is_in_removed(edge) && !is_in(record, edge)) requests.push_back(joined(record.id, edge.parent));
    if (entry.version != nullptr && !refill(*entry.version, *before, !is_same_incarnation, requests)) return std::nullopt;
    return requests;
  }

  /// What was in a node when it went is in its past incarnation again. Where that begins anew it has to be asserted, and where
  /// its own id was used again since, it begins anew as well: not while somebody uses it.
  [[nodiscard]] bool refill(const Version& then, const NodeRecord& node, bool begins_anew,
                            std::vector<ChangeRequest>& requests) const {
    std::vector<std::pair<const NodeRecord*, bool>> waiting{{&node, begins_anew}};
    std::unordered_set<NodeId> seen{node.id}, begun;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const auto [above, is_new] = waiting[i];
      for (const NodeId& id : then.children(*above)) {
        const NodeRecord *child = then.find(id), *now = draft_.version().recall(id);
        const bool is_same = now != nullptr && now->incarnation == child->incarnation;
        if (!is_same && !begun.contains(id)) {
          if (now != nullptr && (draft_.version().is_alive(id) || !(is_own(now->incarnation) || is_shared_identity(*now))))
            return false;
          requests.push_back(beginning(*child, above->id));
          begun.insert(id);
        } else if (!is_same || is_new) {
          requests.push_back(joined(id, above->id));
        }
        if (seen.insert(id).second) waiting.emplace_back(child, !is_same);
      }
    }
    return true;
  }

  /// An incarnation that stands for the same thing in every replica: see `is_shared`.
  [[nodiscard]] static bool is_shared_identity(const NodeRecord& record) { return record.incarnation.id == Dot{}; }

  /// Whether it leads to something that is gone, and may come back with the node in it.
  [[nodiscard]] bool is_in_removed(const Edge& edge) const {
    if (edge.removed || edge.parent_is_alive || edge.closes_cycle) return false;
    const NodeRecord* parent = draft_.version().recall(edge.parent);
    return parent != nullptr && parent->incarnation == edge.parent_incarnation && !draft_.version().is_alive(edge.parent);
  }

  [[nodiscard]] static bool is_in(const NodeRecord& record, const Edge& meant) {
    return std::ranges::any_of(record.edges, [&](const Edge& edge) { return !edge.removed && edge.parent == meant.parent; });
  }

  /// It is where it was last.
  [[nodiscard]] ChangeRequest beginning(const NodeRecord& before, const NodeId& parent) const {
    log::AddNode payload{.node = before.id,
                         .kind = before.kind,
                         .content = before.content,
                         .placement = before.is_transform() ? last_place(before) : nullptr,
                         .frame_name = before.frame_name ? *before.frame_name : std::string(),
                         .edge = {.parent = parent}};
    before.for_each_attribute(
        [&](const Attribute& attribute) { payload.settings.push_back({*attribute.key.text, *attribute.value}); });
    return request(std::move(payload));
  }

  [[nodiscard]] std::shared_ptr<const Placement> last_place(const NodeRecord& before) const {
    const SampleTable samples = samples_of(draft_.base(), before, names_, forest_);
    if (samples.stamps.empty()) return before.placement;
    return std::make_shared<const Placement>(
        Placement{pose_in(samples, samples.stamps.size() - 1), before.placement->is_fixed, before.placement->source});
  }

  [[nodiscard]] Requests restored(const log::SetAttributes& payload, const NodeRecord* before, const NodeRecord& record) const {
    log::SetAttributes back{.node = payload.node};
    for (const Setting& setting : payload.settings) {
      const Attribute* now = newest(record, setting.key);
      if (now != nullptr && !is_own(now->signature)) return std::nullopt;
      const Attribute* then = before == nullptr ? nullptr : newest(*before, setting.key);
      const bool had_value = then != nullptr && then->value != nullptr;
      back.settings.push_back({setting.key, had_value ? std::optional<AttributeValue>(*then->value) : std::nullopt});
    }
    return std::vector{request(std::move(back))};
  }

  /// From when on a node is in a parent again; what stands for a frame and was undone, as it was before.
  [[nodiscard]] Stamp since(const NodeRecord& record, const NodeId& parent) const {
    const Edge* last = nullptr;
    for (const Edge& edge : record.edges)
      if (edge.removed && edge.parent == parent) last = &edge;
    if (last == nullptr) return Stamp::always();
    const bool is_as_before = record.kind == NodeKind::frame && last->from == last->until;
    return is_as_before || moved_.contains(record.id) ? last->until : Stamp::always();
  }

  [[nodiscard]] static ChangeRequest joined(const NodeId& node, const NodeId& parent, Stamp at = Stamp::always()) {
    return request(log::AddEdge{.node = node, .edge = {.parent = parent}}, at);
  }

  /// `at`: since when it is as it was before; `always`: since it is undone.
  [[nodiscard]] static ChangeRequest request(log::Payload payload, Stamp at = Stamp::always()) {
    ChangeRequest made;
    made.change.payload = std::move(payload);
    made.change.at = at;
    made.restores = true;
    return made;
  }

  const Authorship& authorship_;
  const Draft& draft_;
  const FrameNames& names_;
  const Forest& forest_;
  std::unordered_set<NodeId> moved_;
};

}  // namespace

TakenBack Store::undo(std::int64_t now_ns) { return take_back(done_, undone_, now_ns); }

TakenBack Store::redo(std::int64_t now_ns) { return take_back(undone_, done_, now_ns); }

namespace {

TakenBack refused(Refusal refusal) {
  TakenBack taken;
  taken.outcome.refusal = std::move(refusal);
  return taken;
}

Refusal built_upon(const Change& change) {
  Refusal refusal;
  refusal.fault = Fault::built_upon_frame, refusal.frame = frame_of(change.payload);
  return refusal;
}

/// Corrections within a body are no contradictions when they are made again.
ChangeRequest made_again(const UndoneChange& undone) {
  ChangeRequest request;
  request.change.payload = undone.change->payload;
  request.epoch = undone.change->epoch;
  request.with_frames_under = undone.with_frames_under;
  request.restores = true;
  if (auto* asserted = std::get_if<log::Assert>(&request.change.payload)) asserted->recalibrate = true;
  return request;
}

/// What is forgotten does not come back: there is nothing to be forgotten again.
bool is_done_again(const log::Payload& payload) { return !std::holds_alternative<log::Forget>(payload); }

}  // namespace

/// Takes back the samples that came with a batch, and the moves that samples made: those of the runs that they began.
std::vector<ChangeRequest> Store::forgets_of(const Batch& batch, const Version& version) const {
  std::vector<ChangeRequest> requests;
  const auto forget = [&](log::Forget payload) { requests.emplace_back().change.payload = std::move(payload); };
  for (auto move = batch.moves.rbegin(); move != batch.moves.rend(); ++move) {
    const auto& [of, in_frame, source] = move->relation;
    if (const auto run = forest_->run_of({of, in_frame, source}, move->from))
      forget({.of = of,
              .kind = log::TrackKind::pose,
              .in_frame = in_frame,
              .source = source,
              .start = run->first,
              .end = run->second});
  }
  for (const NodeSample& sample : batch.written) {
    const NodeRecord* record = version.find(sample.node);
    const auto adds_it = [&](const UndoEntry& entry) {
      const auto* added = std::get_if<log::AddNode>(&entry.change->payload);
      return added != nullptr && added->node == sample.node;
    };
    if (record == nullptr || record->incarnation != sample.incarnation || std::ranges::any_of(batch.entries, adds_it)) continue;
    forget({.of = names_.own(*record),
            .kind = log::TrackKind::pose,
            .source = record->placement->source,
            .start = sample.at,
            .end = Stamp{sample.at.ns + 1}});
  }
  return requests;
}

bool Store::still_holds(const Change& change) const {
  return assertions_.still_holds(change, [this](const Signature& signature) { return authorship_.wrote(signature); });
}

/// Whether this author declared a frame that is there.
bool Store::declares(const std::string& name) const {
  const log::FrameEntry* frame = assertions_.log().find_frame(name);
  return frame != nullptr && frame->declared && std::get<log::SetFrames>(frame->declared->payload).present &&
         authorship_.wrote(frame->declared->signature());
}

/// The inverse of one change of a batch, as far as nothing rests on it.
Refusal Store::undo_assertion(const Change& change, const Inverse& inverse, std::vector<ChangeRequest>& requests) const {
  Refusal refusal = built_upon(change);
  if (!inverse) refusal.fault = Fault::no_inverse;
  if (!inverse || !still_holds(change)) return refusal;
  for (const Restated& back : *inverse) {
    ChangeRequest request;
    request.change.payload = back.payload;
    request.epoch = back.epoch;
    auto* frames = std::get_if<log::SetFrames>(&request.change.payload);
    if (frames != nullptr && !frames->present)
      std::erase_if(frames->names, [this](const std::string& name) { return !declares(name); });
    if (frames == nullptr || !frames->names.empty()) requests.push_back(std::move(request));
  }
  return {};
}

Refusal Store::take_inverses(const Batch& batch, Draft& draft, std::int64_t now_ns, Taken& taken,
                             std::vector<UndoneChange>& undone) const {
  const InverseBuilder inverse(authorship_, draft, names_, *forest_, batch);
  std::vector<ChangeRequest> forgets = forgets_of(batch, draft.version());
  for (ChangeRequest& request : forgets) request.change.at = Stamp{now_ns};
  if (Refusal refusal = take(std::move(forgets), draft, now_ns, taken)) return refusal;
  auto of_frames = batch.inverses.rbegin();
  for (auto entry = batch.entries.rbegin(); entry != batch.entries.rend(); ++entry) {
    const std::size_t before = taken.entries.size();
    std::optional<std::vector<ChangeRequest>> requests{std::in_place};
    if (is_of_frames(entry->change->payload)) {
      if (Refusal refusal = undo_assertion(*entry->change, *of_frames++, *requests)) return refusal;
      if (entry->version != nullptr) inverse.add_stand_ins(*entry, *requests);
    } else {
      requests = inverse.of(*entry);
    }
    if (!requests) return {Fault::built_upon, 0, node_of(*entry->change)};
    for (ChangeRequest& request : *requests)
      if (request.change.at == Stamp::always()) request.change.at = Stamp{now_ns};
    if (Refusal refusal = take(std::move(*requests), draft, now_ns, taken)) return refusal;
    undone.push_back({entry->change, entry->with_frames_under, taken.entries.size() - before});
  }
  return {};
}

/// A change of frames is made as it was: its slots and barriers are then as they were, which the inverse of its inverse would
/// not bring about (a frame whose parent was removed stays, one whose relation was emptied may go). A node keeps its
/// incarnation: the inverse is undone.
Refusal Store::take_again(const Batch& batch, Draft& draft, std::int64_t now_ns, Taken& taken) const {
  const InverseBuilder inverse(authorship_, draft, names_, *forest_, batch);
  auto entry = batch.entries.rbegin();
  for (auto undone = batch.undone.rbegin(); undone != batch.undone.rend(); ++undone) {
    const Change& change = *undone->change;
    const bool is_frames = is_of_frames(change.payload);
    // A node that stood for a frame is forgotten where the removal of that frame was done again.
    const bool is_forgotten = std::holds_alternative<log::AddNode>(change.payload) && !draft.version().recall(node_of(change));
    std::vector<ChangeRequest> requests;
    for (const auto end = entry + static_cast<std::ptrdiff_t>(undone->entries); entry != end; ++entry) {
      const bool is_assertion = is_of_frames(entry->change->payload);
      if (is_assertion && !still_holds(*entry->change)) return built_upon(*entry->change);
      if (is_frames) continue;
      std::optional<std::vector<ChangeRequest>> back = inverse.of(*entry);
      if (!back && !is_forgotten) return {Fault::built_upon, 0, node_of(*entry->change)};
      if (back) std::ranges::move(*back, std::back_inserter(requests));
    }
    if (is_forgotten || (is_frames && is_done_again(change.payload))) requests.push_back(made_again(*undone));
    for (ChangeRequest& request : requests)
      if (request.change.at == Stamp::always()) request.change.at = std::max(Stamp{now_ns}, change.at);
    if (Refusal refusal = take(std::move(requests), draft, now_ns, taken)) return refusal;
  }
  return {};
}

TakenBack Store::take_back(std::deque<Batch>& from, std::deque<Batch>& to, std::int64_t now_ns) {
  const Hold hold(*this);
  note_moves();
  if (from.empty()) return refused({Fault::nothing_to_undo});
  const Batch& batch = from.back();
  Draft draft(version(), *keys_, assertions_.log());
  const bool is_redo = &from == &undone_;
  Taken taken;
  taken.is_local = true;
  taken.expects_nothing_under = !batch.detaches_frames;
  taken.samples = batch.samples;
  std::vector<UndoneChange> undone;
  if (Refusal refusal = is_redo ? take_again(batch, draft, now_ns, taken) : take_inverses(batch, draft, now_ns, taken, undone))
    return refused(std::move(refusal));
  const auto concerns_frames = [](const ChangePtr& change) { return is_of_frames(change->payload); };
  const bool may_erase = std::ranges::any_of(taken.changes, concerns_frames);
  std::vector<NodeSample> samples = may_erase ? samples_of_removed(draft) : std::vector<NodeSample>{};
  TakenBack report;
  report.outcome = commit(draft, taken);
  if (report.outcome.refusal) return report;
  for (const UndoEntry& entry : batch.entries) report.undone.push_back(entry.change);
  report.written = batch.written, report.moves = batch.moves, report.tag = batch.tag;
  report.samples_lost = batch.samples_gone + report.outcome.samples_gone;
  Batch back = batch_of(taken, report.outcome.samples_gone);
  back.tag = batch.tag;
  back.samples = std::move(samples);
  back.is_by_samples = batch.is_by_samples;
  const bool is_for_redo =
      std::ranges::any_of(undone, [](const UndoneChange& one) { return is_done_again(one.change->payload); });
  back.undone = std::move(undone);
  from.pop_back();
  if (is_redo || is_for_redo) remember(to, std::move(back));
  return report;
}

/// Moves that follow one another, of one frame by one source, are taken back together.
void Store::note_moves() {
  if (!forest_->has_moves()) return;
  const Hold hold(*this);
  for (Forest::Move& move : forest_->take_moves()) {
    SampleMove made{{std::move(move.of), std::move(move.in_frame), std::move(move.source)}, move.from};
    const auto follows = [&](const Batch& last) {
      return !last.moves.empty() && last.moves.back().relation.of == made.relation.of &&
             last.moves.back().relation.source == made.relation.source && last.moves.size() < options_.max_runs;
    };
    undone_.clear();
    if (!done_.empty() && follows(done_.back())) {
      done_.back().moves.push_back(std::move(made));
      continue;
    }
    Batch batch;
    batch.is_by_samples = true;
    batch.moves.push_back(std::move(made));
    remember(done_, std::move(batch));
  }
}

/// Where a frame is undone, those of nodes below go with all assertions about them.
std::vector<NodeSample> Store::samples_of_removed(const Draft& draft) const {
  std::vector<NodeSample> found;
  for (const FrameEvent& event : draft.events()) {
    const NodeRecord* record = event.kind == FrameEvent::Kind::deactivated ? draft.version().recall(event.node) : nullptr;
    if (record == nullptr || !record->is_transform()) continue;
    const SampleTable table = samples_of(draft.base(), *record, names_, *forest_);
    for (std::size_t row = 0; row < table.stamps.size(); ++row)
      found.push_back({record->id, record->incarnation, {table.stamps[row]}, pose_in(table, row)});
  }
  return found;
}

std::pair<std::string, std::string> Store::tags() {
  const Hold hold(*this);
  note_moves();
  const auto of_last = [](const std::deque<Batch>& stack) { return stack.empty() ? std::string() : stack.back().tag; };
  return {of_last(done_), of_last(undone_)};
}

void Store::push_undo_barrier(std::string tag) {
  const Hold hold(*this);
  Batch batch;
  batch.tag = std::move(tag);
  remember(done_, std::move(batch));
  undone_.clear();
}

bool Store::remove_undo_barrier(const std::string& tag) {
  const Hold hold(*this);
  const auto last = std::ranges::find(done_.rbegin(), done_.rend(), tag, &Batch::tag);
  if (last == done_.rend()) return false;
  done_.erase(std::next(last).base());
  return true;
}

namespace {

RecordPtr held(const Records& records, const NodeId& id) {
  const RecordPtr* record = records.find(id);
  return record == nullptr ? nullptr : *record;
}

}  // namespace

/// Versions are kept only where they alone know what was in a node: those that go soon are cheap to make.
UndoEntry Store::undo_entry_of(const ChangePtr& change, const Draft& draft, const Taken& taken) {
  const bool removes = std::holds_alternative<log::RemoveEdges>(change->payload);
  const bool sets = std::holds_alternative<log::SetAttributes>(change->payload);
  UndoEntry entry{change, {}, {}};
  if (const auto* frames = std::get_if<log::RemoveFrames>(&change->payload)) {
    const auto has_stand_in = [&](const std::string& name) { return draft.base()->is_alive(log::stand_in_of(name)); };
    if (std::ranges::any_of(frames->names, has_stand_in)) entry.version = draft.base();
  }
  entry.with_frames_under = taken.with_subtree.contains(change->id);
  if (removes || sets) entry.before = held(draft.version().alive, node_of(*change));
  if (sets && entry.before == nullptr) entry.before = held(draft.version().gone, node_of(*change));
  const bool holds_others = removes && entry.before != nullptr && !entry.before->children.empty();
  if (holds_others) entry.version = taken.adds ? std::make_shared<const Version>(draft.version()) : draft.base();
  return entry;
}

Batch Store::batch_of(Taken& taken, std::size_t samples_gone) {
  Batch batch;
  batch.samples_gone = samples_gone;
  batch.entries = std::move(taken.entries);
  batch.inverses = std::move(taken.inverses);
  batch.detaches_frames = !taken.expects_nothing_under;
  return batch;
}

/// What samples did is at most a quarter of it: a source that alternates must not push out what somebody asked for.
void Store::remember(std::deque<Batch>& stack, Batch batch) const {
  stack.push_back(std::move(batch));
  const auto by_samples = static_cast<std::size_t>(std::ranges::count_if(stack, &Batch::is_by_samples));
  if (stack.back().is_by_samples && by_samples > std::max<std::size_t>(1, options_.max_undo / 4))
    stack.erase(std::ranges::find_if(stack, &Batch::is_by_samples));
  if (stack.size() > options_.max_undo) stack.pop_front();
}

}  // namespace armillary::scene
