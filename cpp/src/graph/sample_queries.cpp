// What is stored, read back; and how much of it is kept.

#include <algorithm>
#include <limits>
#include <map>

#include "armillary/series/pose_row.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

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
  for (RunRecord& run : relation.track->runs)
    if (run.relation == id && run.is_sampled()) run.series->set_retention(retention, state_->retired);
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
    const std::optional<Covariance> covariance = covariance_of(row);
    has_covariances_ = has_covariances_ || covariance;
    table_.stamps.push_back(row.stamp_ns());
    table_.values.insert(table_.values.end(), values.begin(), values.end());
    if (covariance) {
      table_.covariances.insert(table_.covariances.end(), covariance->values.begin(), covariance->values.end());
    } else {
      table_.covariances.insert(table_.covariances.end(), 36, std::numeric_limits<double>::quiet_NaN());
    }
  }

  [[nodiscard]] SampleTable taken() && {
    if (!has_covariances_) table_.covariances.clear();
    return std::move(table_);
  }

 private:
  SampleTable table_;
  bool has_covariances_ = false;
};

std::array<double, 7> xyz_wxyz_of(const Row& row) {
  const auto& [q, t] = pose_of(row);
  return {t.x, t.y, t.z, q.w, q.x, q.y, q.z};
}

SampleTable twist_samples(const Series& series, Stamp from, Stamp to) {
  Table table(kTwistWidth);
  series.for_each(from, to, [&](const Row& row) { table.add(row, values_of(velocity_of(row))); });
  return std::move(table).taken();
}

/// By stamp; where runs share one, as those that go on from the last samples of others do, the later run's.
class Rows {
 public:
  void add(const Series& series, Stamp from, Stamp to) {
    series.for_each(from, to, [&](const Row& row) { rows_.insert_or_assign(row.stamp_ns(), row); });
  }

  [[nodiscard]] SampleTable table() const {
    Table table(kPoseWidth);
    for (const auto& [stamp, row] : rows_) table.add(row, xyz_wxyz_of(row));
    return std::move(table).taken();
  }

 private:
  std::map<std::int64_t, Row> rows_{};
};

}  // namespace

SampleTable Forest::samples(RelationId id, Stamp from, Stamp to) const {
  const Guard guard(state_->lock);
  if (const auto twist = state_->twists.find(id); twist != state_->twists.end())
    return twist_samples(*twist->second->series, from, to);
  Rows rows;
  if (id >= state_->relations.size() || !state_->relations[id]) return rows.table();
  for (const RunRecord& run : state_->relations[id]->track->runs)
    if (run.relation == id && run.is_sampled()) rows.add(*run.series, from, to);
  return rows.table();
}

SampleTable Forest::node_samples(std::string_view of, std::string_view source, Stamp from, Stamp until) const {
  const Guard guard(state_->lock);
  Rows rows;
  const FrameId frame = state_->find_frame(of);
  const TrackRecord* track = frame == kNone ? nullptr : state_->find_track(frame, state_->find_source(source));
  if (track == nullptr) return rows.table();
  for (const RunRecord& run : track->runs) {
    const bool is_meant = run.is_sampled() && from <= run.from && run.from < until;
    if (is_meant && state_->relations[run.relation]->is_of_scene) rows.add(*run.series, Stamp::always(), Stamp::never());
  }
  return rows.table();
}

}  // namespace armillary
