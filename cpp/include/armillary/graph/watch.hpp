#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "armillary/graph/ids.hpp"
#include "armillary/series/stamp.hpp"

namespace armillary {

using WaitId = std::uint64_t;

/// Notified when the one thing a wait depends on has changed. Called under the writer lock: set a flag, nothing more.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void wake(WaitId id) = 0;
};

/// A wait and where to wake it.
struct Watch {
  WaitId id = 0;
  Watcher* watcher = nullptr;
};

/// Waits for samples of one track. An insert that concerns none of them costs two comparisons.
class WatchList {
 public:
  WatchList() = default;
  WatchList(WatchList&&) = default;
  WatchList& operator=(WatchList&&) = default;
  WatchList(const WatchList&) = delete;  // a wait is in one list, which knows its place there
  WatchList& operator=(const WatchList&) = delete;

  /// Wake when a sample with `from <= stamp <= to` comes.
  void add(const Watch& watch, Stamp from, Stamp to);
  void remove(WaitId id);

  /// Wakes and forgets every wait that `stamp` concerns.
  void inserted(Stamp stamp) {
    if (stamp >= first_ && stamp <= last_) fire(stamp);
  }
  void fire_all();
  [[nodiscard]] bool empty() const { return later_.empty() && between_.empty(); }

 private:
  struct Interval {
    Stamp from, to;
    Watch watch;
  };
  using Later = std::multimap<Stamp, Watch>;
  void fire(Stamp stamp);
  void refresh_hull();

  Later later_;                                                // for everything from a stamp on
  std::unordered_multimap<WaitId, Later::iterator> in_later_;  // the place of a wait there: thousands come and go
  std::vector<Interval> between_;                              // for an interval
  Stamp first_ = Stamp::never(), last_ = Stamp::always();      // hull of all intervals
};

/// Waits for structure: for a name to appear, or for one of the frames on a path to change its parent.
class StructureWatches {
 public:
  void add_name(const Watch& watch, const std::string& name) { names_[name].emplace(watch.id, watch.watcher); }
  void add_frame(const Watch& watch, FrameId frame) { frames_[frame].emplace(watch.id, watch.watcher); }
  void remove_name(WaitId id, const std::string& name);
  void remove_frame(WaitId id, FrameId frame);

  void frame_added(const std::string& name);
  void frame_changed(FrameId frame);
  void fire_all();

 private:
  using Watchers = std::map<WaitId, Watcher*>;  // in the order they began to wait
  std::unordered_map<std::string, Watchers> names_;
  std::unordered_map<FrameId, Watchers> frames_;
};

}  // namespace armillary
