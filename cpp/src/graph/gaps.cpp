// What is known to lack of samples that others give: gaps, and coverage that has ended until somebody asks.

#include <algorithm>
#include <map>

#include "armillary/series/pose_row.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace {

using Guard = std::lock_guard<std::mutex>;

constexpr std::size_t kManyGaps = 64;  // then those of which the samples are forgotten are looked for

/// Takes in a gap; those that it touches are one with it.
void join(Gaps& gaps, Gap gap) {
  std::erase_if(gaps, [&](const Gap& other) {
    const bool is_apart = other.to <= gap.from || gap.to <= other.from;
    if (!is_apart) gap = {std::min(gap.from, other.from), std::max(gap.to, other.to)};
    return !is_apart;
  });
  gaps.insert(std::ranges::lower_bound(gaps, gap.from, {}, &Gap::from), gap);
}

}  // namespace

Demands& Forest::demands() const { return state_->demands; }

void Forest::wake_waits() {
  const Guard guard(state_->lock);
  state_->wake_everybody();
}

/// Null where there is no such relation or channel.
const Gaps* Forest::State::gaps_of(SampleKind kind, std::uint32_t id) const {
  if (kind == SampleKind::joints) return id < variables.channels() ? &variables.gaps(id) : nullptr;
  return id < relations.size() && relations[id] ? &relations[id]->gaps : nullptr;
}

std::vector<const Series*> Forest::State::tables_of(SampleKind kind, std::uint32_t id) const {
  std::vector<const Series*> tables;
  if (kind == SampleKind::joints) {
    if (const Series* series = id < variables.channels() ? variables.series_of(id) : nullptr) tables.push_back(series);
    return tables;
  }
  for (const std::shared_ptr<Series>& series : series_of(id)) tables.push_back(series.get());
  return tables;
}

void Forest::State::set_gaps(SampleKind kind, std::uint32_t id, Gaps gaps) {
  if (gaps.size() > kManyGaps) {
    Stamp oldest = Stamp::never();
    for (const Series* series : tables_of(kind, id))
      if (const Row first = series->first_row()) oldest = std::min(oldest, Stamp{first.stamp_ns()});
    std::erase_if(gaps, [&](const Gap& gap) { return gap.to < oldest; });
  }
  if (kind == SampleKind::joints) {
    variables.set_gaps(id, std::move(gaps), retired);
  } else {
    relations[id]->gaps = std::move(gaps);
    for (const std::shared_ptr<Series>& series : series_of(id)) series->set_gaps(relations[id]->gaps, retired);
  }
  wake_everybody();
}

bool Forest::end_coverage(SampleKind kind, std::uint32_t id) {
  const Guard guard(state_->lock);
  const Gaps* const known = state_->gaps_of(kind, id);
  if (known == nullptr) return false;
  if (!known->empty() && known->back().to == Stamp::never()) return true;
  Stamp newest = Stamp::always();
  for (const Series* series : state_->tables_of(kind, id)) newest = std::max(newest, series->newest());
  Gaps gaps = *known;
  join(gaps, {newest, Stamp::never()});
  state_->set_gaps(kind, id, std::move(gaps));
  return true;
}

bool Forest::resume_coverage(SampleKind kind, std::uint32_t id, std::optional<Stamp> from) {
  const Guard guard(state_->lock);
  const Gaps* const known = state_->gaps_of(kind, id);
  if (known == nullptr) return false;
  if (known->empty() || known->back().to != Stamp::never()) return true;
  Gaps gaps = *known;
  gaps.back().to = from.value_or(gaps.back().from);
  if (gaps.back().from == Stamp::always() || gaps.back().to <= gaps.back().from) gaps.pop_back();
  state_->set_gaps(kind, id, std::move(gaps));
  return true;
}

bool Forest::add_gap(SampleKind kind, std::uint32_t id, Gap gap) {
  const Guard guard(state_->lock);
  const Gaps* const known = state_->gaps_of(kind, id);
  if (known == nullptr) return false;
  Gaps gaps = *known;
  if (gap.from < gap.to) join(gaps, gap);
  state_->set_gaps(kind, id, std::move(gaps));
  return true;
}

bool Forest::close_gaps(SampleKind kind, std::uint32_t id, Gap filled) {
  const Guard guard(state_->lock);
  const Gaps* const known = state_->gaps_of(kind, id);
  if (known == nullptr) return false;
  Gaps gaps = *known;
  std::erase_if(gaps, [&](const Gap& gap) { return gap.to != Stamp::never() && filled.from <= gap.from && gap.to <= filled.to; });
  state_->set_gaps(kind, id, std::move(gaps));
  return true;
}

std::vector<SampleBatch> Forest::stored(SampleKind kind, std::uint32_t id, Stamp from) const {
  const Guard guard(state_->lock);
  std::map<std::int64_t, Row> rows;
  std::size_t width = 0;
  for (const Series* series : state_->tables_of(kind, id)) {
    width = series->width();
    series->for_each(from, Stamp::never(), [&](const Row& row) {
      if (!series->is_computed({row.stamp_ns()})) rows[row.stamp_ns()] = row;
    });
  }
  SampleBatch plain{.kind = kind, .id = id, .width = static_cast<std::uint32_t>(width)};
  SampleBatch wide{.kind = kind, .id = id, .width = static_cast<std::uint32_t>(width + Series::kSideWords)};
  for (const auto& [stamp, row] : rows) {
    const bool has_side = row.side != nullptr && !std::isnan(row.side[0]);
    SampleBatch& batch = has_side ? wide : plain;
    batch.stamps.push_back(stamp);
    batch.rows.insert(batch.rows.end(), row.values(), row.values() + width);
    if (has_side) batch.rows.insert(batch.rows.end(), row.side, row.side + Series::kSideWords);
  }
  std::vector<SampleBatch> found;
  for (SampleBatch* batch : {&plain, &wide})
    if (!batch->stamps.empty()) found.push_back(std::move(*batch));
  return found;
}

Stamp Forest::newest_stored(SampleKind kind, std::uint32_t id) const {
  const Guard guard(state_->lock);
  Stamp newest = Stamp::always();
  for (const Series* series : state_->tables_of(kind, id)) newest = std::max(newest, series->newest());
  return newest;
}

bool Forest::has_ended(SampleKind kind, std::uint32_t id) const {
  const Guard guard(state_->lock);
  const Gaps* const known = state_->gaps_of(kind, id);
  return known != nullptr && !known->empty() && known->back().to == Stamp::never();
}

}  // namespace armillary
