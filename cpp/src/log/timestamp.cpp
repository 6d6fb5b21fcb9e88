#include "armillary/log/timestamp.hpp"

#include <algorithm>

#include "armillary/scene/change.hpp"

namespace armillary::log {

bool VersionVector::contains(const Dot& dot) const {
  const auto found = entries_.find(dot.author);
  if (found == entries_.end()) return false;
  return dot.sequence <= found->second.upto || std::ranges::binary_search(found->second.beyond, dot.sequence);
}

bool VersionVector::contains(const VersionVector& other) const {
  return std::ranges::all_of(other.entries_, [this](const auto& entry) {
    const auto& [author, theirs] = entry;
    const auto has = [this, author](std::uint64_t sequence) { return contains(Dot{author, sequence}); };
    const auto found = entries_.find(author);
    const std::uint64_t upto = found == entries_.end() ? 0 : found->second.upto;
    for (std::uint64_t sequence = upto + 1; sequence <= theirs.upto; ++sequence)
      if (!has(sequence)) return false;  // ends at the first gap: no longer than what is held beyond it
    return std::ranges::all_of(theirs.beyond, has);
  });
}

void VersionVector::add(const Dot& dot) {
  if (contains(dot)) return;
  auto& [upto, beyond] = entries_[dot.author];
  beyond.insert(std::ranges::upper_bound(beyond, dot.sequence), dot.sequence);
  const auto gap = std::ranges::find_if(beyond, [next = upto](std::uint64_t sequence) mutable { return sequence != ++next; });
  upto += static_cast<std::uint64_t>(gap - beyond.begin());
  beyond.erase(beyond.begin(), gap);
}

void VersionVector::add(const VersionVector& other) {
  for (const auto& [author, theirs] : other.entries_) {
    Entry& own = entries_[author];
    own.upto = std::max(own.upto, theirs.upto);
    std::erase_if(own.beyond, [&own](std::uint64_t sequence) { return sequence <= own.upto; });
    std::vector<std::uint64_t> beyond = std::exchange(own.beyond, {});
    beyond.insert(beyond.end(), theirs.beyond.begin(), theirs.beyond.end());
    for (const std::uint64_t sequence : beyond) add(Dot{author, sequence});
  }
}

std::uint64_t VersionVector::newest(std::uint64_t author) const {
  const auto found = entries_.find(author);
  if (found == entries_.end()) return 0;
  return found->second.beyond.empty() ? found->second.upto : found->second.beyond.back();
}

HybridTimestamp HybridClock::next(std::int64_t wall_ns) {
  newest_ = wall_ns > newest_.wall_ns ? HybridTimestamp{wall_ns, 0} : HybridTimestamp{newest_.wall_ns, newest_.count + 1};
  return newest_;
}

std::uint64_t author_key(std::string_view name, std::uint64_t bearer) { return scene::author_key(name, bearer); }

}  // namespace armillary::log
