// What a Series lets go: by age, by number, by what interpolation reproduces.

#include <cstring>

#include "armillary/series/pose_row.hpp"
#include "series/series_rows.hpp"

namespace armillary {

namespace {

bool same_side(const Row& a, const Row& b) {
  if (a.side == nullptr) return true;
  return std::memcmp(a.side, b.side, Series::kSideWords * sizeof(double)) == 0;
}

bool reproduces(const Row& first, const Row& dropped, const Row& last, const Retention& bounds) {
  if (!same_side(first, dropped) || !same_side(last, dropped)) return false;
  const Transform truth = pose_of(dropped);
  const Transform guess = interpolate_rows(first, last, dropped.stamp_ns(), Interpolation::linear);
  return norm(guess.translation - truth.translation) <= bounds.thin_m &&
         guess.rotation.angle_to(truth.rotation) <= bounds.thin_rad;
}

bool reproduces_all(const std::vector<Row>& rows, std::uint32_t first, std::uint32_t last, const Retention& bounds) {
  for (std::uint32_t i = first + 1; i < last; ++i)
    if (!reproduces(rows[first], rows[i], rows[last], bounds)) return false;
  return true;
}

/// Which of `rows` to keep so that every dropped one is reproduced within the bounds by interpolating between its kept
/// neighbours. The first and the last are always kept; covariances must be equal too.
std::vector<std::uint32_t> rows_to_keep(const std::vector<Row>& rows, const Retention& bounds) {
  std::vector<std::uint32_t> kept{0};
  for (std::uint32_t last = 2; last < rows.size(); ++last)
    if (!reproduces_all(rows, kept.back(), last, bounds)) kept.push_back(last - 1);
  if (rows.size() > 1) kept.push_back(static_cast<std::uint32_t>(rows.size()) - 1);
  return kept;
}

}  // namespace

void Series::drop_first_chunk(RetireList& retired) {
  Index* index = index_.load();
  const std::uint32_t begin = index->begin;
  index->begin.store(begin + 1);
  retire_rows(index->entries[begin].word, retired);
  forgotten_ = 0;
}

void Series::drop_forgotten(RetireList& retired) {
  if (forgotten_ == 0) return;
  const Index* index = index_.load();
  const std::uint32_t begin = index->begin;
  const std::uintptr_t word = index->entries[begin].word;
  const std::uint32_t kept = Index::count_of(word) - forgotten_;
  const bool is_tail = begin + 1 == index->end;
  std::int64_t* rows = allocate_rows(is_tail ? tail_capacity_ : kept, index->stride);
  copy_rows(rows, Index::rows_of(word) + std::size_t{forgotten_} * index->stride, kept, index->stride);
  publish_chunk(begin, rows, kept, retired);
  forgotten_ = 0;
}

/// Counts the rows below the floor as forgotten; whole chunks of them go.
void Series::forget_oldest(RetireList& retired) {
  const std::int64_t floor = floor_ns_.load(std::memory_order_relaxed);
  while (true) {
    const Index* index = index_.load(std::memory_order_relaxed);
    const std::uint32_t begin = index->begin.load(std::memory_order_relaxed);
    const std::uintptr_t word = index->entries[begin].word.load(std::memory_order_relaxed);
    const std::int64_t* rows = Index::rows_of(word);
    const std::uint32_t before = forgotten_;
    while (forgotten_ < Index::count_of(word) && rows[std::size_t{forgotten_} * index->stride] < floor) ++forgotten_;
    size_.store(size() - (forgotten_ - before), std::memory_order_relaxed);
    if (forgotten_ < Index::count_of(word)) return;
    drop_first_chunk(retired);
  }
}

void Series::expire_by_age(RetireList& retired) { forget_before(earlier(newest(), retention_.history), retired); }

void Series::expire_by_count(RetireList& retired) {
  while (retention_.max_samples > 0 && size() > retention_.max_samples) {
    const Index* index = index_.load(std::memory_order_relaxed);
    const std::uintptr_t oldest = index->entries[index->begin].word.load(std::memory_order_relaxed);
    forget_before(Stamp{index->row(oldest, forgotten_).stamp_ns() + 1}, retired);
  }
}

void Series::forget_before(Stamp floor, RetireList& retired) {
  if (empty()) return;
  const std::int64_t floor_ns = std::min(floor.ns, newest().ns);
  if (floor_ns <= floor_ns_.load(std::memory_order_relaxed)) return;
  floor_ns_.store(floor_ns, std::memory_order_release);
  forget_oldest(retired);
}

void Series::set_retention(const Retention& retention, RetireList& retired) {
  retention_ = retention;
  if (empty()) return;
  expire_by_age(retired);
  expire_by_count(retired);
}

void Series::thin_tail(RetireList& retired) {
  drop_forgotten(retired);
  const Index* index = index_.load();
  const std::uint32_t entry = index->end - 1;
  const std::uintptr_t word = index->entries[entry].word;
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < Index::count_of(word); ++i) rows.push_back(index->row(word, i));
  const std::vector<std::uint32_t> kept = rows_to_keep(rows, retention_);
  if (kept.size() == rows.size()) return;
  const auto count = static_cast<std::uint32_t>(kept.size());
  std::int64_t* thinned = allocate_rows(count, index->stride);
  for (std::uint32_t i = 0; i < count; ++i)
    copy_rows(thinned + std::size_t{i} * index->stride, rows[kept[i]].words, 1, index->stride);
  publish_chunk(entry, thinned, count, retired);
  tail_capacity_ = count;
  size_.store(size() - (rows.size() - kept.size()), std::memory_order_relaxed);
  join_tail_to_previous(retired);
}

void Series::join_tail_to_previous(RetireList& retired) {
  const Index* index = index_.load();
  const std::uint32_t live = index->end - index->begin;
  if (live < 2) return;
  const std::uintptr_t left = index->entries[index->end - 2].word, right = index->entries[index->end - 1].word;
  const std::uint32_t left_count = Index::count_of(left), total = left_count + Index::count_of(right);
  if (total > kChunkRows) return;
  Draft next(Index::make(index->stride, index->side_offset, live + 4));
  for (std::uint32_t i = 0; i + 2 < live; ++i) {
    next->entries[i].first_ns.store(index->entries[index->begin + i].first_ns.load());
    next->entries[i].word.store(index->entries[index->begin + i].word.load());
  }
  std::int64_t* rows = next.add_chunk(live - 2, total, total, index->entries[index->end - 2].first_ns.load());
  copy_rows(rows, Index::rows_of(left), left_count, index->stride);
  copy_rows(rows + std::size_t{left_count} * index->stride, Index::rows_of(right), Index::count_of(right), index->stride);
  next->end.store(live - 1);
  publish_index(next.release(), retired);
  tail_capacity_ = total;
  retire_rows(left, retired);
  retire_rows(right, retired);
}

}  // namespace armillary
