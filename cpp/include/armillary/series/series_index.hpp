#pragma once

// How a Series keeps its chunks; included by series.hpp so that searching is inlined.

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>

namespace armillary {

/// One chunk: a lower bound of its stamps (above those of the chunk before), and its rows.
struct Series::Entry {
  std::atomic<std::int64_t> first_ns{0};
  std::atomic<std::uintptr_t> word{0};  // address of the rows | row count: chunks are aligned to 256 bytes
};

/// The chunks in order. Entries [begin, end) are in use; only the writer moves the two.
/// One block of memory: a short index is read with one cache miss.
struct Series::Index {
  std::uint32_t stride;       // words a row
  std::uint32_t side_offset;  // words from the start of a row to its side column; 0: none
  std::uint32_t capacity;
  std::atomic<std::uint32_t> begin{0};
  std::atomic<std::uint32_t> end{0};
  Entry* entries;

  static constexpr std::size_t kAlignment = 64;

  static Index* make(std::uint32_t stride, std::uint32_t side_offset, std::uint32_t capacity) {
    void* memory = ::operator new(sizeof(Index) + capacity * sizeof(Entry), std::align_val_t{kAlignment});
    return new (memory) Index(stride, side_offset, capacity);
  }
  static void destroy(void* index) { ::operator delete(index, std::align_val_t{kAlignment}); }
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  [[nodiscard]] Row row(const std::int64_t* words) const {
    return {words, side_offset == 0 ? nullptr : reinterpret_cast<const double*>(words + side_offset)};
  }
  [[nodiscard]] Row row(std::uintptr_t word, std::uint32_t i) const { return row(rows_of(word) + std::size_t{i} * stride); }

  static constexpr std::uintptr_t kCountMask = 255;

 private:
  Index(std::uint32_t stride_words, std::uint32_t side_offset_words, std::uint32_t entry_capacity)
      : stride(stride_words),
        side_offset(side_offset_words),
        capacity(entry_capacity),
        entries(reinterpret_cast<Entry*>(this + 1)) {
    std::uninitialized_default_construct_n(entries, capacity);
  }

 public:
  [[nodiscard]] static const std::int64_t* rows_of(std::uintptr_t word) {
    return reinterpret_cast<const std::int64_t*>(word & ~kCountMask);
  }
  [[nodiscard]] static std::uint32_t count_of(std::uintptr_t word) { return static_cast<std::uint32_t>(word & kCountMask); }
};

namespace detail {

/// Largest i in [low, high) with key(i) <= at, given that low qualifies; starts looking at `guess`.
template <typename Key>
inline std::uint32_t last_not_after(std::uint32_t low, std::uint32_t high, std::uint32_t guess, std::int64_t at, Key key) {
  std::uint32_t step = 1;
  if (key(guess) <= at) {
    low = guess;
    while (low + step < high && key(low + step) <= at) {
      low += step;
      step *= 2;
    }
    high = std::min(high, low + step);
  } else {
    high = guess;
    while (high > low + step && key(high - step) > at) {
      high -= step;
      step *= 2;
    }
    low = high > low + step ? high - step : low;
  }
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (key(middle) <= at ? low : high) = middle;
  }
  return low;
}

}  // namespace detail

class Series::Reader {
 public:
  explicit Reader(const Series& series)
      : floor_ns_(series.floor_ns_.load(std::memory_order_acquire)),
        index_(series.index_.load()),
        gaps_(series.gaps_.load(std::memory_order_acquire)) {
    if (index_ == nullptr) return;
    begin_ = index_->begin.load();
    end_ = index_->end.load(std::memory_order_acquire);
    if (begin_ == end_) return;
    newest_ns_ = series.newest_ns_.load(std::memory_order_relaxed);
    low_ns_ = first_of(begin_);
    high_ns_ = first_of(end_ - 1);
    if (high_ns_ > low_ns_) entries_a_ns_ = static_cast<double>(end_ - 1 - begin_) / static_cast<double>(high_ns_ - low_ns_);
  }

  /// Writes field by field into `out`: a Probe that is built aside and copied stalls, its narrow stores read back wide.
  void probe(Stamp at, Probe& out) const {
    out.rows = nullptr;
    out.gaps = gaps_;
    if (begin_ == end_) return;
    const std::uint32_t entry = entry_of(at.ns);
    const std::uintptr_t word = index_->entries[entry].word.load();
    const std::int64_t* rows = Index::rows_of(word);
    const std::uint32_t count = Index::count_of(word), stride = index_->stride, guess = guess_row(entry, count, at.ns);
    __builtin_prefetch(rows + std::size_t{guess} * stride);
    __builtin_prefetch(rows + std::size_t{guess + 1} * stride);
    out.rows = rows;
    out.count = count;
    out.guess = guess;
    out.stride = stride;
    out.index = index_;
    out.entry = entry;
    out.floor_ns = floor_ns_;
  }

  [[nodiscard]] Probe probe(Stamp at) const {
    Probe made;
    probe(at, made);
    return made;
  }

