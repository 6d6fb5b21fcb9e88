// Rows that come late: one chunk is replaced by a changed copy.

#include <limits>

#include "series/series_rows.hpp"

namespace armillary {

Series::Spot Series::find(std::int64_t stamp_ns) const {
  const Index* index = index_.load();
  const std::uint32_t begin = index->begin, end = index->end;
  const auto first_of = [index](std::uint32_t i) { return index->entries[i].first_ns.load(std::memory_order_relaxed); };
  std::uint32_t entry = begin;
  if (stamp_ns > first_of(begin)) entry = detail::last_not_after(begin, end, end - 1, stamp_ns, first_of);
  const std::uintptr_t word = index->entries[entry].word;
  const std::int64_t* rows = Index::rows_of(word);
  std::uint32_t low = 0, high = Index::count_of(word);
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (rows[std::size_t{middle} * index->stride] < stamp_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool exact = low < Index::count_of(word) && rows[std::size_t{low} * index->stride] == stamp_ns;
  return {entry, low, exact};
}

void Series::insert_beside(const Spot& spot, std::int64_t stamp_ns, const double* values, const double* side,
                           RetireList& retired) {
  const Index* index = index_.load();
  const std::uintptr_t word = index->entries[spot.entry].word;
  const std::uint32_t count = Index::count_of(word), stride = index->stride;
  if (!spot.exact && count == kChunkRows) return split(spot, stamp_ns, values, side, retired);
  const std::uint32_t skipped = spot.exact ? 1 : 0, total = count + 1 - skipped;
  const bool is_tail = spot.entry + 1 == index->end;
  const std::uint32_t capacity = is_tail ? std::max(tail_capacity_, total) : total;
  std::int64_t* rows = allocate_rows(capacity, stride);
  if (is_tail) tail_capacity_ = capacity;
  const std::int64_t* old = Index::rows_of(word);
  copy_rows(rows, old, spot.row, stride);
  write_row(rows + std::size_t{spot.row} * stride, stamp_ns, values, side);
  copy_rows(rows + std::size_t{spot.row + 1} * stride, old + std::size_t{spot.row + skipped} * stride, count - spot.row - skipped,
            stride);
  Entry& slot = index->entries[spot.entry];
  if (stamp_ns < slot.first_ns.load(std::memory_order_relaxed)) slot.first_ns.store(stamp_ns);
  publish_chunk(spot.entry, rows, total, retired);
  size_.store(size() + 1 - skipped, std::memory_order_relaxed);
}

/// A full chunk becomes two; a row in front of or behind all of its rows gets a chunk of its own,
/// so that inserting backwards fills chunks as well as inserting forwards does.
void Series::split(const Spot& spot, std::int64_t stamp_ns, const double* values, const double* side, RetireList& retired) {
  const Index* index = index_.load();
  const std::uint32_t stride = index->stride, live = index->end - index->begin, at = spot.entry - index->begin;
  const std::uintptr_t word = index->entries[spot.entry].word;
  const std::uint32_t count = Index::count_of(word), total = count + 1;
  std::vector<std::int64_t> all(std::size_t{total} * stride);
  copy_rows(all.data(), Index::rows_of(word), spot.row, stride);
  write_row(all.data() + std::size_t{spot.row} * stride, stamp_ns, values, side);
  copy_rows(all.data() + std::size_t{spot.row + 1} * stride, Index::rows_of(word) + std::size_t{spot.row} * stride,
            count - spot.row, stride);
  const std::uint32_t left = spot.row == 0 ? 1 : spot.row == count ? count : total / 2;
  Draft next(Index::make(stride, index->side_offset, live + live / 2 + 4));
  const auto put = [&](std::uint32_t to, std::uint32_t from, std::uint32_t rows_in, std::uint32_t capacity) {
    const std::int64_t* rows = all.data() + std::size_t{from} * stride;
    copy_rows(next.add_chunk(to, rows_in, capacity, rows[0]), rows, rows_in, stride);
  };
  const bool is_tail = spot.entry + 1 == index->end;
  if (is_tail) tail_capacity_ = kChunkRows;
  put(at, 0, left, left);
  put(at + 1, left, total - left, is_tail ? kChunkRows : total - left);
  for (std::uint32_t i = 0; i < live; ++i) {
    if (i == at) continue;
    Entry& slot = next->entries[i < at ? i : i + 1];
    slot.first_ns.store(index->entries[index->begin + i].first_ns.load());
    slot.word.store(index->entries[index->begin + i].word.load());
  }
  next->end.store(live + 1);
  publish_index(next.release(), retired);
  retire_rows(word, retired);
  size_.store(size() + 1, std::memory_order_relaxed);
}

void Series::add_side_column(RetireList& retired) {
  const Index* index = index_.load();
  const std::uint32_t wide = stride_for(true), offset = 1 + width_;
  if (index == nullptr) return publish_index(Index::make(wide, offset, 4), retired);
  const std::uint32_t live = index->end - index->begin;
  Draft next(Index::make(wide, offset, 2 * live + 2));
  std::vector<std::uintptr_t> replaced;
  for (std::uint32_t i = 0; i < live; ++i) {
    const Entry& from = index->entries[index->begin + i];
    const std::uintptr_t word = from.word;
    const std::uint32_t count = Index::count_of(word);
    std::int64_t* rows = next.add_chunk(i, count, i + 1 == live ? tail_capacity_ : count, from.first_ns.load());
    for (std::uint32_t r = 0; r < count; ++r) {
      std::int64_t* row = rows + std::size_t{r} * wide;
      copy_rows(row, Index::rows_of(word) + std::size_t{r} * index->stride, 1, index->stride);
      std::fill_n(reinterpret_cast<double*>(row + offset), kSideWords, std::numeric_limits<double>::quiet_NaN());
    }
    replaced.push_back(word);
  }
  next->end.store(live);
  publish_index(next.release(), retired);
  for (const std::uintptr_t word : replaced) retire_rows(word, retired);
}

}  // namespace armillary
