// Questions. No lock is taken: one Pin, one version of the structure.

#include <algorithm>
#include <limits>
#include <map>

#include "armillary/graph/forest_view.hpp"
#include "armillary/graph/twist_row.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace {

void list_relations(const Path& path, RelationList& list) {
  for (const PathEdge& edge : path.up) list.push_back(edge.relation);
  for (auto edge = path.down.rbegin(); edge != path.down.rend(); ++edge) list.push_back(edge->relation);
}

/// The context of a question, with a list for what is held.
QueryContext noting_context(const QueryContext& given, Scratch& scratch) {
  scratch.held.clear();
  QueryContext context = given;
  context.held = &scratch.held;
  return context;
}

void set_covariance(const CovarianceSum& sum, PoseAnswer& answer) {
  answer.covariance = std::make_unique<Covariance>(sum.total());
}

bool is_integrated(const Path& path, Stamp at) {
  const auto integrated = [at](const PathEdge& edge) {
    return edge.provider.kind == ProviderKind::sampled && edge.provider.series().rests_on_computed(at);
  };
  return std::ranges::any_of(path.up, integrated) || std::ranges::any_of(path.down, integrated);
}

/// One instant for both ends.
Failure answer_at_one_time(const Topology& topology, const Question& question, const std::optional<Covariance>& fallback,
                           Scratch& scratch, PoseAnswer& answer) {
  Segment segment;
  if (Failure failure = evaluate_segment(topology, question.of, question.in_frame, question.at.at, question.at.latest,
                                         noting_context(question.context, scratch), fallback, scratch, scratch.path, segment))
    return failure;
  answer.transform = segment.value;
  answer.held = held_in(scratch);
  answer.predicted = segment.predicted;
  answer.certainty = segment.certainty;
  answer.newest = segment.newest;
  answer.oldest = segment.oldest;
  const bool same_frame = question.of == question.in_frame && !question.at.latest;
  const bool is_timeless = (segment.timeless && !same_frame) || segment.at == Stamp::never();
  answer.stamp = is_timeless ? Stamp::always() : segment.at;
  answer.relations.reserve(scratch.path.up.size() + scratch.path.down.size());
  list_relations(scratch.path, answer.relations);
  answer.integrated = segment.integrated || (topology.bodies() != nullptr && is_integrated(scratch.path, segment.at));
  if (segment.certainty == Certainty::known && question.context.want_covariance) {
    CovarianceSum sum(false);
    add_uncertainty(scratch.path, scratch.values, segment, {question.context, fallback}, {}, sum);
    set_covariance(sum, answer);
  }
  return {};
}

Stamp stamp_of_two(const Question& question, const Segment& far, const Segment& near) {
  const bool stands_still =
      question.of == question.fixed_frame && question.in_frame == question.fixed_frame && !question.at.latest;
  if (far.timeless && near.timeless && !stands_still) return Stamp::always();
  if (!question.at.latest) return question.at.at;
  return near.timeless ? far.at : near.at;
}