 private:
  [[nodiscard]] std::int64_t first_of(std::uint32_t entry) const {
    return index_->entries[entry].first_ns.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint32_t entry_of(std::int64_t at_ns) const {
    if (at_ns >= high_ns_) return end_ - 1;
    if (at_ns <= low_ns_) return begin_;
    const std::uint32_t guess = begin_ + static_cast<std::uint32_t>(static_cast<double>(at_ns - low_ns_) * entries_a_ns_);
    return detail::last_not_after(begin_, end_, std::min(guess, end_ - 1), at_ns,
                                  [this](std::uint32_t entry) { return first_of(entry); });
  }

  [[nodiscard]] std::uint32_t guess_row(std::uint32_t entry, std::uint32_t count, std::int64_t at_ns) const {
    const bool is_tail = entry + 1 == end_;  // its rows end at the newest, others just before the next chunk
    const std::int64_t low = first_of(entry), high = is_tail ? newest_ns_ : first_of(entry + 1);
    if (at_ns <= low || at_ns >= high) return count - 1;
    const double done = static_cast<double>(at_ns - low) / static_cast<double>(high - low);
    return std::min(static_cast<std::uint32_t>(done * static_cast<double>(is_tail ? count - 1 : count)), count - 1);
  }

  std::int64_t floor_ns_;
  const Index* index_;
  const Gaps* gaps_;
  std::uint32_t begin_ = 0, end_ = 0;
  std::int64_t newest_ns_ = 0, low_ns_ = 0, high_ns_ = 0;
  double entries_a_ns_ = 0.0;
};

inline Series::Probe Series::probe(Stamp at) const { return Reader(*this).probe(at); }
inline void Series::probe(Stamp at, Probe& out) const { Reader(*this).probe(at, out); }

inline std::pair<Bracket, Bracket> Series::brackets(Stamp first, Stamp second) const {
  const Reader reader(*this);
  Probe of_first, of_second;
  reader.probe(first, of_first);
  reader.probe(second, of_second);
  return {settle(of_first, first), settle(of_second, second)};
}

inline Bracket Series::settle(const Probe& probe, Stamp at) {
  Bracket bracket;
  if (probe.rows == nullptr) {
    if (probe.gaps != nullptr) cut(*probe.gaps, at, bracket);
    return bracket;
  }
  const auto* index = static_cast<const Index*>(probe.index);
  const std::int64_t* rows = probe.rows;
  const std::size_t stride = probe.stride;
  const auto stamp_of = [rows, stride](std::uint32_t i) { return rows[i * stride]; };
  const auto neighbour = [index](std::uint32_t entry, bool last) {
    const std::uintptr_t word = index->entries[entry].word.load();
    return index->row(word, last ? Index::count_of(word) - 1 : 0);
  };
  // The first row is far from the guess, and seldom worth fetching.
  if (stamp_of(probe.guess) > at.ns && stamp_of(0) > at.ns) {
    // Only when the chunk's first row went away: its lower bound is then older than its first stamp.
    bracket.after = index->row(rows);
    if (probe.entry > index->begin.load()) bracket.before = neighbour(probe.entry - 1, true);
  } else {
    const std::uint32_t i = detail::last_not_after(0, probe.count, probe.guess, at.ns, stamp_of);
    bracket.before = index->row(rows + i * stride);
    if (i + 1 < probe.count) {
      bracket.after = index->row(rows + (i + 1) * stride);
    } else if (probe.entry + 1 < index->end.load(std::memory_order_acquire)) {
      bracket.after = neighbour(probe.entry + 1, false);
    }
  }
  if (bracket.before && bracket.before.stamp_ns() < probe.floor_ns) bracket.before = {};
  if (bracket.after && bracket.after.stamp_ns() < probe.floor_ns) bracket.after = {};
  if (probe.gaps != nullptr) [[unlikely]]
    cut(*probe.gaps, at, bracket);
  return bracket;
}

template <typename Visit>
void Series::for_each(Stamp from, Stamp to, Visit visit) const {
  const Index* index = index_.load();
  if (index == nullptr) return;
  const std::int64_t low = std::max(from.ns, floor_ns_.load(std::memory_order_acquire));
  const auto go_on = [&visit](const Row& row) {
    if constexpr (std::is_same_v<decltype(visit(row)), bool>) return visit(row);
    return visit(row), true;
  };
  const std::uint32_t begin = index->begin.load(), end = index->end.load(std::memory_order_acquire);
  if (begin == end) return;
  const auto first_of = [index](std::uint32_t entry) { return index->entries[entry].first_ns.load(std::memory_order_relaxed); };
  const std::uint32_t first = first_of(begin) < low ? detail::last_not_after(begin, end, end - 1, low, first_of) : begin;
  for (std::uint32_t entry = first; entry < end; ++entry) {
    if (first_of(entry) > to.ns) return;
    const std::uintptr_t word = index->entries[entry].word.load();
    const std::int64_t* row = Index::rows_of(word);
    for (std::uint32_t i = 0; i < Index::count_of(word); ++i, row += index->stride)
      if (row[0] >= low && row[0] <= to.ns && !go_on(index->row(row))) return;
  }
}

}  // namespace armillary
