// Samples of a frame as the measurements of a filter.

#include "armillary/graph/measuring.hpp"

#include <algorithm>

#include "armillary/graph/twist_row.hpp"
#include "armillary/math/pose_filter.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/forest_state.hpp"
#include "math/upper6.hpp"

namespace armillary {

namespace {

/// A stored sample, before it is read.
struct StoredSample {
  Row row;
  std::uint32_t source;  // of the question
  std::uint32_t number;
};

/// Reads samples in the order of time, and gives them to a filter from the first that it has not had on.
class Measuring {
 public:
  Measuring(const MeasuredFrame& question, PoseFilter& filter) : question_(question), filter_(filter) {
    counts.resize(question.sources.size());
  }

  std::vector<MeasuredCount> counts;

  /// The series of one source. Where two of them have a sample of the same stamp, as runs that go on from the last samples of
  /// others do, the later one counts.
  void add(std::uint32_t source, const std::vector<std::shared_ptr<Series>>& series) {
    const std::size_t begin = samples_.size();
    for (const std::shared_ptr<Series>& one : series)
      one->for_each(question_.from, Stamp::never(),
                    [&](const Row& row) { samples_.push_back({row, source, question_.sources[source].number}); });
    if (series.size() > 1) {
      const auto first = samples_.begin() + static_cast<std::ptrdiff_t>(begin);
      std::stable_sort(first, samples_.end(), is_before);
      const auto same = [](const StoredSample& a, const StoredSample& b) { return a.row.stamp_ns() == b.row.stamp_ns(); };
      const auto kept = std::unique(std::make_reverse_iterator(samples_.end()), std::make_reverse_iterator(first), same);
      samples_.erase(first, kept.base());
    }
    counts[source].stored = samples_.size() - begin;
  }

  /// `parent_at` gives the pose of a parent with its covariance, or none.
  template <typename ParentAt>
  void fill(ParentAt parent_at) {
    if (!std::ranges::is_sorted(samples_, is_before)) std::ranges::stable_sort(samples_, is_before);
    std::size_t count = 0;
    bool is_same = true;
    FilterMeasurement measurement;
    for (const StoredSample& sample : samples_) {
      if (!read(sample, parent_at, measurement)) continue;
      ++counts[sample.source].taken;
      is_same = is_same && count < filter_.size() && filter_.measurement(count) == measurement;
      if (!is_same) {
        filter_.keep(count);
        filter_.add(measurement);
      }
      ++count;
    }
    filter_.keep(count);
  }

 private:
  static bool is_before(const StoredSample& a, const StoredSample& b) {
    return std::pair(a.row.stamp_ns(), a.number) < std::pair(b.row.stamp_ns(), b.number);
  }

  /// False where its covariance, or that of its parent in `in_frame`, is unknown.
  template <typename ParentAt>
  bool read(const StoredSample& sample, ParentAt& parent_at, FilterMeasurement& out) const {
    const std::optional<Covariance> covariance = covariance_of(sample.row);
    if (!covariance) return false;
    const MeasuredFrame::Source& source = question_.sources[sample.source];
    out = {.stamp_ns = sample.row.stamp_ns(), .source = sample.number, .is_velocity = source.parent == kNone};
    out.covariance = covariance->values;
    if (out.is_velocity) {
      out.velocity = values_of(velocity_of(sample.row));
      return true;
    }
    out.pose = pose_of(sample.row);
    if (source.parent == question_.in_frame) return true;
    const std::optional<FixedPose> parent = parent_at(source.parent, Stamp{out.stamp_ns});
    if (!parent) return false;
    const Symmetric6 moved = propagated(Symmetric6::of(parent->covariance), upper_adjoint(out.pose.inverse()));
    out.covariance = sum(moved, Symmetric6::of(*covariance)).covariance().values;
    out.pose = parent->value * out.pose;
    out.pose.rotation = out.pose.rotation.normalized();
    return true;
  }

  const MeasuredFrame& question_;
  PoseFilter& filter_;
  std::vector<StoredSample> samples_{};
};

}  // namespace

std::vector<MeasuredCount> Forest::measure(const MeasuredFrame& question, PoseFilter& filter) const {
  const Pin pin;
  Measuring measuring(question, filter);
  std::vector<std::vector<std::shared_ptr<Series>>> series(question.sources.size());
  {
    const std::lock_guard<std::mutex> guard(state_->lock);
    for (std::size_t i = 0; i < question.sources.size(); ++i) series[i] = state_->series_of(question.sources[i].relation);
  }
  for (std::uint32_t i = 0; i < question.sources.size(); ++i) measuring.add(i, series[i]);
  const Topology& now = *state_->topology.load();
  const bool has_frame = now.has(question.in_frame);
  measuring.fill([&](FrameId parent, Stamp at) -> std::optional<FixedPose> {
    if (!has_frame) return std::nullopt;
    const Question asked{.of = parent, .in_frame = question.in_frame, .at = When::exactly(at), .context = question.context};
    const Result<PoseAnswer> found = state_->pose_completed(now, asked);
    if (!found || found.value.certainty == Certainty::unknown) return std::nullopt;
    FixedPose pose{.value = found.value.transform, .certainty = found.value.certainty};
    if (found.value.covariance) pose.covariance = *found.value.covariance;
    return pose;
  });
  return measuring.counts;
}

}  // namespace armillary