/// `of` at one instant, `in_frame` at another, through a frame that stood still.
Failure answer_at_two_times(const Topology& topology, const Question& question, const std::optional<Covariance>& fallback,
                            Scratch& scratch, PoseAnswer& answer) {
  Segment far, near;
  const QueryContext context = noting_context(question.context, scratch);
  if (Failure failure = evaluate_segment(topology, question.of, question.fixed_frame, question.of_at.at, question.of_at.latest,
                                         context, fallback, scratch, scratch.path, far))
    return failure;
  CovarianceSum sum(true);
  const bool far_known = far.certainty != Certainty::unknown && question.context.want_covariance;
  if (far_known) add_uncertainty(scratch.path, scratch.values, far, {question.context, fallback}, {}, sum);
  if (Failure failure = evaluate_segment(topology, question.fixed_frame, question.in_frame, question.at.at, question.at.latest,
                                         context, fallback, scratch, scratch.second, near))
    return failure;
  const bool all_known = far_known && near.certainty != Certainty::unknown;
  if (all_known) add_uncertainty(scratch.second, scratch.values, near, {question.context, fallback}, far.value, sum);
  answer.transform = near.value * far.value;
  answer.held = held_in(scratch);
  answer.predicted = near.predicted || far.predicted;
  answer.stamp = stamp_of_two(question, far, near);
  const bool exact = far.certainty == Certainty::exact && near.certainty == Certainty::exact;
  answer.certainty = exact ? Certainty::exact : all_known ? Certainty::known : Certainty::unknown;
  if (answer.certainty == Certainty::known) set_covariance(sum, answer);
  answer.relations.reserve(scratch.path.up.size() + scratch.path.down.size() + scratch.second.up.size() +
                           scratch.second.down.size());
  list_relations(scratch.path, answer.relations);
  list_relations(scratch.second, answer.relations);
  answer.integrated =
      far.integrated || near.integrated ||
      (topology.bodies() != nullptr && (is_integrated(scratch.path, far.at) || is_integrated(scratch.second, near.at)));
  return {};
}

}  // namespace

Failure check_frames(const Topology& topology, const Question& question) {
  for (const FrameId id : {question.of, question.in_frame})
    if (!topology.has(id)) return Evidence{.kind = FailureKind::unknown_frame, .of = id};
  if (question.fixed_frame != kNone && !topology.has(question.fixed_frame))
    return Evidence{.kind = FailureKind::unknown_frame, .of = question.fixed_frame};
  return {};
}

/// The context completed with what a prediction needs.
QueryContext Forest::State::completed(const QueryContext& context, const Topology& version) const {
  QueryContext complete = context;
  if (context.outside != Outside::predict) return complete;
  complete.prediction = &options.prediction;
  complete.measured_in = &version;
  return complete;
}

ForestView::ForestView(const Forest& forest) : forest_(forest), topology_(*forest.state_->topology.load()) {}

CompanionPtr Forest::companion() const { return ForestView(*this).keep_companion(); }

Result<PoseAnswer> Forest::pose(const Question& question) const { return ForestView(*this).pose(question); }

Result<PoseAnswer> ForestView::pose(const Question& question) const {
  return forest_.state_->pose_completed(topology_, question);
}

Result<PoseAnswer> ForestView::pose_by_policy(const Question& question) const {
  Question complete = question;
  complete.context = forest_.state_->completed(question.context, topology_);
  Result<PolicyAnswer> answer = forest_.state_->pose_by_policy(topology_, complete);
  return {std::move(answer.value.pose), std::move(answer.failure)};
}

Result<PoseAnswer> Forest::State::pose_now(const Question& question) const {
  const Pin pin;
  return pose_completed(*topology.load(), question);
}

Result<PoseAnswer> Forest::State::pose_completed(const Topology& now, const Question& question) const {
  if (question.context.outside != Outside::predict) return pose_in(now, question);
  Question complete = question;
  complete.context = completed(question.context, now);
  return pose_in(now, complete);
}

/// The caller has pinned that version.
Result<PoseAnswer> Forest::State::pose_in(const Topology& now, const Question& question) const {
  Result<PoseAnswer> result;
  result.failure = check_frames(now, question);
  if (result.failure) return result;
  Scratch& scratch = Scratch::of_this_thread();
  const std::optional<Covariance>& fallback = options.default_covariance;
  result.failure = question.fixed_frame == kNone ? answer_at_one_time(now, question, fallback, scratch, result.value)
                                                 : answer_at_two_times(now, question, fallback, scratch, result.value);
  result.value.body = now.node(question.of).body;
  result.value.reference_body = now.node(question.in_frame).body;
  return result;
}

bool Forest::can_pose(const Question& question) const {
  Question plain = question;
  plain.context.want_covariance = false;
  return static_cast<bool>(pose(plain));
}

