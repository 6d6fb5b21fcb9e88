// What peers asserted together though none of them did alone. Nothing of it is refused: which runs are active is a function of
// the set of runs, the same at every peer that has the same samples. At each instant they count in the order of precedence, but
// for those that would close a cycle with runs that count already.

#include <algorithm>
#include <limits>
#include <set>

#include "armillary/graph/cut_cycles.hpp"
#include "armillary/graph/driven_link.hpp"
#include "graph/journal.hpp"

namespace armillary {

// -- All assertions of a source

Failure Forest::State::apply(const AlignTrack& edit) {
  if (edit.pose_assertions.empty() && find_frame(edit.of) == kNone) return {};  // it went with what it was in
  const FrameId of = add_frame(edit.of);
  TrackRecord& track = make_track(of, add_source(edit.source));
  touch(of);
  for (const AlignTrack::PoseAssertion& asserted : edit.pose_assertions)
    if (!asserted.is_closed)
      make_relation({edit.of, asserted.in_frame, edit.source}).breaks_body = asserted.is_samples() && asserted.breaks_body;
  if (Failure failure = align(track, edit)) return failure;
  const std::vector<RelationId> relations_before = track.relations;
  for (const RelationId id : relations_before) {
    const auto chosen = edit.interpolations.find(*frames[relations[id]->parent].name);
    const bool is_chosen = chosen != edit.interpolations.end();
    if (relations[id]->is_of_scene) continue;
    if (Failure failure = set_interpolation(*relations[id], is_chosen ? chosen->second : SampleInterpolation::linear))
      return failure;
  }
  for (const RelationId id : relations_before)
    if (reaches(relations[id]->parent, of)) mark_cycle(of, relations[id]->parent);
  publish(std::vector<FrameId>(circular.begin(), circular.end()));
  on_poses_inserted(track, Stamp::always(), Stamp::never());
  drop_empty_tracks(of);
  return {};
}

namespace {

/// A relation whose samples are to come, or were cleared.
bool is_expected_only(const RunRecord& run) { return run.is_placeholder() && run.series()->floor() == Stamp::always(); }

bool begins_with(const RunList& runs, Stamp since) {
  return std::ranges::any_of(runs, [&](const RunRecord& run) { return run.from == since; });
}

}  // namespace

/// Whether a sample of its instant took the place of an assertion that was not repeated since.
bool Forest::State::is_overruled(const TrackRecord& track, const AlignTrack::PoseAssertion& asserted) const {
  const std::ptrdiff_t k = track.run_at(asserted.since);
  const RunRecord* run = k < 0 ? nullptr : &track.runs[static_cast<std::size_t>(k)];
  if (asserted.is_new || run == nullptr || !run->is_sampled()) return false;
  const Row row = run->series()->bracket(asserted.since).before;
  return row && row.stamp_ns() == asserted.since.ns;
}

/// Whether samples are of a relation that was removed.
bool Forest::State::is_unasserted(const RunRecord& run, const AlignTrack& edit) const {
  if (!edit.drops_unasserted || !run.is_sampled()) return false;
  const std::string& parent = *frames[run.parent].name;
  return std::ranges::find(edit.known, parent) == edit.known.end() &&
         std::ranges::find(edit.pose_assertions, parent, &AlignTrack::PoseAssertion::in_frame) == edit.pose_assertions.end();
}

/// Takes out what is no samples; returns the relations whose samples were still to come.
std::set<RelationId> Forest::State::clear_assertions(TrackRecord& track, const AlignTrack& edit) {
  std::set<RelationId> awaited;
  for (std::size_t k = track.runs.size(); k-- > 0;) {
    const RunRecord& run = track.runs[k];
    const bool is_awaited = is_expected_only(run) && (run.is_awaited() || !track.was_cleared);
    const bool goes = edit.forgets || !run.is_sampled() || is_awaited || is_unasserted(run, edit);
    const bool is_of_node = run.is_of_node() || (run.is_sampled() && relations[run.relation]->is_of_scene);
    if (!goes || is_of_node) continue;
    if (is_expected_only(run)) awaited.insert(run.relation);
    erase_run(track, k);
  }
  return awaited;
}

void Forest::State::insert_assertion(TrackRecord& track, const AlignTrack::PoseAssertion& asserted,
                                     const RelationRecord& relation) {
  const std::shared_ptr<DrivenLink> link = asserted.form ? link_of(*asserted.form, variables).value : nullptr;
  if (asserted.form && !link) {  // its joints are not known here yet: what was before it ends all the same
    if (asserted.since != Stamp::always()) place_run(track, {.from = asserted.since});
    return;
  }
  if (link) note_drivers(*link, relation.id);
  RunRecord run{.from = asserted.since, .parent = relation.parent, .relation = relation.id};
  run.provider = link ? Provider(Driven{link}) : Provider(Fixed{asserted.pose});
  run.origin = asserted.breaks_body ? Origin::against_body : Origin::asserted;
  run.rank = asserted.rank;
  if (asserted.since != Stamp::always())
    place_run(track, std::move(run));
  else if (!begins_with(track.runs, asserted.since))
    track.runs.insert(0, std::move(run));
}

void Forest::State::insert_assertions(TrackRecord& track, const AlignTrack& edit) {
  std::vector<const AlignTrack::PoseAssertion*> pose_assertions;
  for (const AlignTrack::PoseAssertion& asserted : edit.pose_assertions)
    if (!is_overruled(track, asserted)) pose_assertions.push_back(&asserted);
  const std::set<RelationId> awaited = clear_assertions(track, edit);
  const bool waits_again = edit.renews && !track.was_cleared;
  for (const AlignTrack::PoseAssertion* asserted : pose_assertions) {
    if (asserted->is_closed) {
      place_run(track, {.from = asserted->since});
      continue;
    }
    const RelationRecord& relation = *find_relation({edit.of, asserted->in_frame, edit.source});
    const auto is_its = [&](const RunRecord& run) { return run.relation == relation.id && run.is_sampled(); };
    if (!asserted->is_samples())
      insert_assertion(track, *asserted, relation);
    else if ((asserted->is_new || waits_again || awaited.contains(relation.id)) && std::ranges::none_of(track.runs, is_its))
      await_run(track, relation, asserted->since);
  }
  for (std::size_t k = track.runs.size(); k-- > 1;) join_runs(track, k - 1);  // where nothing parts them any more
  for (std::size_t k = 0; k < track.runs.size(); ++k) {
    const RunRecord& run = track.runs[k];
    if (!run.is_sampled() || run.is_of_node()) continue;
    const Origin origin = relations[run.relation]->breaks_body ? Origin::against_body : Origin::asserted;
    if (run.origin != origin) track.runs.edit(k).origin = origin;
  }
  while (track.runs.size() > options.max_runs) erase_run(track, 0);
}

// -- Cycles

/// One run on a cycle, and its rank.
struct Contender {
  TrackRecord* track = nullptr;
  std::size_t k = 0;
  std::optional<CycleRank> rank{};                               // none: it is active whatever others assert
  std::tuple<std::string_view, std::string_view, Stamp> name{};  // of, source, from
  Intervals when{};                                              // it has the frame's pose, cycles apart

