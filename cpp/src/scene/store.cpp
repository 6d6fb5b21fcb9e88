#include "armillary/scene/store.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include "armillary/scene/node_records.hpp"

namespace armillary::scene {

namespace {

/// The scene before any change: two groups that are always there.
std::shared_ptr<Version> first_version() {
  auto version = std::make_shared<Version>();
  for (const NodeId& id : {kRootNode, kDetachedNode}) {
    auto record = NewRecord::make();
    record->id = id;
    record->kind = NodeKind::group;
    record->has_frame = true;
    record->created_at = Stamp::always();
    version->alive.set(id, std::move(record));
  }
  return version;
}

constexpr std::size_t kForgetAtOnce = 256;

}  // namespace

Store::Store(std::shared_ptr<Forest> forest, StoreOptions options)
    : forest_(std::move(forest)),
      options_(std::move(options)),
      names_(options_.root_frame),
      authorship_{log::author_key(options_.author, options_.replica_id)},
      author_(std::make_shared<const log::Author>(log::Author{options_.author, options_.replica_id})),
      authors_{{authorship_.author, author_}},
      keys_(std::make_shared<KeyPool>()),
      assertions_({.max_slots = options_.max_runs, .max_removed = options_.max_removed}) {
  const Hold hold(*this);
  (void)forest_->transact({}, first_version());
}

void Store::open() {
  {
    const Hold hold(*this);
    is_open_ = true;
  }
  forest_->add_frame(options_.root_frame);
}

Store::Store(const Store& other, std::shared_ptr<Forest> forest, std::uint64_t replica_id)
    : Store(Hold(other), other, std::move(forest), replica_id) {}

Store::Store(const Hold&, const Store& other, std::shared_ptr<Forest> forest, std::uint64_t replica_id)
    : forest_(std::move(forest)),
      options_(other.options_),
      names_(other.names_),
      authorship_(other.authorship_.copy(log::author_key(options_.author, replica_id), other.assertions_.log().held())),
      author_(std::make_shared<const log::Author>(log::Author{options_.author, replica_id})),
      authors_(other.authors_),
      keys_(other.keys_),
      assertions_(other.assertions_) {
  options_.replica_id = replica_id;
  authors_.emplace(authorship_.author, author_);
  dropped_ = other.dropped_;
  done_ = other.done_;
  undone_ = other.undone_;
  ended_ = other.ended_;
  newest_at_ = other.newest_at_;
  (void)forest_->transact({}, other.version());
}

Store::~Store() {
  const Hold hold(*this);
  done_.clear();
  undone_.clear();
}

VersionPtr Store::version() const { return std::static_pointer_cast<const Version>(forest_->companion()); }

// -- Applying: what is wrong is refused

namespace {

Refusal refuse(Fault fault, const NodeId& node, const NodeId& parent = {}) { return {fault, 0, node, parent}; }

/// Whether a node would have, or have had, more keys than one may. One that has many already may still change those.
bool has_too_many_keys(const NodeRecord* record, std::span<const Setting> settings) {
  const std::size_t held = record == nullptr ? 0 : record->attributes.size();
  if (held + settings.size() <= KeyPool::kOfANode) return false;
  std::set<std::string_view> fresh;
  for (const Setting& setting : settings) fresh.insert(setting.key);
  std::size_t keys = 0;
  for (std::size_t i = 0; i < held; ++i) {
    const std::string& key = *record->attributes[i].key.text;
    if (i > 0 && key == *record->attributes[i - 1].key.text) continue;
    ++keys;
    fresh.erase(key);
  }
  return !fresh.empty() && keys + fresh.size() > KeyPool::kOfANode;
}

Refusal check_parent(const NodeRecord* parent, const NodeId& node, log::Edge& edge) {
  if (parent == nullptr) return refuse(Fault::unknown_parent, node, edge.parent);
  if (!may_have_children(parent->kind)) {
    Refusal refusal = refuse(Fault::not_a_group, node, edge.parent);
    refusal.kind = parent->kind;
    return refusal;
  }
  edge.parent_incarnation = parent->incarnation;
  return {};
}

Refusal check_node(const NodeRecord* record, const NodeId& node, Signature& incarnation) {
  if (record == nullptr || !record->has_known_beginning()) return refuse(Fault::unknown_node, node);
  incarnation = record->incarnation;
  return {};
}

/// A node whose id others choose as well, because it stands for the same thing: those are one incarnation, not two.
bool is_shared(const log::AddNode& payload) { return payload.kind == NodeKind::frame || payload.edge.parent == kDetachedNode; }

constexpr Stamp kFirstInstant{kEarliestSample.ns + 1};

/// Before any signature that comes after the past incarnation, also while the clock stands still.
Signature incarnation_after(const NodeRecord* previous, const std::optional<Signature>& barrier) {
  const auto after = [](const Signature& one) { return Signature{{one.time.wall_ns, one.time.count + 1}, 0, {}}; };
  const Signature next = previous == nullptr ? Signature{} : after(previous->incarnation);
  return barrier ? std::max(next, after(*barrier)) : next;
}

/// Checks a request against a version, and fills in what it refers to.
struct Check {
  const Draft& draft;
  const Version& version;
  ChangeRequest& request;