std::pair<FrameId, RelationId> Forest::parent_at(FrameId frame, When at) const { return ForestView(*this).parent_at(frame, at); }

std::pair<FrameId, RelationId> ForestView::parent_at(FrameId frame, When at) const {
  if (!has(frame)) return {kNone, kNone};
  PathEdge edge;
  FrameId parent = kNone;
  Stamp when = at.latest ? Stamp::never() : at.at;
  if (const TrackSet* set = topology_.node(frame).tracks; at.latest && set != nullptr && set->tracks.size() > 1) {
    Selection selection;
    selection.choose(*set, when, topology_.rival_timeout());
    if (selection.newest() != Stamp::always()) when = selection.newest();
  }
  PathFinder& finder = Scratch::of_this_thread().finder;
  finder.restart();
  if (!finder.step(topology_, frame, when, {}, edge, parent)) return {kNone, kNone};
  return {parent, edge.relation};
}

/// A path that holds at every instant holds at any: it is looked for at one of them.
bool ForestView::is_one_place(FrameId of, FrameId in_frame) const {
  if (!has(of) || !has(in_frame)) return false;
  Scratch& scratch = Scratch::of_this_thread();
  const Path& path = scratch.path;
  if (scratch.finder.find(topology_, of, in_frame, Stamp{0}, {}, scratch.path)) return false;
  const auto is_fixed = [](const PathEdge& edge) { return edge.provider.kind == ProviderKind::fixed; };
  const bool holds_always = path.valid_from == Stamp::always() && path.valid_to == Stamp::never();
  return holds_always && std::ranges::all_of(path.up, is_fixed) && std::ranges::all_of(path.down, is_fixed);
}

/// The only open statement; else who places the frame.
std::optional<std::string> Forest::holder(FrameId frame, Stamp at) const {
  const std::lock_guard<std::mutex> guard(state_->lock);
  const Topology& version = *state_->topology.load();
  if (!version.has(frame)) return std::nullopt;
  std::vector<SourceId> statements;
  if (const TrackSet* set = version.node(frame).tracks)
    for (const Track& track : set->tracks)
      if (const Run* run = track.run_at(at); run != nullptr && !run->is_closed() && run->rank == Rank::statement)
        statements.push_back(track.source);
  if (statements.size() == 1) return state_->sources[statements.front()];
  const RelationId current = parent_at(frame, When::exactly(at)).second;
  if (current == kNone || !state_->relations[current]) return std::nullopt;
  return state_->sources[state_->relations[current]->source];
}

// -- Several poses at one instant

namespace {

/// Lowers `at` to the newest instant that the paths of all pairs cover; `never` where all is fixed.
Failure resolve_all(const Topology& topology, std::span<const FramePair> pairs, const QueryContext& context, Stamp& at,
                    RelationId& limiting) {
  Scratch& scratch = Scratch::of_this_thread();
  for (Stamp before = Stamp::always(); before != at;) {
    before = at;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Failure failure = resolve_latest(topology, pairs[i].of, pairs[i].in_frame, context, scratch, scratch.path, at, limiting);
      if (!failure) continue;
      failure->row = i;
      return failure;
    }
  }
  if (at != Stamp::never()) return {};
  Stamp newest = Stamp::always();
  for (const auto& [of, in_frame] : pairs) {
    if (scratch.finder.find(topology, of, in_frame, at, context, scratch.path)) continue;
    if (const Stamp one = newest_datum(scratch.path); one != Stamp::never()) newest = std::max(newest, one);
  }
  if (newest != Stamp::always()) at = newest;
  return {};
}

Failure unknown_among(const Topology& topology, std::span<const FramePair> pairs) {
  for (const auto& [of, in_frame] : pairs)
    for (const FrameId id : {of, in_frame})
      if (!topology.has(id)) return Evidence{.kind = FailureKind::unknown_frame, .of = id};
  return {};
}

}  // namespace

