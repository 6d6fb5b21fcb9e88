#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "armillary/math/transform.hpp"
#include "armillary/series/epoch.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary {

/// What a series remembers.
struct Retention {
  Duration history{10'000'000'000};
  std::size_t max_samples = 0;  ///< 0: bounded by `history` alone
  double thin_m = 0.0;          ///< with thin_rad: drop older samples that interpolation reproduces this well
  double thin_rad = 0.0;        ///< both 0: keep every sample

  [[nodiscard]] bool thins() const { return thin_m > 0.0 || thin_rad > 0.0; }
  friend bool operator==(const Retention&, const Retention&) = default;
};

/// One stored row: its stamp, then `width` values, then the side column where the series has one.
struct Row {
  const std::int64_t* words = nullptr;
  const double* side = nullptr;  ///< Series::kSideWords values, or null where the series has no side column

  explicit operator bool() const { return words != nullptr; }
  [[nodiscard]] std::int64_t stamp_ns() const { return words[0]; }
  [[nodiscard]] const double* values() const { return reinterpret_cast<const double*>(words + 1); }
};

class Series;

/// What tells how the poses of a series move between its rows: twists, and where on the moving body they are measured.
struct Guide {
  std::shared_ptr<const Series> twists{};
  Transform own_T_head{};
  bool is_reverse = false;  ///< they move the parent against the frame

  friend bool operator==(const Guide&, const Guide&) = default;
};

/// Instants between two rows at which others were given that are not here: they were lost, or nobody took them. Nothing is
/// interpolated across. Without an end (`never`), the coverage of the series has ended.
struct Gap {
  Stamp from, to;

  [[nodiscard]] bool has(Stamp at) const { return from < at && at < to; }
  friend bool operator==(const Gap&, const Gap&) = default;
};
using Gaps = std::vector<Gap>;  // in order, and apart

/// The two rows around an instant. `before.stamp <= t < after.stamp`; either may be missing.
struct Bracket {
  Row before, after;
  bool is_cut = false;  ///< the instant is in a gap: there is no `after` then
};

/// Rows in time: sorted by stamp, one row a stamp, oldest forgotten.
///
/// Rows live in sorted chunks of up to `kChunkRows`, more after late inserts into a long series. A chunk's address and row count
/// share one atomic word, so a reader takes both at once. Appending writes the free row behind the last one and then publishes
/// the count; everything else replaces a chunk by a changed copy. Rows are never modified after publication. Readers hold a Pin,
/// never wait and never retry. One writer at a time (the forest's lock).
///
/// Find: O(1) for regular stamps, O(log n) always. Append: O(1). Late insert: one chunk is copied, now and then
/// the index.
class alignas(64) Series {
 public:
  static constexpr std::uint32_t kChunkRows = 128;
  static constexpr std::uint32_t kMostChunkRows = 254;  // after late inserts into a long series; a count has eight bits
  static constexpr std::uint32_t kSideWords = 21;

  Series(std::uint32_t width, Retention retention);
  ~Series();
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;

  // -- Writing. The caller holds the writer lock.

  enum class Inserted { appended, late, replaced };

  /// A row with this stamp is replaced. `side` is null or kSideWords values (NaN first: unknown).
  Inserted insert(Stamp stamp, std::span<const double> values, const double* side, RetireList& retired);

  /// Appends strictly increasing rows, all newer than the newest, which was given: the fast lane of bulk loading.
  void append(std::span<const std::int64_t> stamps, const double* values, RetireList& retired);

  /// Forgets what is older than `floor`; the newest row always stays.
  void forget_before(Stamp floor, RetireList& retired);

  /// For an empty series: it had rows, and all of them were older than `floor`.
  void begin_forgotten(Stamp floor) { floor_ns_.store(floor.ns); }
  [[nodiscard]] bool is_forgotten() const { return empty() && floor_ns_.load() != Stamp::always().ns; }

  /// Inserts a row that was computed from other data, and not given: newer than all that were. What is given later
  /// takes the place of what was computed there, and of everything computed between it and another that was given.
  void insert_computed(Stamp stamp, std::span<const double> values, const double* side, RetireList& retired);

  /// Where others were given than are here, instead of what was set before.
  void set_gaps(const Gaps& gaps, RetireList& retired);

  /// Null: rows are interpolated.
  void set_guide(std::unique_ptr<const Guide> guide, RetireList& retired);

  void set_retention(const Retention& retention, RetireList& retired);
  [[nodiscard]] const Retention& retention() const { return retention_; }

  // -- Reading. The caller holds a Pin (or the writer lock).

  /// Where a row probably is: computed first for all edges of a path, so that memory is fetched in parallel.
  struct Probe {
    const std::int64_t* rows = nullptr;
    std::uint32_t count = 0;
    std::uint32_t guess = 0;
    std::uint32_t stride = 0;
    const void* index = nullptr;
    std::uint32_t entry = 0;
    std::int64_t floor_ns = 0;
    const Gaps* gaps = nullptr;
  };

  /// What probing reads once for a series, however many instants follow.
  class Reader;

