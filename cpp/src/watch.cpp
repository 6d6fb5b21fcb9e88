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

namespace {

/// In the order they began to wait.
void wake_all(std::vector<Watch> watches) {
  std::ranges::sort(watches, {}, &Watch::id);
  for (const Watch& watch : watches) watch.watcher->wake(watch.id);
}

template <typename Map>
void fire(Map& map, const typename Map::key_type& key) {
  const auto [first, last] = map.equal_range(key);
  std::vector<Watch> concerned;
  std::for_each(first, last, [&](const auto& entry) { concerned.push_back(entry.second); });
  map.erase(first, last);
  wake_all(std::move(concerned));
}

template <typename Map>
void remove(Map& map, WaitId id, const typename Map::key_type& key) {
  const auto [first, last] = map.equal_range(key);
  const auto found = std::find_if(first, last, [id](const auto& entry) { return entry.second.id == id; });
  if (found != last) map.erase(found);
}

}  // namespace

void StructureWatches::remove_name(WaitId id, const std::string& name) { remove(names_, id, name); }
void StructureWatches::remove_frame(WaitId id, FrameId frame) { remove(frames_, id, frame); }
void StructureWatches::frame_added(const std::string& name) { fire(names_, name); }
void StructureWatches::frame_changed(FrameId frame) { fire(frames_, frame); }

void StructureWatches::fire_all() {
  std::vector<Watch> all;
  for (const auto& [name, watch] : names_) all.push_back(watch);
  for (const auto& [frame, watch] : frames_) all.push_back(watch);
  names_.clear();
  frames_.clear();
  wake_all(std::move(all));
}

}  // namespace armillary