Result<std::vector<PoseAnswer>> Forest::poses_at_once(std::span<const FramePair> pairs, When at,
                                                      const QueryContext& given) const {
  const Pin pin;
  const Topology& topology = *state_->topology.load();
  const QueryContext context = state_->completed(given, topology);
  Result<std::vector<PoseAnswer>> result;
  RelationId limiting = kNone;
  Stamp instant = at.latest ? Stamp::never() : at.at;
  result.failure = unknown_among(topology, pairs);
  if (!result.failure && at.latest) result.failure = resolve_all(topology, pairs, context, instant, limiting);
  if (result.failure) return result;
  const When when = instant == Stamp::never() ? When::newest() : When::exactly(instant);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Result<PoseAnswer> answer =
        state_->pose_in(topology, {.of = pairs[i].of, .in_frame = pairs[i].in_frame, .at = when, .context = context});
    if (answer) {
      result.value.push_back(std::move(answer.value));
      continue;
    }
    if (at.latest) blame_latest(limiting, answer.failure);
    answer.failure->row = i;
    result.failure = std::move(answer.failure);
    break;
  }
  return result;
}

// -- Samples as tables

using Guard = std::lock_guard<std::mutex>;

Failure Forest::keep(RelationId id, const Retention& retention) {
  const Guard guard(state_->lock);
  if (const auto twist = state_->twists.find(id); twist != state_->twists.end()) {
    twist->second->retention = retention;
    twist->second->series->set_retention(retention, state_->retired);
    return {};
  }
  if (id >= state_->relations.size() || !state_->relations[id])
    return Evidence{.kind = FailureKind::unknown_frame, .relation = id};
  RelationRecord& relation = *state_->relations[id];
  relation.retention = retention;
  for (const RunRecord& run : relation.track->runs)
    if (run.relation == id && run.is_sampled()) run.series()->set_retention(relation.kept(), state_->retired);
  state_->expire_runs(*relation.track, relation);
  state_->drop_unused_relations(*relation.track);
  state_->publish(relation.track->of);
  return {};
}

Retention Forest::retention_of(RelationId id) const {
  const Guard guard(state_->lock);
  if (const auto twist = state_->twists.find(id); twist != state_->twists.end()) return twist->second->retention;
  const bool known = id < state_->relations.size() && state_->relations[id];
  return known ? state_->relations[id]->retention : state_->options.retention;
}

namespace {

/// Rows on their way out, covariances beside them as long as any row has one.
class Table {
 public:
  explicit Table(std::size_t width) { table_.width = width; }

  template <typename Values>
  void add(const Row& row, const Values& values) {
    if (const std::optional<Covariance> covariance = covariance_of(row)) {
      add_unknown_covariances();  // of the rows before
      table_.covariances.insert(table_.covariances.end(), covariance->values.begin(), covariance->values.end());
    }
    table_.stamps.push_back(row.stamp_ns());
    table_.values.insert(table_.values.end(), values.begin(), values.end());
  }

  [[nodiscard]] SampleTable taken() && {
    if (!table_.covariances.empty()) add_unknown_covariances();
    return std::move(table_);
  }

 private:
  void add_unknown_covariances() {
    table_.covariances.resize(36 * table_.stamps.size(), std::numeric_limits<double>::quiet_NaN());
  }

  SampleTable table_;
};

std::array<double, 7> xyz_wxyz_of(const Row& row) {
  const auto& [q, t] = pose_of(row);
  return {t.x, t.y, t.z, q.w, q.x, q.y, q.z};
}

/// Rows of several series, oldest first. Where two have the same stamp, as runs that go on from the last samples of others
/// do, the later series' row is taken.
class Rows {
 public:
  /// So many are read in one go: nobody should wait for the lock longer.
  static constexpr std::size_t kMost = 16'384;