  [[nodiscard]] const RunRecord& run() const { return track->runs[k]; }
};

namespace {

CycleKey key_of(const TrackRecord& track, const RunRecord& run) {
  return {track.of, track.source, run.is_sampled() ? run.relation : kNone, run.is_sampled() ? Stamp::always() : run.from};
}

constexpr CycleRank kLast{std::numeric_limits<int>::max(), 0, 0, 0, 0};

}  // namespace

/// When all edits have passed.
Failure Forest::State::apply(const ResolveCycles&) { return {}; }

/// Without a ranking as the last time; what is new since then comes last.
std::optional<CycleRank> Forest::State::rank_of(const TrackRecord& track, const RunRecord& run,
                                                const ResolveCycles* ranking) const {
  if (run.is_of_node()) return std::nullopt;
  if (ranking != nullptr)
    return ranking->rank_of(
        {*frames[track.of].name, *frames[run.parent].name, sources[track.source], run.from, run.fixed() != nullptr});
  const auto known = cycle_order.find(key_of(track, run));
  return known == cycle_order.end() ? kLast : known->second;
}

/// The runs on cycles, and the inactive ones that may be on none any more, by rank.
std::vector<Contender> Forest::State::contenders(const ResolveCycles* ranking) {
  std::unordered_set<FrameId> concerned = circular;
  for (const ClosingRun& loop : loops)
    if (const FrameId of = find_frame(loop.of); of != kNone) concerned.insert(of);
  std::vector<Contender> found;
  for (const FrameId id : concerned) {
    touch(id);
    for (const auto& track : frames[id].tracks) {
      const std::vector<RunPart> parts = parts_of(*track);
      std::vector<Intervals> when(track->runs.size());
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (parts[i].run != nullptr) when[parts[i].k] = when[parts[i].k] | lasting(parts, i);
      for (std::size_t k = 0; k < track->runs.size(); ++k) {
        const RunRecord& run = track->runs[k];
        if (run.is_closed() || run.breaks_body()) continue;
        Contender& one = found.emplace_back(Contender{track.get(), k, rank_of(*track, run, ranking)});
        one.name = {*frames[id].name, sources[track->source], run.from};
        one.when = std::move(when[k]);
      }
    }
  }
  std::ranges::sort(found, {}, [](const Contender& one) { return std::pair(one.rank, one.name); });
  return found;
}

namespace {

/// Frames by the numbers that they have among those on cycles.
class Numbers {
 public:
  [[nodiscard]] std::uint32_t of(FrameId frame) {
    const auto [found, is_new] = numbers_.try_emplace(frame, static_cast<std::uint32_t>(frames_.size()));
    if (is_new) frames_.push_back(frame);
    return found->second;
  }
  [[nodiscard]] FrameId frame(std::uint32_t number) const { return frames_[number]; }
  [[nodiscard]] std::size_t size() const { return frames_.size(); }