  Refusal operator()(log::AddNode& payload) const {
    const NodeRecord* parent = version.find(payload.edge.parent);
    if (parent != nullptr) parent->children.prefetch(payload.node);  // at the same time as what comes next, not after it
    if (version.is_alive(payload.node)) return refuse(Fault::node_exists, payload.node, payload.edge.parent);
    payload.incarnation = is_shared(payload) ? incarnation_after(version.recall(payload.node), draft.barrier_of(payload.node))
                                             : request.change.signature();
    return check_parent(parent, payload.node, payload.edge);
  }

  Refusal operator()(log::AddEdge& payload) const {
    const auto& [node, parent] = std::pair(payload.node, payload.edge.parent);
    if (log::is_permanent(node)) return refuse(Fault::permanent, node, parent);
    const NodeRecord* record = request.restores ? version.recall(node) : version.find(node);
    if (Refusal refusal = check_node(record, node, payload.incarnation)) return refusal;
    const NodeRecord* above = request.restores ? version.recall(parent) : version.find(parent);
    if (Refusal refusal = check_parent(above, node, payload.edge)) return refusal;
    const std::vector<NodeId> parents = record->parents();
    if (std::ranges::find(parents, parent) != parents.end()) return refuse(Fault::already_its_parent, node, parent);
    Refusal refusal = refuse(Fault::cycle, node, parent);
    refusal.path = version.path_up(parent, node, request.change.at);
    if (!refusal.path.empty() && !request.is_unchecked) return refusal;
    payload.restores = !version.is_alive(node);
    return {};
  }

  /// Without a parent all of them are meant.
  Refusal operator()(log::RemoveEdges& payload) const {
    const NodeId parent = payload.parent.value_or(NodeId{});
    if (log::is_permanent(payload.node)) return refuse(Fault::permanent, payload.node, parent);
    const NodeRecord* node = version.find(payload.node);
    if (Refusal refusal = check_node(node, payload.node, payload.incarnation)) return refusal;
    for (const Edge& edge : node->edges)
      if (!edge.removed && (!payload.parent || edge.parent == parent)) payload.dots.push_back(edge.signature.id);
    if (payload.dots.empty()) return refuse(Fault::not_its_parent, payload.node, parent);
    return {};
  }

  Refusal operator()(log::SetAttributes& payload) const {
    return check_node(version.find(payload.node), payload.node, payload.incarnation);
  }

