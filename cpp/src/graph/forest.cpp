// The doors of a Forest: every call that changes it takes the lock, checks, then writes.

#include "armillary/graph/forest.hpp"

#include <algorithm>
#include <cmath>

#include "armillary/series/pose_row.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace {

using Guard = std::lock_guard<std::mutex>;

/// The packed covariance of one sample, or nothing.
class Side {
 public:
  explicit Side(const Covariance* covariance) : given_(covariance != nullptr) {
    if (given_) covariance->pack(packed_);
  }
  [[nodiscard]] const double* get() const { return given_ ? packed_.data() : nullptr; }

 private:
  bool given_;
  std::array<double, Covariance::kPacked> packed_;
};

}  // namespace

Forest::Forest(ForestOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Forest::~Forest() = default;

const ForestOptions& Forest::options() const { return state_->options; }

FrameId Forest::add_frame(std::string_view name) {
  const Guard guard(state_->lock);
  return state_->add_frame(name);
}

FrameId Forest::find_frame(std::string_view name) const {
  const Guard guard(state_->lock);
  return state_->find_named(name);
}

bool Forest::has_frame(std::string_view name) const {
  const Guard guard(state_->lock);
  return state_->find_frame(name) != kNone;
}

void Forest::wake_name(const std::string& name) {
  const Guard guard(state_->lock);
  state_->structure_watches.frame_added(name);
}

std::string Forest::frame_name(FrameId id) const {
  const Guard guard(state_->lock);
  return id < state_->frames.size() && state_->frames[id].alive ? *state_->frames[id].name : std::string{};
}

std::vector<std::string> Forest::frame_names() const {
  const Guard guard(state_->lock);
  std::vector<std::pair<std::uint64_t, std::string>> ordered;
  for (const FrameRecord& frame : state_->frames)
    if (frame.alive) ordered.emplace_back(frame.sequence, *frame.name);
  std::ranges::sort(ordered);
  std::vector<std::string> names;
  for (auto& [sequence, name] : ordered) names.push_back(std::move(name));
  return names;
}

BodyId Forest::body_of(FrameId id) const {
  const Guard guard(state_->lock);
  return id < state_->frames.size() ? state_->frames[id].body : kNone;
}

Failure to_values(const Transform& pose, std::array<double, 7>& values) {
  const double squared = pose.rotation.squared_norm();
  const Vector3& t = pose.translation;
  if (!(std::abs(squared - 1.0) <= 0.01) || !std::isfinite(t.x + t.y + t.z)) return Evidence{.kind = FailureKind::not_a_pose};
  values = values_of({squared == 1.0 ? pose.rotation : pose.rotation.normalized(), t});
  return {};
}

Failure Forest::add_relation(const EdgeName& edge, Stamp since, SampleInterpolation interpolation) {
  const Guard guard(state_->lock);
  return state_->await_samples({.of = std::string(edge.of),
                                .in_frame = std::string(edge.in_frame),
                                .source = std::string(edge.source),
                                .since = since,
                                .interpolation = interpolation});
}

Failure Forest::set_pose(const EdgeName& edge, Stamp at, const Transform& in_frame_T_of, const Covariance* covariance) {
  const Side side(covariance);
  std::array<double, 7> values{};
  if (Failure failure = to_values(in_frame_T_of, values)) return failure;
  const Guard guard(state_->lock);
  if (RelationRecord* known = state_->find_relation(edge)) return state_->write_known(*known, {at, values, side.get()});
  return state_->write(edge, {&at.ns, 1}, values.data(), side.get());
}

RelationId Forest::find_relation(FrameId of, FrameId in_frame, std::string_view source) const {
  const Guard guard(state_->lock);
  const SourceId source_id = state_->find_source(source);
  if (source_id == kNone || of >= state_->frames.size()) return kNone;
  const RelationRecord* relation = state_->find_relation(of, in_frame, source_id);
  return relation == nullptr ? kNone : relation->id;
}

SourceId Forest::find_source(std::string_view name) const {
  const Guard guard(state_->lock);
  return state_->find_source(name);
}

Failure Forest::State::write_known(RelationRecord& relation, const Sample& sample) {
  if (Failure failure = check_stamps(&relation, {&sample.at.ns, 1})) return failure;
  if (write_in_place(relation, sample)) return {};
  const EdgeName edge{*frames[relation.of].name, *frames[relation.parent].name, sources[relation.source]};
  return write(edge, {&sample.at.ns, 1}, sample.values.data(), sample.side, sample.base);
}

Failure Forest::insert(RelationId id, Stamp at, const Transform& in_frame_T_of, const Covariance* covariance) {
  const Side side(covariance);
  Sample sample{at, {}, side.get()};
  if (Failure failure = to_values(in_frame_T_of, sample.values)) return failure;
  const Guard guard(state_->lock);
  if (id >= state_->relations.size() || !state_->relations[id])
    return Evidence{.kind = FailureKind::unknown_frame, .relation = id};
  return state_->write_known(*state_->relations[id], sample);
}

std::optional<Failure> Forest::try_insert(FrameId of, FrameId in_frame, SourceId source, Stamp at, const Transform& in_frame_T_of,
                                          const Covariance* covariance) {
  const Side side(covariance);
  Sample sample{at, {}, side.get()};
  if (Failure failure = to_values(in_frame_T_of, sample.values)) return failure;
  const Guard guard(state_->lock);
  if (of >= state_->frames.size()) return std::nullopt;
  RelationRecord* relation = state_->find_relation(of, in_frame, source);
  if (relation == nullptr || !state_->has_samples(*relation)) return std::nullopt;
  return state_->write_known(*relation, sample);
}

std::size_t Forest::merge_in_place(const PlaceSamples& samples, const SampleBase* base) {
  const Guard guard(state_->lock);
  RelationRecord* relation = state_->find_relation({samples.of, samples.in_frame, samples.source});
  if (relation == nullptr || !state_->has_samples(*relation)) return 0;
  for (std::size_t row = 0; row < samples.stamps.size(); ++row) {
    Sample sample{
        {samples.stamps[row]}, {}, samples.sides == nullptr ? nullptr : samples.sides + row * Covariance::kPacked, base};
    std::copy_n(samples.rows + row * kPoseWidth, kPoseWidth, sample.values.begin());
    const Failure failure = state_->check_stamps(relation, {&sample.at.ns, 1});
    if (failure && failure->kind == FailureKind::before_history) continue;
    if (failure || !state_->write_in_place(*relation, sample)) return row;
  }
  return samples.stamps.size();
}

Failure Forest::set_poses(const EdgeName& edge, std::span<const std::int64_t> stamps, const double* rows, const double* sides) {
  const Guard guard(state_->lock);
  return state_->write(edge, stamps, rows, sides);
}

Failure Forest::fix(const EdgeName& edge, Stamp from, const FixedPose& pose, bool recalibrate) {
  return fix(edge, from, std::make_shared<const FixedPose>(pose), recalibrate);
}

Failure Forest::fix(const EdgeName& edge, Stamp from, std::shared_ptr<const FixedPose> pose, bool recalibrate) {
  const Guard guard(state_->lock);
  return state_->fix(edge, from, std::move(pose), recalibrate, Rank::plain);
}

/// The pose is kept as it is where its quaternion is a unit one.
Failure Forest::State::fix(const EdgeName& edge, Stamp from, std::shared_ptr<const FixedPose> pose, bool recalibrate, Rank rank,
                           Origin origin) {
  std::array<double, 7> values{};
  if (Failure failure = to_values(pose->value, values)) return failure;
  if (values != values_of(pose->value)) {
    auto unit = std::make_shared<FixedPose>(*pose);
    unit->value.rotation = {values[0], values[1], values[2], values[3]};
    pose = std::move(unit);
  }
  return open_run(edge, {.from = from, .provider = Fixed{std::move(pose)}, .origin = origin, .rank = rank}, recalibrate);
}

Failure Forest::drive(const EdgeName& edge, Stamp from, std::shared_ptr<DrivenProvider> provider) {
  const Guard guard(state_->lock);
  return state_->open_run(edge, {.from = from, .provider = Driven{std::move(provider)}});
}

void Forest::driven_changed(RelationId relation, Stamp stamp) {
  const Guard guard(state_->lock);
  if (relation < state_->relations.size() && state_->relations[relation])
    state_->relations[relation]->track->watches.inserted(stamp);
}

Failure Forest::prefer(FrameId of, std::optional<std::string_view> source) {
  const Guard guard(state_->lock);
  if (of >= state_->frames.size() || !state_->frames[of].alive) return Evidence{.kind = FailureKind::unknown_frame, .of = of};
  if (Failure failure = source ? state_->check_source(of, *source) : Failure{}) return failure;
  std::vector<PreferenceStep> steps;
  if (source) steps.push_back({Stamp::always(), state_->find_source(*source)});
  state_->set_preferences(of, std::move(steps));
  return {};
}

void Forest::State::set_preferences(FrameId of, std::vector<PreferenceStep> steps) {
  if (steps == frames[of].preferences) return;
  touch(of);
  frames[of].preferences = std::move(steps);
  bodies_changed = bodies_changed || !twists.empty();
  publish(of);
}

Failure Forest::check_source(FrameId of, std::string_view source) const {
  const Guard guard(state_->lock);
  return state_->check_source(of, source);
}

/// Whether a source places a frame, or measures how its body moves.
Failure Forest::State::check_source(FrameId of, std::string_view source) const {
  if (of >= frames.size() || !frames[of].alive) return Evidence{.kind = FailureKind::unknown_frame, .of = of};
  const SourceId known = find_source(source);
  const BodyId body = rigid_body(of);
  const bool measures = std::ranges::any_of(twists, [&](const auto& entry) {
    const TwistRecord& twist = *entry.second;
    return twist.source == known && (rigid_body(twist.of) == body || rigid_body_of(twist.reference) == body);
  });
  if (known != kNone && (find_track(of, known) != nullptr || measures)) return {};
  return Evidence{.kind = FailureKind::unknown_source, .of = of, .name = std::string(source)};
}

Failure Forest::remove_frame(FrameId frame, bool with_subtree) {
  const Guard guard(state_->lock);
  if (frame >= state_->frames.size() || !state_->frames[frame].alive)
    return Evidence{.kind = FailureKind::unknown_frame, .of = frame};
  return state_->remove(frame, with_subtree);
}

Failure Forest::State::remove(FrameId frame, bool with_subtree) {
  const std::vector<FrameId> all = subtree_of(frame);
  if (all.size() > 1 && !with_subtree) return Evidence{.kind = FailureKind::frame_in_use, .of = frame, .path = all};
  for (const FrameId id : all) erase_frame(id);
  for (const FrameId id : all) circular.erase(id);
  publish(all);
  refresh_cycles();
  return {};
}

void Forest::clear() {
  const Guard guard(state_->lock);
  state_->variables.clear(state_->retired);
  state_->forget_twist_samples();
  state_->forget_all_samples(false);
  state_->refresh_cycles();
}

void Forest::clear_poses(std::string_view of, std::string_view source) {
  const Guard guard(state_->lock);
  const FrameId frame = state_->find_frame(of);
  TrackRecord* track = frame == kNone ? nullptr : state_->find_track(frame, state_->find_source(source));
  if (track == nullptr) return;
  state_->forget_samples(*track, false);
  state_->publish(frame);
  state_->refresh_cycles();
}

void Forest::reset_time() {
  const Guard guard(state_->lock);
  state_->restart_time();
}

void Forest::State::restart_time() {
  variables.clear(retired);
  forget_twist_samples();
  forget_all_samples(true);
  refresh_cycles();
}

std::vector<std::string> Forest::subtree(FrameId frame) const {
  const Guard guard(state_->lock);
  std::vector<std::string> names;
  if (frame >= state_->frames.size() || !state_->frames[frame].alive) return names;
  for (const FrameId id : state_->subtree_of(frame)) names.push_back(*state_->frames[id].name);
  return names;
}

std::uint64_t Forest::frames_changed() const { return state_->frames_changed.number(); }

std::optional<std::vector<std::string>> Forest::frames_changed_since(std::uint64_t number) const {
  const Guard guard(state_->lock);
  if (!state_->frames_changed.remembers(number)) return std::nullopt;
  std::vector<std::string> names;
  std::unordered_set<std::string_view> known;
  std::vector<FrameId> pending;
  std::unordered_set<FrameId> found;
  state_->frames_changed.for_each(number, [&](const std::string& name) {
    const FrameId id = state_->find_frame(name);
    if (id != kNone && found.insert(id).second) pending.push_back(id);
    if (id == kNone && known.insert(name).second) names.push_back(name);
  });
  while (!pending.empty()) {
    const FrameId id = pending.back();
    pending.pop_back();
    names.push_back(*state_->frames[id].name);
    for (const RelationId relation : state_->frames[id].child_relations)
      if (const FrameId below = state_->relations[relation]->of; found.insert(below).second) pending.push_back(below);
  }
  return names;
}

std::vector<std::string> Forest::children(std::string_view name) const {
  const Guard guard(state_->lock);
  std::vector<std::string> names;
  const FrameId frame = state_->find_frame(name);
  if (frame == kNone) return names;
  for (const RelationId id : state_->frames[frame].child_relations) {
    const std::string& child = *state_->frames[state_->relations[id]->of].name;
    if (std::ranges::find(names, child) == names.end()) names.push_back(child);
  }
  return names;
}

// -- Looking inside

RelationId Forest::relations_made() const {
  const Guard guard(state_->lock);
  return static_cast<RelationId>(state_->relations.size());
}

namespace {

ProviderKind kind_of(const TrackRecord& track, RelationId id) {
  ProviderKind kind = ProviderKind::none;
  for (const RunRecord& run : track.runs)
    if (run.relation == id) kind = run.published().kind;
  return kind;
}

}  // namespace

std::size_t Forest::relations_alive() const {
  const Guard guard(state_->lock);
  return state_->relations.alive() + state_->twists.size();
}

std::vector<RelationId> Forest::relation_ids() const {
  const Guard guard(state_->lock);
  std::vector<RelationId> ids;
  state_->relations.for_each([&](const RelationRecord& record) { ids.push_back(record.id); });
  for (const auto& [id, twist] : state_->twists) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

std::optional<Forest::Edge> Forest::edge_of(RelationId id) const {
  const Guard guard(state_->lock);
  if (const auto twist = state_->twists.find(id); twist != state_->twists.end()) {
    const TwistRecord& record = *twist->second;
    return Edge{*state_->frames[record.of].name, state_->body_name(record.reference), state_->sources[record.source]};
  }
  if (id >= state_->relations.size() || !state_->relations[id]) return std::nullopt;
  const RelationRecord& record = *state_->relations[id];
  return Edge{*state_->frames[record.of].name, *state_->frames[record.parent].name, state_->sources[record.source]};
}

RelationInfo Forest::twist_info(const TwistRecord& record) const {
  RelationInfo info{.id = record.id,
                    .of = *state_->frames[record.of].name,
                    .in_frame = state_->body_name(record.reference),
                    .source = state_->sources[record.source],
                    .kind = ProviderKind::twist,
                    .samples = record.series->size()};
  if (const Row first = record.series->first_row()) info.coverage = {{first.stamp_ns()}, record.series->newest()};
  return info;
}

std::optional<RelationInfo> Forest::relation(RelationId id) const {
  const Guard guard(state_->lock);
  if (const auto twist = state_->twists.find(id); twist != state_->twists.end()) return twist_info(*twist->second);
  if (id >= state_->relations.size() || !state_->relations[id]) return std::nullopt;
  const RelationRecord& record = *state_->relations[id];
  RelationInfo info{.id = id,
                    .of = *state_->frames[record.of].name,
                    .in_frame = *state_->frames[record.parent].name,
                    .source = state_->sources[record.source],
                    .kind = kind_of(*record.track, id),
                    .interpolation = record.interpolation};
  Stamp newest = Stamp::always();
  for (std::size_t k = 0; k < record.track->runs.size(); ++k) {
    const RunRecord& run = record.track->runs[k];
    const bool counts = run.relation == id && run.is_sampled() == (info.kind == ProviderKind::sampled);
    if (!counts) continue;
    if (run.is_sampled()) info.samples += record.track->own_samples(k);
    if (run.is_sampled() && !run.series()->empty()) newest = std::max(newest, run.series()->newest());
    info.integrated = run.is_sampled() && run.series()->is_computed(run.series()->newest());
  }
  const std::vector<RunPart> parts = state_->parts_of(*record.track);
  const auto cover = [&](const Interval& covered) {
    info.coverage.first = std::min(info.coverage.first, covered.from);
    info.coverage.last = std::max(info.coverage.last, covered.to == Stamp::never() ? covered.to : Stamp{covered.to.ns - 1});
  };
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const bool counts = parts[k].is_of(id) && parts[k].is_sampled() == (info.kind == ProviderKind::sampled);
    if (!counts) continue;
    if (parts[k].run->on_cycle.empty())
      cover(lasting(parts, k));
    else
      std::ranges::for_each(coverage_of(parts, k), cover);
  }
  if (info.kind == ProviderKind::sampled) info.coverage.last = std::min(info.coverage.last, newest);
  return info;
}

std::vector<Forest::Parentage> Forest::parents(When at) const {
  const Guard guard(state_->lock);
  std::vector<FrameId> ids;
  for (FrameId id = 0; id < state_->frames.size(); ++id)
    if (state_->frames[id].alive) ids.push_back(id);
  std::ranges::sort(ids, {}, [this](FrameId id) { return state_->frames[id].sequence; });
  std::vector<Parentage> all;
  for (const FrameId id : ids) {
    const auto [parent, relation] = parent_at(id, at);
    all.push_back({*state_->frames[id].name, {}, {}});
    if (parent == kNone) continue;
    all.back().parent = *state_->frames[parent].name;
    all.back().source = state_->sources[state_->relations[relation]->source];
  }
  return all;
}

std::vector<RelationInfo> Forest::relations() const {
  std::vector<RelationInfo> all;
  for (const RelationId id : relation_ids())
    if (std::optional<RelationInfo> info = relation(id)) all.push_back(std::move(*info));
  return all;
}

Stamp Forest::newest_stamp() const {
  const Guard guard(state_->lock);
  Stamp newest = Stamp::always();
  for (const FrameRecord& frame : state_->frames)
    for (const auto& track : frame.tracks)
      for (const RunRecord& run : track->runs)
        if (run.is_sampled()) newest = std::max(newest, run.series()->newest());
  for (const auto& [id, twist] : state_->twists) newest = std::max(newest, twist->series->newest());
  for (VariableId id = 0; id < state_->variables.size(); ++id)
    newest = std::max(newest, state_->variables[id].lead->by_source().newest());
  return newest;
}

bool Forest::has_room_for(FrameId of, std::string_view source) const {
  const Guard guard(state_->lock);
  if (of >= state_->frames.size() || state_->frames[of].tracks.size() < state_->options.max_sources) return true;
  return state_->find_track(of, state_->find_source(source)) != nullptr;
}

std::vector<std::string> Forest::sources_of(FrameId frame) const {
  const Guard guard(state_->lock);
  std::vector<std::string> names;
  if (frame < state_->frames.size())
    for (const auto& track : state_->frames[frame].tracks)
      if (!track->runs.empty()) names.push_back(state_->sources[track->source]);
  return names;
}

std::vector<std::string> Forest::sources_at(FrameId frame, Stamp at) const {
  const Guard guard(state_->lock);
  const Topology& version = *state_->topology.load();
  std::vector<std::string> names;
  if (!version.has(frame)) return names;
  const FrameNode& node = version.node(frame);
  if (node.tracks == nullptr) {
    if (node.parent != kNone) names.push_back(state_->sources[state_->relations[node.relation]->source]);
    return names;
  }
  Selection selection;
  selection.choose(*node.tracks, at, version.rival_timeout());
  for (const Track* track : selection.tracks()) names.push_back(state_->sources[track->source]);
  return names;
}

}  // namespace armillary
