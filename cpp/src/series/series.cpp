#include "armillary/series/series.hpp"

#include <limits>

#include "series/series_rows.hpp"

namespace armillary {

namespace {

constexpr std::uint32_t kFirstChunkRows = 8;
constexpr std::uint32_t kLongIndex = 256;  // chunks

}  // namespace

Series::Series(std::uint32_t width, Retention retention)
    : floor_ns_(Stamp::always().ns), newest_ns_(Stamp::always().ns), width_(width), retention_(retention) {}

Series::~Series() {
  delete guide_.load();
  delete gaps_.load();
  const Index* index = index_.load();
  if (index == nullptr) return;
  for (std::uint32_t i = index->begin; i < index->end; ++i)
    std::free(const_cast<std::int64_t*>(Index::rows_of(index->entries[i].word)));
  Index::destroy(const_cast<Index*>(index));
}

void Series::set_guide(std::unique_ptr<const Guide> guide, RetireList& retired) {
  const Guide* const before = guide_.exchange(guide.release());
  if (before != nullptr) retired.retire(before);
}

// -- Gaps

void Series::set_gaps(const Gaps& gaps, RetireList& retired) {
  const Gaps* const before = gaps_.exchange(gaps.empty() ? nullptr : new Gaps(gaps));
  if (before != nullptr) retired.retire(before);
}

const Gap* Series::find_gap(const Gaps* gaps, Stamp at) {
  if (gaps == nullptr) return nullptr;
  const auto found =
      std::ranges::find_if(*gaps, [at](const Gap& gap) { return gap.has(at) || (gap.to == at && at == Stamp::never()); });
  return found == gaps->end() ? nullptr : &*found;
}

void Series::cut(const Gaps& gaps, Stamp at, Bracket& bracket) {
  const bool is_exact = bracket.before && bracket.before.stamp_ns() == at.ns;
  if (is_exact || find_gap(&gaps, at) == nullptr) return;
  bracket.after = {};
  bracket.is_cut = true;
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
  if (Index::count_of(word) >= kChunkRows) return start_chunk(stamp_ns, values, side, retired);
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

// -- Late rows

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
  // A split copies the index: where that is long, chunks are filled further first.
  const std::uint32_t most = index->end - index->begin > kLongIndex ? kMostChunkRows : kChunkRows;
  if (!spot.exact && count >= most) return split(spot, stamp_ns, values, side, retired);
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
  const std::uint32_t right = total - left, right_capacity = is_tail ? std::max(kChunkRows, right) : right;
  if (is_tail) tail_capacity_ = right_capacity;
  put(at, 0, left, left);
  put(at + 1, left, right, right_capacity);
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

// -- Computed rows

bool Series::is_computed(Stamp stamp) const {
  return stamp.ns < given_from_ns_.load(std::memory_order_acquire) || stamp.ns > given_until_ns_.load(std::memory_order_acquire);
}

bool Series::rests_on_computed(Stamp at) const {
  if (!holds_computed()) return false;
  const auto [before, after, is_cut] = bracket(at);
  if (before && is_computed({before.stamp_ns()})) return true;
  const bool is_exact = before && before.stamp_ns() == at.ns;
  return !is_exact && after && is_computed({after.stamp_ns()});
}

void Series::insert_computed(Stamp stamp, std::span<const double> values, const double* side, RetireList& retired) {
  if (stamp < floor()) return;
  if (!holds_computed()) given_until_ns_.store(newest().ns);  // first: no reader must take the row for one that was given
  put(stamp, values, side, retired);
  expire_by_age(retired);
  expire_by_count(retired);
}

/// What was computed between two given rows gives way. Where no other is left, what follows from those that are
/// forgotten stays: it is all that is known of that time.
void Series::count_as_given(Stamp stamp, RetireList& retired) {
  const Stamp from{given_from_ns_.load(std::memory_order_relaxed)}, until{given_until_ns_.load(std::memory_order_relaxed)};
  const bool is_only = until == Stamp::always() || until < floor();
  if (!is_only && stamp > until) erase_between(until, stamp, retired);
  if (!is_only && stamp < from) erase_between(stamp, from, retired);
  if (is_only || stamp < from) given_from_ns_.store(stamp.ns);
  if (is_only || stamp > until) given_until_ns_.store(stamp.ns);
}

/// Between two rows that stay, so that readers find every instant covered as before.
void Series::erase_between(Stamp first, Stamp last, RetireList& retired) {
  const Row next = bracket(first).after;
  if (!next || next.stamp_ns() >= last.ns) return;
  drop_forgotten(retired);
  const Index* index = index_.load();
  const std::uint32_t live = index->end - index->begin, stride = index->stride;
  Draft draft(Index::make(stride, index->side_offset, live + 4));
  std::vector<std::uintptr_t> replaced;
  std::uint32_t made = 0;
  std::size_t erased = 0;
  for (std::uint32_t i = index->begin; i < index->end; ++i) {
    const std::uintptr_t word = index->entries[i].word;
    const std::uint32_t count = Index::count_of(word);
    const auto remains = [&](std::uint32_t row) {
      const std::int64_t stamp_ns = index->row(word, row).stamp_ns();
      return stamp_ns <= first.ns || stamp_ns >= last.ns;
    };
    std::vector<std::uint32_t> kept;
    for (std::uint32_t row = 0; row < count; ++row)
      if (remains(row)) kept.push_back(row);
    if (kept.size() == count) {
      draft->entries[made].first_ns.store(index->entries[i].first_ns.load());
      draft->entries[made++].word.store(word);
      continue;
    }
    replaced.push_back(word);
    erased += count - kept.size();
    if (kept.empty()) continue;
    const auto left = static_cast<std::uint32_t>(kept.size());
    std::int64_t* rows = draft.add_chunk(made++, left, left, index->row(word, kept.front()).stamp_ns());
    for (std::uint32_t to = 0; to < left; ++to)
      copy_rows(rows + std::size_t{to} * stride, index->row(word, kept[to]).words, 1, stride);
    if (i + 1 == index->end) tail_capacity_ = left;
  }
  draft->end.store(made);
  publish_index(draft.release(), retired);
  for (const std::uintptr_t word : replaced) retire_rows(word, retired);
  size_.store(size() - erased, std::memory_order_relaxed);
}

}  // namespace armillary
