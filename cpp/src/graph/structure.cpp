// Names, relations and the published version of the structure.

#include <algorithm>
#include <unordered_set>

#include "graph/journal.hpp"

namespace armillary {

const FixedPose* RunRecord::fixed() const {
  const auto* constant = std::get_if<Fixed>(&provider);
  return constant == nullptr ? nullptr : constant->pose.get();
}

DrivenProvider* RunRecord::driven() const {
  const auto* by_link = std::get_if<Driven>(&provider);
  return by_link == nullptr ? nullptr : by_link->link.get();
}

Intervals RunRecord::inactive() const {
  if (breaks_body()) return Intervals::everything();
  const bool stays_so = is_sampled() && on_cycle.contains(series()->newest());
  return stays_so ? on_cycle | Interval{series()->newest(), Stamp::never()} : on_cycle;
}

ProviderRef RunRecord::published() const {
  if (is_sampled()) return {ProviderKind::sampled, std::get<Sampled>(provider).interpolation, series().get()};
  if (const FixedPose* pose = fixed()) return {.kind = ProviderKind::fixed, .pointer = pose};
  if (const DrivenProvider* link = driven()) return {.kind = ProviderKind::driven, .pointer = link};
  return {};
}

bool RunRecord::is_last_owner() const {
  if (is_sampled()) return series().use_count() == 1;
  if (const auto* constant = std::get_if<Fixed>(&provider)) return constant->pose.use_count() == 1;
  if (const auto* by_link = std::get_if<Driven>(&provider)) return by_link->link.use_count() == 1;
  return false;
}

RunRecord RunRecord::with(std::shared_ptr<Series> samples) const {
  RunRecord other = *this;
  other.provider = Sampled{.series = std::move(samples), .interpolation = interpolation()};
  return other;
}

Forest::State::State(ForestOptions given)
    : options(std::move(given)),
      topology(new Topology(options.rival_timeout)),
      variables(options.retention, options.rival_timeout) {}

Forest::State::~State() {
  const Topology* last = topology.load();
  for (FrameId id = 0; id < last->frames(); ++id) delete last->node(id).tracks;
  destroy_topology(last);
}

FrameId Forest::State::find_frame(std::string_view name) const {
  const auto found = frame_ids.find(name);
  return found == frame_ids.end() ? kNone : found->second;
}

FrameId Forest::State::find_named(std::string_view name) const {
  if (const FrameId known = find_frame(name); known != kNone) return known;
  const CompanionPtr& companion = topology.load()->companion();
  const std::string called = companion == nullptr ? std::string() : companion->frame_called(name);
  return called.empty() ? kNone : find_frame(called);
}

FrameId Forest::State::add_frame(std::string_view name) {
  if (const FrameId known = find_frame(name); known != kNone) return known;
  FrameId id = static_cast<FrameId>(frames.size());
  if (free_frames.size() < kRestingFrames) {
    frames.emplace_back();
  } else {
    remember_free_frames();
    id = free_frames.front();
    free_frames.pop_front();
  }
  touch(id);
  FrameRecord& frame = frames[id];
  frame.name = std::make_shared<const std::string>(name);
  frame.sequence = next_sequence++;
  frame.alive = true;
  frame.body = id;
  frame_ids.emplace(*frame.name, id);
  if (const auto known = inactive_intervals.find(*frame.name); known != inactive_intervals.end())
    frame.inactive_intervals = known->second;
  if (const auto body = body_ids.find(name); body != body_ids.end()) {
    remember_bodies();
    adopt(id, body->second);
  }
  publish(id);
  structure_watches.frame_added(*frame.name);
  return id;
}

SourceId Forest::State::find_source(std::string_view name) const {
  const auto found = source_ids.find(name);
  return found == source_ids.end() ? kNone : found->second;
}

SourceId Forest::State::add_source(std::string_view name) {
  if (const SourceId known = find_source(name); known != kNone) return known;
  const auto id = static_cast<SourceId>(sources.size());
  sources.emplace_back(name);
  source_ids.emplace(std::string(name), id);
  return id;
}

TrackRecord* Forest::State::find_track(FrameId of, SourceId source) const {
  for (const auto& track : frames[of].tracks)
    if (track->source == source) return track.get();
  return nullptr;
}

RelationRecord* Forest::State::find_relation(FrameId of, FrameId parent, SourceId source) const {
  const TrackRecord* track = find_track(of, source);
  if (track == nullptr) return nullptr;
  for (const RelationId id : track->relations)
    if (relations[id]->parent == parent) return relations[id];
  return nullptr;
}

RelationRecord* Forest::State::find_relation(const EdgeName& edge) const {
  const FrameId of = find_frame(edge.of), parent = find_frame(edge.in_frame);
  const SourceId source = find_source(edge.source);
  if (of == kNone || parent == kNone || source == kNone) return nullptr;
  return find_relation(of, parent, source);
}

TrackRecord& Forest::State::make_track(FrameId of, SourceId source) {
  if (TrackRecord* known = find_track(of, source)) return *known;
  touch(of);
  auto& tracks = frames[of].tracks;
  const auto name = [this](const auto& track) -> const std::string& { return sources[track->source]; };
  const auto place = std::ranges::upper_bound(tracks, sources[source], {}, name);
  return **tracks.insert(place, std::make_unique<TrackRecord>(TrackRecord{.of = of, .source = source}));
}

RelationRecord& Forest::State::make_relation(const EdgeName& edge) {
  if (RelationRecord* known = find_relation(edge)) return *known;
  const FrameId of = add_frame(edge.of), parent = add_frame(edge.in_frame);
  const SourceId source = add_source(edge.source);
  touch(of);
  touch(parent);
  TrackRecord* track = &make_track(of, source);
  const auto id = static_cast<RelationId>(relations.size());
  RelationRecord& made = relations.add(std::make_unique<RelationRecord>(
      RelationRecord{.id = id, .of = of, .parent = parent, .source = source, .track = track, .retention = options.retention}));
  track->relations.push_back(id);
  frames[parent].child_relations.push_back(id);
  return made;
}

/// The short form where it suffices; otherwise all tracks with all runs.
void Forest::State::fill_node(const FrameRecord& frame, FrameNode& node) {
  node = {};
  node.alive = frame.alive;
  node.body = frame.body;
  node.name = frame.name.get();
  node.may_be_on_cycle = std::ranges::any_of(frame.tracks, [](const auto& track) { return track->may_be_on_cycle; });
  std::vector<const TrackRecord*> with_runs;
  for (const auto& track : frame.tracks)
    if (!track->runs.empty()) with_runs.push_back(track.get());
  if (with_runs.empty()) return;
  const RunRecord& first = with_runs.front()->runs.front();
  const bool is_always = first.is_sampled() || first.from == Stamp::always();
  const bool is_active = first.inactive().empty() && !is_cut(*with_runs.front());
  if (with_runs.size() == 1 && with_runs.front()->runs.size() == 1 && is_always && is_active) {
    node.parent = first.parent;
    node.relation = first.relation;
    node.provider = first.published();
    return;
  }
  auto set = std::make_unique<TrackSet>();
  set->preferences = frame.preferences;
  for (const TrackRecord* track : with_runs) {
    const TrackRecord cut = is_cut(*track) ? cut_of(*track, set->parts) : TrackRecord{};
    set->tracks.push_back({track->source, (cut.runs.empty() ? track : &cut)->runs.published()});
  }
  node.tracks = set.release();
}

void Forest::State::publish(FrameId frame) { publish(std::span<const FrameId>(&frame, 1)); }

/// Within a transaction: when all of it has passed.
void Forest::State::publish(std::span<const FrameId> changed) {
  if (journal == nullptr) return publish_now(changed, nullptr);
  note_mounts(changed);
  journal->to_publish.insert(journal->to_publish.end(), changed.begin(), changed.end());
}

void Forest::State::publish_now(std::span<const FrameId> changed, CompanionPtr companion) {
  note_mounts(changed);
  TopologyEdit edit(topology.load());
  edit.grow_to(static_cast<std::uint32_t>(frames.size()));
  std::vector<const TrackSet*> replaced;
  for (const FrameId id : changed) {
    FrameNode& node = edit.node(id);
    replaced.push_back(node.tracks);
    fill_node(frames[id], node);
  }
  if (bodies_changed) edit.set_bodies(body_graph());
  guide_series(changed);
  if (companion) edit.set_companion(std::move(companion));
  edit.commit(topology, retired);
  for (const FrameId id : changed)
    if (frames[id].name != nullptr) frames_changed.add(frames[id].name);
  for (const auto& name : names_gone) frames_changed.add(name);
  bodies_changed = false;
  for (auto& series : unlinked_twists) retired.retire(new std::shared_ptr<Series>(std::move(series)));
  unlinked_twists.clear();
  for (const TrackSet* set : replaced) retired.retire(set);
  for (RunRecord& run : unlinked) retired.retire(new RunRecord(std::move(run)));
  unlinked.clear();
  for (auto& name : names_gone) retired.retire(new std::shared_ptr<const std::string>(std::move(name)));
  names_gone.clear();
  for (const FrameId id : changed) structure_watches.frame_changed(id);
  if (journal == nullptr) integrate_after_mounts();
}

void Forest::State::discard(RunRecord& run) { unlinked.push_back(std::move(run)); }

void Forest::State::discard_all(TrackRecord& track) {
  unlinked.insert(unlinked.end(), track.runs.begin(), track.runs.end());
  track.runs.clear();
}

/// A track whose first write was refused goes again.
void Forest::State::drop_empty_tracks(FrameId frame) {
  std::erase_if(frames[frame].tracks, [](const auto& track) {
    return track->runs.empty() && track->relations.empty() && track->watches.empty() && track->waiting.empty();
  });
}

void Forest::State::erase_frame(FrameId id) {
  touch(id);
  remember_free_frames();
  remember_bodies();
  FrameRecord& frame = frames[id];
  for (const auto& track : frame.tracks) {
    track->watches.fire_all();
    for (const RunRecord& run : track->runs)
      if (run.is_sampled()) taken_back += given_rows(*run.series());
    discard_all(*track);
    drop_unused_relations(*track);
  }
  erase_twists_of(id);
  for (auto& [wait, watched] : watching) std::erase_if(watched.tracks, [&](const TrackRecord* track) { return track->of == id; });
  frame_ids.erase(*frame.name);
  names_gone.push_back(std::move(frame.name));
  frame = {};
  free_frames.push_back(id);
}

/// `frame` and everything that is or was below it.
std::vector<FrameId> Forest::State::subtree_of(FrameId frame) const {
  std::vector<FrameId> all{frame};
  std::unordered_set<FrameId> known{frame};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const RelationId id : frames[all[i]].child_relations)
      if (known.insert(relations[id]->of).second) all.push_back(relations[id]->of);
  return all;
}

}  // namespace armillary