  Refusal operator()(auto&) const { return {}; }
};

Refusal check_sample(const Version& version, NodeSample& sample) {
  const NodeRecord* node = version.find(sample.node);
  if (Refusal refusal = check_node(node, sample.node, sample.incarnation)) return refusal;
  if (node->is_transform()) return {};
  Refusal refusal = refuse(Fault::not_a_transform, sample.node);
  refusal.kind = node->kind;
  return refusal;
}

/// Mounted, a root of others leaves the detached root.
std::optional<ChangeRequest> what_follows(const Version& version, const Change& change) {
  const auto* edge = std::get_if<log::AddEdge>(&change.payload);
  if (edge == nullptr || edge->edge.parent == kDetachedNode) return std::nullopt;
  const std::vector<NodeId> parents = version.find(edge->node)->parents();
  if (std::ranges::find(parents, kDetachedNode) == parents.end()) return std::nullopt;
  ChangeRequest leaving;
  leaving.change.at = change.at;
  leaving.change.payload = log::RemoveEdges{.node = edge->node, .parent = kDetachedNode};
  return leaving;
}

/// The attributes that a change sets.
const std::vector<Setting>& settings_of(const log::Payload& payload) {
  static const std::vector<Setting> none;
  if (const auto* node = std::get_if<log::AddNode>(&payload)) return node->settings;
  const auto* attributes = std::get_if<log::SetAttributes>(&payload);
  return attributes == nullptr ? none : attributes->settings;
}

}  // namespace

void Store::set_machine_time(std::optional<std::int64_t> ns) {
  const Hold hold(*this);
  machine_ns_ = ns;
}

SampleBase Store::sample_base() const {
  const Hold hold(*this);
  const log::HybridTimestamp& newest = assertions_.log().newest();
  return std::max(SampleBase{newest.wall_ns, newest.count}, forest_->base());
}

namespace {

/// By the clock of the machine: that of the world may be simulated, or replayed.
std::int64_t machine_time() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

}  // namespace

void Store::sign(Change& change, Taken& taken) const {
  const SampleBase base = sample_base();  // what is taken back here is older
  taken.clock.observe({base.wall_ns, base.count});
  change.id = {authorship_.author, assertions_.log().held().newest(authorship_.author) + ++taken.signed_here};
  change.time = taken.clock.next(machine_ns_ ? *machine_ns_ : machine_time());
  change.authority = options_.authority;
  change.author = author_;
  change.epoch = taken.epoch;
  make_canonical(change);
  if (std::holds_alternative<log::ResetTime>(change.payload)) taken.epoch = change.signature();
}

namespace {

/// Whether a node was in anything, at any time: what was undone never was.
bool was_ever_held(const NodeRecord& newest) {
  for (const NodeRecord* record = &newest; record != nullptr; record = record->previous.get())
    if (std::ranges::any_of(record->edges, [](const Edge& edge) { return edge.from < edge.until; })) return true;
  return false;
}

}  // namespace

Refusal Store::complete(ChangeRequest& request, Draft& draft, std::int64_t now_ns, Taken& taken) const {
  if (request.sample) {
    if (Refusal refusal = check_sample(draft.version(), *request.sample)) return refusal;
    taken.samples.push_back(std::move(*request.sample));
    return {};
  }
  if (taken.changes.empty() && !request.is_unchecked && assertions_.is_known_body(request.change.payload)) return {};
  if (std::holds_alternative<log::RemoveFrames>(request.change.payload) && !request.is_unchecked && !request.restores)
    if (Refusal refusal = add_subtree(request, draft, now_ns, taken)) return refusal;
  if (request.empties != ChangeRequest::Empties::nothing)
    if (Refusal refusal = add_emptied(request, draft, now_ns, taken)) return refusal;
  sign(request.change, taken);
  if (request.epoch && *request.epoch != request.change.epoch) {
    request.change.epoch = *request.epoch;
    taken.of_other_epochs.insert(request.change.id);
  }
  log::Payload& payload = request.change.payload;
  // What has always been there begins again where it was removed before: the past is that of its past incarnation.
  if (const auto* node = std::get_if<log::AddNode>(&payload); node != nullptr && request.change.at == kFirstInstant)
    if (const NodeRecord* past = draft.version().recall(node->node); past != nullptr && was_ever_held(*past))
      request.change.at = Stamp{now_ns};
  if (Refusal refusal = std::visit(Check{draft, draft.version(), request}, payload)) return refusal;
  if (Refusal refusal = check_frame_name(request, draft.version(), taken)) return refusal;
  for (const Setting& setting : settings_of(payload))
    if (!keys_->has_room_for(setting.key)) return refuse(Fault::too_many_keys, {});
  if (const auto* named = std::get_if<log::SetAttributes>(&payload);
      named != nullptr && has_too_many_keys(draft.version().recall(named->node), named->settings))
    return refuse(Fault::too_many_keys, named->node);
  taken.changes.push_back(std::make_shared<const Change>(std::move(request.change)));
  const Change& change = *taken.changes.back();
  taken.rows.push_back(taken.row);
  if (request.with_frames_under) taken.with_subtree.insert(change.id);
  if (!request.first_samples.empty()) taken.first_samples.emplace(change.id, std::move(request.first_samples));
  taken.entries.push_back(undo_entry_of(taken.changes.back(), draft, taken));
  if (std::holds_alternative<log::ResetTime>(change.payload)) taken.samples.clear();
  taken.adds =
      taken.adds || std::holds_alternative<log::AddNode>(change.payload) || std::holds_alternative<log::AddEdge>(change.payload);
  draft.take(change);
  std::optional<ChangeRequest> next = what_follows(draft.version(), change);
  return next ? complete(*next, draft, now_ns, taken) : Refusal{};
}

namespace {

/// The node whose frame this is, by its name; none where it is no such name.
std::optional<NodeId> maker_of(std::string_view frame) { return NodeId::parse(frame.substr(0, frame.find('/'))); }

}  // namespace

/// A node's frame goes with the node; what nodes are in goes with them, where that is asked for.
Refusal Store::check_removal(const log::RemoveFrames& payload, const Version& version) const {
  for (const std::string& name : payload.names) {
    const std::optional<NodeId> maker = maker_of(name);
    if (maker && version.recall(*maker) != nullptr) {
      Refusal refusal = refuse(Fault::frame_of_node, *maker);
      refusal.frame = name;
      return refusal;
    }
  }
  return {};
}

/// Checks the removal of frames. With what is below, it adds that, and the removal of nodes that are in it.
Refusal Store::add_subtree(ChangeRequest& request, Draft& draft, std::int64_t now_ns, Taken& taken) const {
  auto& payload = std::get<log::RemoveFrames>(request.change.payload);
  if (Refusal refusal = check_removal(payload, draft.version())) return refusal;
  std::set<std::string> seen(payload.names.begin(), payload.names.end());
  const auto add = [&](std::string name) {
    if (seen.insert(name).second) payload.names.push_back(std::move(name));
  };
  for (std::size_t i = 0; i < payload.names.size(); ++i) {
    const NodeId stand_in = log::stand_in_of(payload.names[i]);
    const NodeRecord* node = draft.version().find(stand_in);
    const std::vector<NodeId> inside = node == nullptr ? std::vector<NodeId>{} : draft.version().children(*node);
    if (!inside.empty() && !request.with_frames_under) {
      Refusal refusal = refuse(Fault::holds_nodes, stand_in);
      refusal.frame = payload.names[i];
      refusal.path = inside;
      return refusal;
    }
    if (!request.with_frames_under) continue;
    const std::size_t events = draft.events().size();
    for (const NodeId& child : inside) {
      ChangeRequest leaving;
      leaving.change.at = request.change.at;
      leaving.change.payload = log::RemoveEdges{.node = child, .parent = stand_in};
      if (Refusal refusal = complete(leaving, draft, now_ns, taken)) return refusal;
    }
    for (std::size_t k = events; k < draft.events().size(); ++k)
      if (const FrameEvent& event = draft.events()[k]; event.kind == FrameEvent::Kind::deactivated)
        for (std::string& frame : names_.all(*draft.version().recall(event.node))) add(std::move(frame));
    for (std::string& frame : forest_->children(payload.names[i])) {
      const std::optional<NodeId> maker = maker_of(frame);
      if (!maker || !draft.version().is_alive(*maker)) add(std::move(frame));
    }
  }
  return {};
}

/// Adds what goes with samples that are forgotten. A relation that follows from where a node is stays, and goes with that.
Refusal Store::add_emptied(const ChangeRequest& request, Draft& draft, std::int64_t now_ns, Taken& taken) const {
  const auto& forget = std::get<log::Forget>(request.change.payload);
  const bool removes_relation = request.empties == ChangeRequest::Empties::relation;
  std::map<std::tuple<log::TrackKind, std::string, std::string>, SampledRelation> known;
  bool is_of_node = false, is_known = !forget.in_frame && !forget.source;
  for (SampledRelation& one : forest_->sampled_relations(forget.of, forget.start, forget.end)) {
    const log::TrackKind kind = one.is_twist ? log::TrackKind::twist : log::TrackKind::pose;
    if (!forget.concerns(kind, one.in_frame, one.source)) continue;
    is_known = true;
    is_of_node = is_of_node || one.is_of_node;
    std::tuple name(kind, one.in_frame, one.source);
    known.emplace(std::move(name), std::move(one));
  }
  const auto slots = assertions_.slots_of_relations(forget);
  Refusal refusal;
  if (slots.empty() && (removes_relation || !is_known))
    refusal.fault = removes_relation && is_of_node ? Fault::relation_of_node : Fault::unknown_relation;
  refusal.frame = forget.of, refusal.in_frame = forget.in_frame.value_or(""), refusal.source = forget.source.value_or("");
  if (refusal) return refusal;
  for (const auto& [key, record] : slots) {
    const auto& payload = std::get<log::Assert>(record->payload);
    const auto relation = known.find({payload.track.kind, log::parent_of(payload.value), payload.track.source});
    const bool has_none_left =
        relation != known.end() && relation->second.within > 0 && relation->second.within == relation->second.all;
    if (!removes_relation && !(has_none_left && std::holds_alternative<log::Sampled>(payload.value))) continue;
    ChangeRequest empty;
    empty.change.at = request.change.at;
    empty.change.payload =
        log::Assert{.track = payload.track, .since = key.since, .value = log::Empty{key.sampled_in}, .recalibrate = true};
    empty.epoch = key.epoch;
    if (Refusal refused = complete(empty, draft, now_ns, taken)) return refused;
  }
  return {};
}

Refusal Store::take(std::vector<ChangeRequest> requests, Draft& draft, std::int64_t now_ns, Taken& taken) const {
  taken.epoch = std::max(taken.epoch, assertions_.log().epoch());
  for (std::size_t row = 0; row < requests.size(); ++row) {
    taken.row = row;
    Refusal refusal = complete(requests[row], draft, now_ns, taken);
    refusal.row = row;
    if (refusal) return refusal;
  }
  return {};
}

Outcome Store::apply(std::vector<ChangeRequest> requests, std::int64_t now_ns, bool for_undo, std::string tag) {
  const Hold hold(*this);
  note_moves();
  Draft draft(version(), *keys_, assertions_.log());
  Taken taken;
  taken.is_local = true;
  taken.expects_nothing_under = std::ranges::none_of(requests, &ChangeRequest::with_frames_under);
  if (Refusal refusal = take(std::move(requests), draft, now_ns, taken)) return {std::move(refusal), {}};
  Outcome outcome = commit(draft, taken);
  const bool is_nothing = outcome.changes.empty() && (taken.samples.empty() || tag.empty());  // samples alone are no change
  if (outcome.refusal || is_nothing || !for_undo) return outcome;
  Batch batch = batch_of(taken, outcome.samples_gone);
  batch.tag = std::move(tag);
  batch.is_by_samples = !taken.first_samples.empty();
  batch.written = std::move(taken.samples);
  remember(done_, std::move(batch));
  undone_.clear();
  return outcome;
}

Outcome Store::merge(std::span<const ChangePtr> changes) {
  const Hold hold(*this);
  Draft draft(version(), *keys_, assertions_.log());
  Taken taken;
  std::set<Dot> given;
  for (const ChangePtr& change : changes)
    if (!assertions_.log().held().contains(change->id) && given.insert(change->id).second) taken.changes.push_back(change);
  if (taken.changes.empty()) return {};
  note_assertions(taken);
  taken.epoch = assertions_.log().epoch();
  for (const ChangePtr& change : taken.changes) draft.take(*change);
  return commit(draft, taken);
}

Outcome Store::apply_unchecked(std::vector<ChangeRequest> requests, std::int64_t now_ns) {
  const Hold hold(*this);
  Draft draft(version(), *keys_, assertions_.log());
  Taken taken;
  for (ChangeRequest& request : requests) request.is_unchecked = true;
  if (Refusal refusal = take(std::move(requests), draft, now_ns, taken)) return {std::move(refusal), {}};
  note_assertions(taken);
  return commit(draft, taken);
}

/// What others accepted counts, whatever the frames of this world allow.
void Store::note_assertions(Taken& taken) {
  taken.touched = touched_tracks(assertions_, taken.changes);
  take_assertions(taken.changes);
  if (assertions_.has_bodies()) assertions_.resolve_bodies();
}

// -- Committing

namespace {

/// Frames that end with their nodes: no other frame may be below once all that is the scene's has left.
std::optional<FrameEdit> expectation(const Draft& draft, const FrameNames& names) {
  ExpectNothingUnder expected;
  for (const FrameEvent& event : draft.events()) {
    const NodeRecord* record = event.kind == FrameEvent::Kind::deactivated ? draft.version().recall(event.node) : nullptr;
    if (record == nullptr) continue;  // a stand-in goes with its frame
    const std::vector<std::string> frames = names.all(*record);
    expected.frames.insert(expected.frames.end(), frames.begin(), frames.end());
    expected.at = event.at;
  }
  if (expected.frames.empty()) return std::nullopt;
  return FrameEdit(std::move(expected));
}

/// Frames that are undone: those of nodes that go with the same batch, and are below, go with them.
void add_gone_under(const std::vector<std::string>& frames, const Forest& forest, const Version& before, const Draft& draft,
                    std::set<std::string>& gone, std::vector<FrameEdit>& edits) {
  const auto first = static_cast<std::ptrdiff_t>(edits.size());
  for (const std::string& name : forest.frames_under(frames, Stamp::always())) {
    const std::optional<NodeId> node = NodeId::parse(std::string_view(name).substr(0, name.find('/')));
    const bool is_gone = node && before.is_alive(*node) && !draft.version().is_alive(*node);
    if (is_gone && gone.insert(name).second) edits.emplace_back(EraseFrame{name});
  }
  std::reverse(edits.begin() + first, edits.end());  // what is in others first
}

/// A frame may be gone that a node stands for: it exists because of the node.
void add_frames_of_stand_ins(const Draft& draft, std::vector<FrameEdit>& edits) {
  for (const FrameEvent& event : draft.events()) {
    const bool came = event.kind == FrameEvent::Kind::activated;
    const NodeRecord* record = came ? draft.version().find(event.node) : nullptr;
    if (record != nullptr && record->kind == NodeKind::frame) edits.emplace_back(AddFrame{*record->frame_name});
  }
}

/// The frames of nodes that moved, and of what they are or were in, that were removed, or existed because of a node that stood
/// for them and is gone: they stay only for what is below. The assertion log does not know yet those that these changes name
/// again.
std::vector<std::string> removed_among(const Draft& draft, const FrameNames& names, const AssertionLog& assertions,
                                       std::span<const ChangePtr> changes) {
  std::set<std::string> found;
  std::unordered_set<NodeId> seen;
  const auto add = [&](const NodeId& id) {
    const NodeRecord* record = seen.insert(id).second ? draft.version().recall(id) : nullptr;
    if (record == nullptr) return;
    const bool stands_for_it = record->kind == NodeKind::frame;
    if (stands_for_it && draft.version().is_alive(record->id)) return;
    const std::optional<bool> is_named = assertions.is_named(names.own(*record));
    if (is_named == false || (stands_for_it && !is_named)) found.insert(names.own(*record));
  };
  for (const NodeId& id : draft.moved()) {
    add(id);
    for (const NodeRecord* incarnation = draft.version().recall(id); incarnation != nullptr;
         incarnation = incarnation->previous.get())
      for (const Edge& edge : incarnation->edges) add(edge.parent);
  }
  for (const ChangePtr& change : changes)
    if (!std::holds_alternative<log::RemoveFrames>(change->payload))
      for (const std::string& name : frames_in(change->payload)) found.erase(name);
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<FrameEdit> Store::edits_of(Draft& draft, Taken& taken) const {
  const bool concerns_frames = has_frames_to_plan(draft);
  std::vector<FrameEdit> edits;
  if (draft.restarts_time()) edits.emplace_back(RestartTime{});
  if (concerns_frames) std::ranges::move(frame_edits(draft, names_, *forest_), std::back_inserter(edits));
  touch_placed(edits, taken.touched);
  if (concerns_frames && taken.expects_nothing_under)
    if (std::optional<FrameEdit> expected = expectation(draft, names_)) edits.push_back(std::move(*expected));
  add_samples(draft, taken.samples, concerns_frames, edits);
  for (const ChangePtr& change : taken.changes)
    if (const auto* forget = std::get_if<log::Forget>(&change->payload); forget != nullptr && change->epoch == taken.epoch)
      edits.emplace_back(forgetting(*change, *forget, draft.version()));
    else if (!taken.is_local)
      add_voided(*change, draft.version(), edits);
  if (taken.is_local) {
    for (const ChangePtr& change : taken.changes)
      if (const auto samples = taken.first_samples.find(change->id); samples != taken.first_samples.end())
        std::ranges::move(samples->second, std::back_inserter(edits));
      else if (!taken.of_other_epochs.contains(change->id))  // what that means is read in the log
        add_frame_edits(*change, taken.with_subtree.contains(change->id), edits);
    taken.frames_went = add_vanishing_frames(draft, taken.changes, taken.touched, edits);
  } else {
    std::ranges::move(aligning_edits(assertions_, taken.changes, frame_keeper(draft.version()), taken.touched, false),
                      std::back_inserter(edits));
    add_placements_again(draft.share(), frames_in(taken.changes, taken.touched), names_, edits);
    add_samples_since(draft, taken, edits);
  }
  if (concerns_frames) {
    const std::span<const ChangePtr> unseen = taken.is_local ? std::span(taken.changes) : std::span<const ChangePtr>{};
    std::vector<std::string> removed = removed_among(draft, names_, assertions_, unseen);
    std::erase(removed, options_.root_frame);
    if (!removed.empty()) edits.emplace_back(EraseFrames{std::move(removed), true});
  }
  add_frames_of_stand_ins(draft, edits);
  if (!taken.is_local) edits.push_back(cycle_resolution(assertions_));
  return edits;
}

/// The pose that a node was made with is no sample.
ForgetSamples Store::forgetting(const Change& change, const log::Forget& payload, const Version& version) const {
  ForgetSamples edit{.of = payload.of, .in_frame = payload.in_frame, .source = payload.source};
  edit.forgets_poses = payload.kind != log::TrackKind::twist;
  edit.forgets_twists = payload.kind != log::TrackKind::pose;
  edit.from = payload.start, edit.to = payload.end;
  edit.before = {change.time.wall_ns, change.time.count};
  const std::optional<NodeId> node = maker_of(payload.of);
  for (const NodeRecord* record = node ? version.recall(*node) : nullptr; record != nullptr; record = record->previous.get())
    edit.but.push_back(record->created_at);
  return edit;
}

/// Adds the removal of frames that only superseded records named, with those of nodes that go with the same batch.
bool Store::add_vanishing_frames(const Draft& draft, const std::vector<ChangePtr>& changes, const TouchedTracks& touched,
                                 std::vector<FrameEdit>& edits) const {
  if (touched.frames.empty()) return false;
  std::set<std::string> vanishing = touched.frames;
  for (const ChangePtr& change : changes)
    if (names_frames(change->payload) || std::holds_alternative<log::RemoveFrames>(change->payload))
      for (const std::string& frame : frames_in(change->payload)) vanishing.erase(frame);
  if (vanishing.empty()) return false;
  const FrameKeeper is_kept = frame_keeper(draft.version());
  std::erase_if(vanishing,
                [&](const std::string& frame) { return assertions_.has_frame(frame, touched.superseded) || is_kept(frame); });
  if (vanishing.empty()) return false;
  std::vector<std::string> names(vanishing.begin(), vanishing.end());
  const auto removes = [](const ChangePtr& change) { return std::holds_alternative<log::RemoveFrames>(change->payload); };
  if (std::set<std::string> gone; std::ranges::none_of(changes, removes))  // else what a node was in before stays known
    add_gone_under(names, *forest_, *version(), draft, gone, edits);
  edits.emplace_back(EraseFrames{std::move(names), true});
  return true;
}

/// Adds samples, those of one incarnation together: where they do not follow what is known of it, all of that is laid out anew.
void Store::add_samples(const Draft& draft, std::span<const NodeSample> samples, bool is_planned,
                        std::vector<FrameEdit>& edits) const {
  const auto is_apart = [](const NodeSample& a, const NodeSample& b) {
    return a.node != b.node || a.incarnation != b.incarnation;
  };
  for (auto first = samples.begin(); first != samples.end();) {
    const auto split = std::adjacent_find(first, samples.end(), is_apart);
    const auto end = split == samples.end() ? split : std::next(split);
    PlaceSample edit = new_sample(draft.share(), *first, names_);
    const Stamp earliest = std::ranges::min_element(first, end, {}, &NodeSample::at)->at;
    const bool are_last = !is_planned && forest_->ends_with({edit.of, edit.in_frame, edit.source}, earliest);
    if (!are_last) {
      edits.emplace_back(late_samples(draft.share(), {first, end}, names_));
    } else {
      edits.emplace_back(std::move(edit));
      for (++first; first != end; ++first) edits.emplace_back(new_sample(draft.share(), *first, names_));
    }
    first = end;
  }
}

/// Where it is strict, the edits are as before.
Failure Store::publish(std::vector<FrameEdit>& edits, const Draft& draft, bool with_version, bool strictly) {
  const CompanionPtr companion = with_version ? draft.share() : nullptr;
  for (;;) {
    Failure failure = forest_->transact(edits, companion);
    if (!failure || strictly) return failure;
    edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(failure->edit));  // what others accepted is not refused here
  }
}

Outcome Store::commit(Draft& draft, Taken& taken) {
  const std::size_t gone_before = forest_->taken_back();
  if (taken.is_local) taken.touched = touched_tracks(assertions_, taken.changes);
  if (!taken.first_samples.empty()) {  // they are on top of the change that names their relation
    const log::HybridTimestamp& time = taken.changes.back()->time;
    forest_->set_base({time.wall_ns, time.count});
  }
  std::vector<FrameEdit> edits = edits_of(draft, taken);
  if (Failure failure = publish(edits, draft, !taken.changes.empty(), taken.is_local)) {
    Refusal refusal;
    const bool removes_frame =
        failure.kind() == FailureKind::frame_in_use && std::holds_alternative<EraseFrames>(edits[failure->edit]);
    refusal.fault = removes_frame ? Fault::frame_in_use : Fault::frames;
    refusal.failure = std::move(failure);
    return {std::move(refusal), {}};
  }
  if (taken.is_local) {
    const bool is_read_in_log = !taken.of_other_epochs.empty() || !taken.touched.placed.empty() || ends_samples(taken.touched) ||
                                are_awaited(taken.changes);
    taken.inverses = take_assertions(taken.changes);
    const auto is_as_asserted = [this](const ChangePtr& change) { return is_in_line(*change); };
    if (is_read_in_log || !std::ranges::all_of(taken.changes, is_as_asserted)) realign(taken.changes, taken.touched, draft);
  }
  note(draft, taken.changes);
  std::erase_if(taps_, [](const auto& tap) { return tap->is_closed(); });
  for (const auto& tap : taps_) tap->add(taken.changes, taken.samples);
  return {{}, std::move(taken.changes), std::move(taken.rows), forest_->taken_back() - gone_before, taken.frames_went};
}

void Store::note(const Draft& draft, const std::vector<ChangePtr>& changes) {
  note_names(draft, changes);
  forest_->set_base(sample_base());
  if (draft.restarts_time()) begin_epoch(changes);
  for (const ChangePtr& change : changes) {
    if (change->epoch == draft.version().epoch) newest_at_ = std::max(newest_at_, change->at);
    if (change->author && change->author != author_) authors_.try_emplace(change->id.author, change->author);
    if (is_open_ && std::holds_alternative<log::RemoveFrames>(change->payload)) forest_->add_frame(options_.root_frame);
  }
  for (const FrameEvent& event : draft.events())
    if (event.kind == FrameEvent::Kind::deactivated || event.kind == FrameEvent::Kind::left)
      ended_.emplace_back(event.at, event.node);
  forget_past();
}

/// What had ended is remembered for as long as if it ended now.
void Store::begin_epoch(const std::vector<ChangePtr>& changes) {
  newest_at_ = Stamp::always();
  Stamp now = changes.back()->at;
  for (const ChangePtr& change : changes)
    if (const auto* reset = std::get_if<log::ResetTime>(&change->payload)) now = reset->clock.value_or(change->at);
  for (auto& [at, node] : ended_) at = now;
}

/// Now and then: what ended longer ago than is remembered.
void Store::forget_past() {
  const Stamp oldest = earlier(newest_at_, options_.history);
  const auto is_over = [&](const auto& end) { return end.first < oldest; };
  if (ended_.size() < kForgetAtOnce || !is_over(ended_[kForgetAtOnce - 1])) return;
  Draft draft(version(), *keys_, assertions_.log());
  std::vector<FrameEdit> edits;
  while (!ended_.empty() && is_over(ended_.front())) {
    const NodeId id = ended_.front().second;
    ended_.pop_front();
    const RecordPtr* record = draft.version().gone.find(id);
    const std::vector<std::string> frames = record == nullptr ? std::vector<std::string>{} : names_.all(**record);
    if (!draft.forget(id, oldest)) continue;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) edits.emplace_back(EraseFrame{*frame, true});
  }
  std::ranges::reverse(edits);  // what is in others first
  erase(std::move(edits), draft);
}

/// Frames of others may still be below: such a frame stays.
void Store::erase(std::vector<FrameEdit> edits, Draft& draft) {
  while (Failure failure = forest_->transact(edits, draft.share()))
    edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(failure->edit));
  for (const Dot& removal : draft.forgotten()) dropped_.add(removal);
  dropped_.join_oldest(log::kMostDroppedRanges);
}

