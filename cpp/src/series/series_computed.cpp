// Rows that were computed from other data: they follow the newest row that was said, until one is said behind them.

#include "series/series_rows.hpp"

namespace armillary {

bool Series::is_computed(Stamp stamp) const {
  return stamp.ns < given_from_ns_.load(std::memory_order_acquire) || stamp.ns > given_until_ns_.load(std::memory_order_acquire);
}

bool Series::rests_on_computed(Stamp at) const {
  if (!holds_computed()) return false;
  const auto [before, after] = bracket(at);
  if (before && is_computed({before.stamp_ns()})) return true;
  const bool is_exact = before && before.stamp_ns() == at.ns;
  return !is_exact && after && is_computed({after.stamp_ns()});
}

void Series::insert_computed(Stamp stamp, std::span<const double> values, const double* side, RetireList& retired) {
  if (stamp < floor()) return;
  if (!holds_computed()) given_until_ns_.store(newest().ns);  // first: nobody must take the row for one that was said
  put(stamp, values, side, retired);
  expire_by_age(retired);
  expire_by_count(retired);
}

/// What was computed between two said rows gives way. Where no other is left, what follows from those that are
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
