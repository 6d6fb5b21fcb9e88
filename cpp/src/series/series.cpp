#include "armillary/series/series.hpp"

#include <limits>

#include "series/series_rows.hpp"

namespace armillary {

namespace {

constexpr std::uint32_t kFirstChunkRows = 8;

}  // namespace

Series::Series(std::uint32_t width, Retention retention)
    : floor_ns_(Stamp::always().ns), newest_ns_(Stamp::always().ns), width_(width), retention_(retention) {}

Series::~Series() {
  const Index* index = index_.load();
  if (index == nullptr) return;
  for (std::uint32_t i = index->begin; i < index->end; ++i)
    std::free(const_cast<std::int64_t*>(Index::rows_of(index->entries[i].word)));
  Index::destroy(const_cast<Index*>(index));
}

bool Series::has_side() const {
  const Index* index = index_.load();
  return index != nullptr && index->side_offset != 0;
}

std::uint32_t Series::stride_for(bool with_side) const {
  const std::uint32_t words = 1 + width_ + (with_side ? kSideWords : 0);
  return with_side ? (words + 7) / 8 * 8 : words;
}

void Series::write_row(std::int64_t* row, std::int64_t stamp_ns, const double* values, const double* side) const {
  row[0] = stamp_ns;
  std::memcpy(row + 1, values, width_ * sizeof(double));
  if (!has_side()) return;
  auto* column = reinterpret_cast<double*>(row + 1 + width_);
  if (side != nullptr) {
    std::memcpy(column, side, kSideWords * sizeof(double));
  } else {
    std::fill_n(column, kSideWords, std::numeric_limits<double>::quiet_NaN());
  }
}

void Series::publish_index(Index* next, RetireList& retired) {
  const Index* previous = index_.load();
  index_.store(next);
  if (previous != nullptr) retired.add(const_cast<Index*>(previous), &Index::destroy);
}

void Series::publish_chunk(std::uint32_t entry, std::int64_t* rows, std::uint32_t count, RetireList& retired) {
  Entry& slot = index_.load()->entries[entry];
  const std::uintptr_t previous = slot.word.load(std::memory_order_relaxed);
  slot.word.store(chunk_word(rows, count));
  retire_rows(previous, retired);
}

void Series::make_room_in_index(RetireList& retired) {
  const Index* index = index_.load();
  const std::uint32_t side = has_side() ? 1 + width_ : 0;
  if (index == nullptr) return publish_index(Index::make(stride_for(false), side, 4), retired);
  if (index->end < index->capacity) return;
  const std::uint32_t live = index->end - index->begin;
  auto* next = Index::make(index->stride, side, 2 * live + 2);
  for (std::uint32_t i = 0; i < live; ++i) {
    next->entries[i].first_ns.store(index->entries[index->begin + i].first_ns.load());
    next->entries[i].word.store(index->entries[index->begin + i].word.load());
  }
  next->end.store(live);
  publish_index(next, retired);
}

// -- Appending

Series::Inserted Series::insert(Stamp stamp, std::span<const double> values, const double* side, RetireList& retired) {
  if (stamp < floor()) return Inserted::late;  // already forgotten; the forest refuses it with a reason
  const Inserted how = put(stamp, values, side, retired);
  expire_by_age(retired);
  if (holds_computed()) count_as_given(stamp, retired);
  expire_by_count(retired);
  return how;
}

Series::Inserted Series::put(Stamp stamp, std::span<const double> values, const double* side, RetireList& retired) {
  if (side != nullptr && !has_side()) add_side_column(retired);
  if (stamp > newest()) {
    append_row(stamp.ns, values.data(), side, retired);
    return Inserted::appended;
  }
  drop_forgotten(retired);
  const Spot spot = find(stamp.ns);
  insert_beside(spot, stamp.ns, values.data(), side, retired);
  return spot.exact ? Inserted::replaced : Inserted::late;
}

void Series::append(std::span<const std::int64_t> stamps, const double* values, RetireList& retired) {
  for (const std::int64_t stamp_ns : stamps) {
    append_row(stamp_ns, values, nullptr, retired);
    values += width_;
  }
  if (stamps.empty()) return;
  if (holds_computed()) given_until_ns_.store(stamps.back());
  expire_by_age(retired);
  expire_by_count(retired);
}

void Series::append_row(std::int64_t stamp_ns, const double* values, const double* side, RetireList& retired) {
  const Index* index = index_.load(std::memory_order_relaxed);
  if (index == nullptr || index->begin.load(std::memory_order_relaxed) == index->end.load(std::memory_order_relaxed))
    return start_chunk(stamp_ns, values, side, retired);
  std::uintptr_t word = index->entries[index->end - 1].word.load(std::memory_order_relaxed);
  if (Index::count_of(word) == kChunkRows) return start_chunk(stamp_ns, values, side, retired);
  if (Index::count_of(word) == tail_capacity_) {
    grow_tail(retired);
    word = index->entries[index->end - 1].word.load(std::memory_order_relaxed);
  }
  auto* rows = const_cast<std::int64_t*>(Index::rows_of(word));
  write_row(rows + std::size_t{Index::count_of(word)} * index->stride, stamp_ns, values, side);
  index->entries[index->end - 1].word.store(word + 1, std::memory_order_release);
  newest_ns_.store(stamp_ns, std::memory_order_release);
  size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Series::grow_tail(RetireList& retired) {
  const Index* index = index_.load();
  const std::uint32_t entry = index->end - 1;
  const std::uintptr_t word = index->entries[entry].word;
  const std::uint32_t count = Index::count_of(word);
  const std::uint32_t capacity = std::min(2 * count, kChunkRows);
  std::int64_t* rows = allocate_rows(capacity, index->stride);
  tail_capacity_ = capacity;
  copy_rows(rows, Index::rows_of(word), count, index->stride);
  publish_chunk(entry, rows, count, retired);
}

void Series::start_chunk(std::int64_t stamp_ns, const double* values, const double* side, RetireList& retired) {
  if (size() > 0 && retention_.thins()) thin_tail(retired);
  make_room_in_index(retired);
  Index* index = index_.load();
  const std::uint32_t entry = index->end;
  const std::uint32_t capacity = size() < kChunkRows ? kFirstChunkRows : kChunkRows;
  std::int64_t* rows = allocate_rows(capacity, index->stride);
  tail_capacity_ = capacity;
  write_row(rows, stamp_ns, values, side);
  index->entries[entry].first_ns.store(stamp_ns);
  index->entries[entry].word.store(chunk_word(rows, 1));
  index->end.store(entry + 1);
  newest_ns_.store(stamp_ns, std::memory_order_release);
  size_.store(size() + 1, std::memory_order_relaxed);
}

// -- Reading

Row Series::first_row() const {
  Row first;
  const std::int64_t floor = floor_ns_.load(std::memory_order_acquire);
  const Index* index = index_.load();
  if (index == nullptr) return first;
  const std::uint32_t end = index->end.load(std::memory_order_acquire);
  for (std::uint32_t entry = index->begin; entry < end && !first; ++entry) {
    const std::uintptr_t word = index->entries[entry].word.load();
    for (std::uint32_t i = 0; i < Index::count_of(word) && !first; ++i)
      if (index->row(word, i).stamp_ns() >= floor) first = index->row(word, i);
  }
  return first;
}

Row Series::last_row() const {
  const Index* index = index_.load();
  if (index == nullptr) return {};
  const std::uint32_t end = index->end.load(std::memory_order_acquire);
  if (index->begin == end) return {};
  const std::uintptr_t word = index->entries[end - 1].word.load();
  return index->row(word, Index::count_of(word) - 1);
}

}  // namespace armillary
