#include "armillary/graph/watch.hpp"

#include <algorithm>

namespace armillary {

void WatchList::add(const Watch& watch, Stamp from, Stamp to) {
  if (to == Stamp::never()) {
    const auto place = later_.emplace(from, watch);
    try {
      in_later_.emplace(watch.id, place);
    } catch (...) {  // without memory: nobody could take it out again
      later_.erase(place);
      throw;
    }
  } else {
    between_.push_back({from, to, watch});
  }
  refresh_hull();
}

void WatchList::remove(WaitId id) {
  const auto [first, last] = in_later_.equal_range(id);
  std::for_each(first, last, [this](const auto& entry) { later_.erase(entry.second); });
  in_later_.erase(first, last);
  std::erase_if(between_, [id](const Interval& interval) { return interval.watch.id == id; });
  refresh_hull();
}

void WatchList::refresh_hull() {
  first_ = later_.empty() ? Stamp::never() : later_.begin()->first;
  last_ = later_.empty() ? Stamp::always() : Stamp::never();
  for (const Interval& interval : between_) {
    first_ = std::min(first_, interval.from);
    last_ = std::max(last_, interval.to);
  }
}

void WatchList::fire(Stamp stamp) {
  while (!later_.empty() && later_.begin()->first <= stamp) {
    const auto earliest = later_.begin();
    const Watch watch = earliest->second;
    const auto [first, last] = in_later_.equal_range(watch.id);
    in_later_.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == earliest; }));
    later_.erase(earliest);
    watch.watcher->wake(watch.id);
  }
  std::erase_if(between_, [stamp](const Interval& interval) {
    const bool concerned = interval.from <= stamp && stamp <= interval.to;
    if (concerned) interval.watch.watcher->wake(interval.watch.id);
    return concerned;
  });
  refresh_hull();
}

void WatchList::fire_all() {
  for (const auto& [from, watch] : later_) watch.watcher->wake(watch.id);
  for (const Interval& interval : between_) interval.watch.watcher->wake(interval.watch.id);
  in_later_.clear();
  later_.clear();
  between_.clear();
  refresh_hull();
}

namespace {

template <typename Map>
void fire(Map& map, const typename Map::key_type& key) {
  const auto concerned = map.extract(key);
  if (concerned.empty()) return;
  for (const auto& [id, watcher] : concerned.mapped()) watcher->wake(id);
}

template <typename Map>
void remove(Map& map, WaitId id, const typename Map::key_type& key) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(id);
  if (found->second.empty()) map.erase(found);
}

}  // namespace

void StructureWatches::remove_name(WaitId id, const std::string& name) { remove(names_, id, name); }
void StructureWatches::remove_frame(WaitId id, FrameId frame) { remove(frames_, id, frame); }
void StructureWatches::frame_added(const std::string& name) { fire(names_, name); }
void StructureWatches::frame_changed(FrameId frame) { fire(frames_, frame); }

void StructureWatches::fire_all() {
  Watchers all;
  for (const auto& [name, watchers] : names_) all.insert(watchers.begin(), watchers.end());
  for (const auto& [frame, watchers] : frames_) all.insert(watchers.begin(), watchers.end());
  names_.clear();
  frames_.clear();
  for (const auto& [id, watcher] : all) watcher->wake(id);
}

}  // namespace armillary
