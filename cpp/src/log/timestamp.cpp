#include "armillary/log/timestamp.hpp"

#include <algorithm>

#include "armillary/detail/sha256.hpp"

namespace armillary::log {

namespace {

/// Whether one range covers all from `first` to `last`.
bool covers(const VersionVector::Ranges& ranges, std::uint64_t first, std::uint64_t last) {
  const auto after = ranges.upper_bound(first);
  return after != ranges.begin() && std::prev(after)->second >= last;
}

}  // namespace

bool VersionVector::contains(const Dot& dot) const {
  const auto found = entries_.find(dot.author);
  return found != entries_.end() && covers(found->second, dot.sequence, dot.sequence);
}

bool VersionVector::contains(const VersionVector& other) const {
  return std::ranges::all_of(other.entries_, [this](const auto& entry) {
    const auto own = entries_.find(entry.first);
    return own != entries_.end() &&
           std::ranges::all_of(entry.second, [&](const auto& range) { return covers(own->second, range.first, range.second); });
  });
}

void VersionVector::add(std::uint64_t author, std::uint64_t first, std::uint64_t last) {
  Ranges& ranges = entries_[author];
  auto next = ranges.upper_bound(first);
  const bool follows = next == ranges.end() && !ranges.empty() && ranges.rbegin()->second + 1 == first;
  if (follows) {  // the usual case
    ranges.rbegin()->second = last;
    return;
  }
  if (next != ranges.begin() && std::prev(next)->second + 1 >= first) {
    --next;
    first = next->first;
  }
  while (next != ranges.end() && next->first <= last + 1) {
    last = std::max(last, next->second);
    next = ranges.erase(next);
  }
  ranges.emplace(first, last);
}

void VersionVector::add(const VersionVector& other) {
  for (const auto& [author, ranges] : other.entries_)
    for (const auto& [first, last] : ranges) add(author, first, last);
}

void VersionVector::join_oldest(std::size_t most) {
  for (auto& [author, ranges] : entries_) {
    if (ranges.size() <= 2 * most) continue;
    const auto end = std::next(ranges.begin(), static_cast<std::ptrdiff_t>(ranges.size() - most));
    const std::uint64_t last = std::prev(end)->second;
    ranges.erase(std::next(ranges.begin()), end);
    ranges.begin()->second = last;
  }
}

VersionVector VersionVector::of(std::uint64_t author) const {
  VersionVector one;
  if (const auto found = entries_.find(author); found != entries_.end()) one.entries_.insert(*found);
  return one;
}

std::uint64_t VersionVector::newest(std::uint64_t author) const {
  const auto found = entries_.find(author);
  return found == entries_.end() ? 0 : found->second.rbegin()->second;
}

HybridTimestamp HybridClock::next(std::int64_t wall_ns) {
  newest_ = wall_ns > newest_.wall_ns ? HybridTimestamp{wall_ns, 0} : HybridTimestamp{newest_.wall_ns, newest_.count + 1};
  return newest_;
}

std::uint64_t author_key(std::string_view name, std::uint64_t bearer) {
  Sha256 hash;
  hash.add(bearer);
  hash.add(name);
  const Digest digest = hash.finish();
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < 8; ++i) key = key << 8 | digest[i];
  return key;
}

}  // namespace armillary::log