// -- What others lack

namespace {

/// The time epoch of a change of nodes. In an earlier one than `present` all of them hold since always: it does not matter which.
log::Epoch epoch_of(const Signature& change, const log::Epoch& present, const std::vector<ChangePtr>& resets) {
  if (present && log::newer(change, *present)) return present;
  log::Epoch epoch;
  for (const ChangePtr& reset : resets)
    if (log::newer(change, reset->signature())) epoch = reset->signature();
  return epoch;
}

}  // namespace

std::vector<ChangePtr> Store::records() const {
  const Hold hold(*this);
  std::vector<ChangePtr> all = assertions_.log().records();
  for (Change& change : node_records(*version())) {
    const auto author = authors_.find(change.id.author);
    if (author != authors_.end()) change.author = author->second;
    if (!std::holds_alternative<log::RemoveEdges>(change.payload))
      change.epoch = epoch_of(change.signature(), version()->epoch, assertions_.log().resets());
    all.push_back(std::make_shared<const Change>(std::move(change)));
  }
  std::ranges::sort(all, {}, [](const ChangePtr& change) { return change->signature(); });
  return all;
}

bool Store::changes_since(const log::VersionVector& held, std::vector<ChangePtr>& out) const {
  const Hold hold(*this);
  for (ChangePtr& change : records())
    if (!held.contains(change->id)) out.push_back(std::move(change));
  const bool is_newcomer = held.entries().empty();  // who has nothing misses no removal
  return is_newcomer || (held.contains(dropped_) && held.contains(assertions_.log().dropped()));
}

void Store::add_tap(std::shared_ptr<RecordTap> tap) {
  const Hold hold(*this);
  taps_.push_back(std::move(tap));
}

std::vector<std::pair<std::string, log::PreferenceStep>> Store::joint_preferences() const {
  const Hold hold(*this);
  return assertions_.joint_preferences();
}

log::VersionVector Store::version_vector() const {
  const Hold hold(*this);
  return assertions_.log().held();
}

log::VersionVector Store::dropped() const {
  const Hold hold(*this);
  log::VersionVector all = dropped_;
  all.add(assertions_.log().dropped());
  return all;
}

void Store::note_held(const log::VersionVector& held, const log::VersionVector& dropped) {
  const Hold hold(*this);
  assertions_.note_held(held);
  dropped_.add(dropped);
}

}  // namespace armillary::scene
