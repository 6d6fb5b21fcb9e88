#include "armillary/graph/sample_tap.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace armillary {

void SampleTap::add(SampleKind kind, std::uint32_t id, Stamp at, const SampleBase& base, std::span<const double> values,
                    std::span<const double> side, bool is_held) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (is_closed()) return;
  if (ready_.bytes() + held_.bytes() >= max_bytes_) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Rows& rows = is_held ? held_ : ready_;
  const bool wakes = !is_held && rows.entries.empty();
  rows.entries.push_back({kind, id, static_cast<std::uint32_t>(values.size() + side.size()), at.ns, base});
  rows.values.insert(rows.values.end(), values.begin(), values.end());
  rows.values.insert(rows.values.end(), side.begin(), side.end());
  if (wakes) came_.notify_all();
}

void SampleTap::end_held(bool passed) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (held_.entries.empty()) return;
  Rows held = std::exchange(held_, {});
  if (!passed) return;
  ready_.entries.insert(ready_.entries.end(), held.entries.begin(), held.entries.end());
  ready_.values.insert(ready_.values.end(), held.values.begin(), held.values.end());
  came_.notify_all();
}

std::vector<SampleBatch> SampleTap::drain() {
  Rows rows;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    std::swap(rows, ready_);
    ready_.entries.reserve(rows.entries.size());  // as much will come until the next time
    ready_.values.reserve(rows.values.size());
  }
  std::vector<SampleBatch> batches;
  std::map<std::tuple<SampleKind, std::uint32_t, std::uint32_t, SampleBase>, std::size_t> places;
  const double* values = rows.values.data();
  std::size_t next = 0;  // mostly the same series follow one another in the same order
  const auto is_of = [](const SampleBatch& batch, const Entry& entry) {
    return batch.id == entry.id && batch.kind == entry.kind && batch.width == entry.width && batch.base == entry.base;
  };
  for (const Entry& entry : rows.entries) {
    if (next > 0 && is_of(batches[next - 1], entry)) --next;
    if (next >= batches.size()) next = 0;
    if (batches.empty() || !is_of(batches[next], entry)) {
      const auto [place, is_new] = places.try_emplace({entry.kind, entry.id, entry.width, entry.base}, batches.size());
      if (is_new) batches.push_back({entry.kind, entry.id, entry.width, entry.base});
      next = place->second;
    }
    SampleBatch& batch = batches[next++];
    batch.stamps.push_back(entry.stamp_ns);
    batch.rows.insert(batch.rows.end(), values, values + entry.width);
    values += entry.width;
  }
  return batches;
}

bool SampleTap::wait(double timeout_s) {
  std::unique_lock<std::mutex> guard(mutex_);
  const auto is_there = [this] { return !ready_.entries.empty() || is_closed(); };
  if (timeout_s < 0)
    came_.wait(guard, is_there);
  else
    came_.wait_for(guard, std::chrono::duration<double>(std::min(timeout_s, 1e6)), is_there);
  return !ready_.entries.empty();
}

void SampleTap::close() {
  const std::lock_guard<std::mutex> guard(mutex_);
  is_closed_ = true;
  came_.notify_all();
}

}  // namespace armillary