  [[nodiscard]] Probe probe(Stamp at) const;
  void probe(Stamp at, Probe& out) const;  ///< the same, in place
  /// Fetches what `probe` will read, for callers with many series at hand.
  void prefetch() const { __builtin_prefetch(index_.load(std::memory_order_relaxed)); }
  /// Rows older than the floor are never returned.
  [[nodiscard]] static Bracket settle(const Probe& probe, Stamp at);
  [[nodiscard]] Bracket bracket(Stamp at) const { return settle(probe(at), at); }
  [[nodiscard]] std::pair<Bracket, Bracket> brackets(Stamp first, Stamp second) const;

  /// What tells how it moves between rows; null where nothing does.
  [[nodiscard]] const Guide* guide() const { return guide_.load(); }

  /// The gap that an instant is in; null where it is in none.
  [[nodiscard]] const Gap* gap_at(Stamp at) const { return find_gap(gaps_.load(std::memory_order_acquire), at); }
  /// Whether its coverage has ended before an instant: what was given for then is not here, and may come.
  [[nodiscard]] bool has_ended_before(Stamp at) const {
    const Gaps* gaps = gaps_.load(std::memory_order_acquire);
    return gaps != nullptr && gaps->back().to == Stamp::never() && gaps->back().from < at;
  }
  [[nodiscard]] bool has_ended() const { return has_ended_before(Stamp::never()); }

  /// Rows older than this do not exist any more.
  [[nodiscard]] Stamp floor() const { return {floor_ns_.load(std::memory_order_acquire)}; }
  [[nodiscard]] bool empty() const { return newest_ns_.load(std::memory_order_acquire) == Stamp::always().ns; }
  /// `Stamp::always()` when empty.
  [[nodiscard]] Stamp newest() const { return {newest_ns_.load(std::memory_order_acquire)}; }
  /// Whether a row of this stamp was computed, if there is one.
  [[nodiscard]] bool is_computed(Stamp stamp) const;
  /// Newest stamp of a row that was given; computed ones follow.
  [[nodiscard]] Stamp newest_given() const { return holds_computed() ? Stamp{given_until_ns_.load()} : newest(); }
  /// Whether the value at `at` rests on a computed row: on the one there, or else on one of the two around it.
  [[nodiscard]] bool rests_on_computed(Stamp at) const;
  [[nodiscard]] Row first_row() const;
  [[nodiscard]] Row last_row() const;
  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t width() const { return width_; }

  /// Calls `visit(Row)` for every remembered row with `from <= stamp <= to`, oldest first; one that returns a bool ends it
  /// with false.
  template <typename Visit>
  void for_each(Stamp from, Stamp to, Visit visit) const;

 private:
  struct Entry;
  struct Index;
  struct Spot;
  class Draft;

  [[nodiscard]] static const Gap* find_gap(const Gaps* gaps, Stamp at);
  static void cut(const Gaps& gaps, Stamp at, Bracket& bracket);
  [[nodiscard]] bool has_side() const;
  [[nodiscard]] std::uint32_t stride_for(bool with_side) const;

  Inserted put(Stamp stamp, std::span<const double> values, const double* side, RetireList& retired);
  void append_row(std::int64_t stamp_ns, const double* values, const double* side, RetireList& retired);
  void grow_tail(RetireList& retired);
  void start_chunk(std::int64_t stamp_ns, const double* values, const double* side, RetireList& retired);
  void insert_beside(const Spot& spot, std::int64_t stamp_ns, const double* values, const double* side, RetireList& retired);
  void split(const Spot& spot, std::int64_t stamp_ns, const double* values, const double* side, RetireList& retired);
  void publish_chunk(std::uint32_t entry, std::int64_t* rows, std::uint32_t count, RetireList& retired);
  void publish_index(Index* next, RetireList& retired);
  void drop_forgotten(RetireList& retired);
  void drop_first_chunk(RetireList& retired);
  void add_side_column(RetireList& retired);
  void make_room_in_index(RetireList& retired);
  void write_row(std::int64_t* row, std::int64_t stamp_ns, const double* values, const double* side) const;
  void expire_by_age(RetireList& retired);
  void expire_by_count(RetireList& retired);
  void forget_oldest(RetireList& retired);
  void thin_tail(RetireList& retired);
  void join_tail_to_previous(RetireList& retired);
  [[nodiscard]] Spot find(std::int64_t stamp_ns) const;
  [[nodiscard]] bool holds_computed() const { return given_until_ns_.load(std::memory_order_relaxed) != Stamp::never().ns; }
  void count_as_given(Stamp stamp, RetireList& retired);
  void erase_between(Stamp first, Stamp last, RetireList& retired);

  std::atomic<Index*> index_{nullptr};
  std::atomic<std::int64_t> floor_ns_;
  std::atomic<std::int64_t> newest_ns_;
  // Rows outside were computed, from those that are forgotten or from the last; at first all rows were given.
  std::atomic<std::int64_t> given_from_ns_{Stamp::always().ns}, given_until_ns_{Stamp::never().ns};
  std::atomic<std::size_t> size_{0};
  std::atomic<const Guide*> guide_{nullptr};
  std::atomic<const Gaps*> gaps_{nullptr};  // null: none
  // Below: the writer's own.
  std::uint32_t width_;
  std::uint32_t tail_capacity_ = 0;
  std::uint32_t forgotten_ = 0;  // rows of the first chunk that are older than the floor
  Retention retention_;
};

}  // namespace armillary

#include "armillary/series/series_index.hpp"