  /// The first ones of the interval; where there are more, `read_until` is where the next go begins.
  void add(const Series& series, Stamp from, Stamp to) {
    std::size_t added = 0;
    series.for_each(from, to, [&](const Row& row) {
      if (added == kMost) {
        read_until_ = std::min(read_until_, Stamp{row.stamp_ns()});
        return false;
      }
      is_sorted_ = is_sorted_ && (rows_.empty() || rows_.back().stamp_ns() < row.stamp_ns());
      rows_.push_back(row);
      ++added;
      return true;
    });
  }

  [[nodiscard]] Stamp read_until() const { return read_until_; }

  template <typename Values>
  void write(Table& table, Values values_of_row) {
    if (!is_sorted_) std::ranges::stable_sort(rows_, {}, [](const Row& row) { return row.stamp_ns(); });
    for (std::size_t i = 0; i < rows_.size() && Stamp{rows_[i].stamp_ns()} < read_until_; ++i) {
      const bool is_overruled = i + 1 < rows_.size() && rows_[i + 1].stamp_ns() == rows_[i].stamp_ns();
      if (!is_overruled) table.add(rows_[i], values_of_row(rows_[i]));
    }
  }

 private:
  std::vector<Row> rows_{};
  Stamp read_until_ = Stamp::never();
  bool is_sorted_ = true;
};

}  // namespace

/// Adds what is known of the interval to the table, up to a limit; the instant from which on it was not read.
template <typename Record, typename Values>
static Stamp add_rows(const Record& series, Stamp from, Stamp to, Table& table, Values values_of_row) {
  Rows rows;
  for (const auto& one : series) rows.add(*one, from, to);
  rows.write(table, values_of_row);
  return rows.read_until();
}

std::vector<std::shared_ptr<Series>> Forest::State::series_of(RelationId id) const {
  std::vector<std::shared_ptr<Series>> series;
  if (const auto twist = twists.find(id); twist != twists.end()) {
    series.push_back(twist->second->series);
  } else if (id < relations.size() && relations[id]) {
    for (const RunRecord& run : relations[id]->track->runs)
      if (run.relation == id && run.is_sampled()) series.push_back(run.series());
  }
  return series;
}

/// Millions of rows are read in several goes, between which writers may write: what is appended meanwhile is left out.
SampleTable Forest::samples(RelationId id, Stamp from, Stamp to) const {
  std::optional<Table> table;
  for (bool is_first = true; is_first || from != Stamp::never(); is_first = false) {
    const Guard guard(state_->lock);
    const std::vector<std::shared_ptr<Series>> series = state_->series_of(id);
    const bool is_twist = state_->twists.contains(id);
    if (is_first) {
      table.emplace(is_twist ? kTwistWidth : kPoseWidth);
      Stamp newest = Stamp::always();
      for (const std::shared_ptr<Series>& one : series) newest = std::max(newest, one->newest());
      to = std::min(to, newest);
    }
    from = is_twist ? add_rows(series, from, to, *table, [](const Row& row) { return values_of(velocity_of(row)); })
                    : add_rows(series, from, to, *table, xyz_wxyz_of);
  }
  return std::move(*table).taken();
}

SampleTable Forest::node_samples(std::string_view of, std::string_view source, Stamp from, Stamp until) const {
  const Guard guard(state_->lock);
  Table table(kPoseWidth);
  const FrameId frame = state_->find_frame(of);
  const TrackRecord* track = frame == kNone ? nullptr : state_->find_track(frame, state_->find_source(source));
  std::vector<const Series*> series;
  for (std::size_t k = 0; track != nullptr && k < track->runs.size(); ++k) {
    const RunRecord& run = track->runs[k];
    const bool is_meant = run.is_sampled() && from <= run.from && run.from < until;
    if (is_meant && state_->relations[run.relation]->is_of_scene) series.push_back(run.series().get());
  }
  Stamp next = Stamp::always();
  do {
    next = add_rows(series, next, Stamp::never(), table, xyz_wxyz_of);
  } while (next != Stamp::never());
  return std::move(table).taken();
}

}  // namespace armillary