 private:
  std::unordered_map<FrameId, std::uint32_t> numbers_{};
  std::vector<FrameId> frames_{};
};

}  // namespace

void Forest::State::resolve_cycles(const ResolveCycles* ranking) {
  if (circular.empty() && loops.empty()) return;
  const std::vector<Contender> all = contenders(ranking);
  loops.clear();
  cycle_order.clear();
  Numbers numbers;
  std::vector<Link> links;
  for (const Contender& one : all) links.push_back({numbers.of(one.track->of), numbers.of(one.run().parent), one.when});
  const std::vector<Cut> cuts = cut_cycles(numbers.size(), links);
  std::vector<FrameId> changed;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Contender& one = all[i];
    if (one.rank) cycle_order.emplace(key_of(*one.track, one.run()), *one.rank);
    Intervals on_cycle = one.rank ? cuts[i].when : Intervals{};
    if (one.run().on_cycle != on_cycle) {
      one.track->runs.edit(one.k).on_cycle = std::move(on_cycle);
      changed.push_back(one.track->of);
    }
    if (one.run().on_cycle.empty()) continue;
    std::vector<FrameId> path;
    for (const std::uint32_t number : cuts[i].path) path.push_back(numbers.frame(number));
    report_cycle(one, path);
  }
  inactive_runs = loops.size();
  publish(changed);
}

void Forest::State::report_cycle(const Contender& one, std::span<const FrameId> path) {
  const RunRecord& run = one.run();
  const auto* constant = std::get_if<Fixed>(&run.provider);
  ClosingRun& closing = loops.emplace_back(ClosingRun{.of = *frames[one.track->of].name,
                                                      .in_frame = *frames[run.parent].name,
                                                      .source = sources[one.track->source],
                                                      .since = run.from,
                                                      .pose = constant == nullptr ? nullptr : constant->pose,
                                                      .at = run.on_cycle.begin()->from});
  for (const FrameId id : path) closing.path.push_back(*frames[id].name);
}

std::vector<ClosingRun> Forest::closing_runs() const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  return state_->loops;
}

bool Forest::has_closing_runs() const { return state_->inactive_runs.load() != 0; }

bool Forest::ends_with(std::string_view of, std::string_view source, Stamp since) const {
  const std::lock_guard guard(state_->lock);
  const FrameId frame = state_->find_frame(of);
  const TrackRecord* track = frame == kNone ? nullptr : state_->find_track(frame, state_->find_source(source));
  return track != nullptr && !track->runs.empty() && track->runs.back().from == since && !track->runs.back().is_sampled();
}

}  // namespace armillary
