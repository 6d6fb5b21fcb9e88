#include "armillary/watch.hpp"

#include <algorithm>

namespace armillary {

void WatchList::add(const Watch& watch, Stamp from, Stamp to) {
  if (to == Stamp::never()) {
    const auto place = std::ranges::lower_bound(later_, from, std::ranges::greater{}, &Entry::from);
    later_.insert(place, {from, to, watch});
  } else {
    between_.push_back({from, to, watch});
  }
  refresh_hull();
}

void WatchList::remove(WaitId id) {
  const auto is_it = [id](const Entry& entry) { return entry.watch.id == id; };
  std::erase_if(later_, is_it);
  std::erase_if(between_, is_it);
  refresh_hull();
}

void WatchList::refresh_hull() {
  first_ = later_.empty() ? Stamp::never() : later_.back().from;
  last_ = later_.empty() ? Stamp::always() : Stamp::never();
  for (const Entry& entry : between_) {
    first_ = std::min(first_, entry.from);
    last_ = std::max(last_, entry.to);
  }
}

void WatchList::fire(Stamp stamp) {
  while (!later_.empty() && later_.back().from <= stamp) {
    later_.back().watch.watcher->wake(later_.back().watch.id);
    later_.pop_back();
  }
  std::erase_if(between_, [stamp](const Entry& entry) {
    const bool concerned = entry.from <= stamp && stamp <= entry.to;
    if (concerned) entry.watch.watcher->wake(entry.watch.id);
    return concerned;
  });
  refresh_hull();
}

void WatchList::fire_all() {
  for (const auto* list : {&later_, &between_})
    for (const Entry& entry : *list) entry.watch.watcher->wake(entry.watch.id);
  later_.clear();
  between_.clear();
  refresh_hull();
}

void StructureWatches::add_name(const Watch& watch, std::string name) {
  entries_.push_back({std::move(name), kNone, kNone, watch});
}

void StructureWatches::add_roots(const Watch& watch, FrameId first, FrameId second) {
  entries_.push_back({{}, first, second, watch});
}

void StructureWatches::remove(WaitId id) {
  std::erase_if(entries_, [id](const Entry& entry) { return entry.watch.id == id; });
}

template <typename Concerns>
void StructureWatches::fire_if(Concerns concerns) {
  std::erase_if(entries_, [&](const Entry& entry) {
    if (!concerns(entry)) return false;
    entry.watch.watcher->wake(entry.watch.id);
    return true;
  });
}

void StructureWatches::frame_added(const std::string& name) {
  fire_if([&](const Entry& entry) { return entry.name == name; });
}

void StructureWatches::parent_changed(FrameId frame) {
  fire_if([&](const Entry& entry) { return entry.first == frame || entry.second == frame; });
}

void StructureWatches::fire_all() {
  fire_if([](const Entry&) { return true; });
}

}  // namespace armillary
