#pragma once

#include <deque>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "armillary/log/change.hpp"

namespace armillary::log {

/// Which slot of a track a change writes. That samples come under one parent, or relative to one reference, is a slot of its
/// own: a pose that is given for the same instant, or samples under another parent, do not take it back.
struct SlotKey {
  Epoch epoch{};
  Stamp since{};
  std::string sampled_in{};  ///< of samples
  friend auto operator<=>(const SlotKey&, const SlotKey&) = default;
};

/// What was asserted of one track. Invariant: no two writes of one slot, and none older than `always`.
struct TrackEntry {
  std::map<SlotKey, ChangePtr> slots{};  ///< the newest write of each
  std::optional<Signature> always{};     ///< of the newest write at `since` = always, be it empty or not
  std::size_t of_samples = 0;            ///< how many of the slots are about samples
};

/// Tracks that name something, and in how many of their slots.
using TrackCounts = std::map<Track, std::size_t>;

/// What was asserted of one frame. Invariant: nothing in it is older than `barrier`.
struct FrameEntry {
  ChangePtr barrier{};                                               ///< the newest RemoveFrames that names it
  ChangePtr declared{};                                              ///< the newest SetFrames that names it
  std::map<std::pair<TrackKind, std::string>, TrackEntry> tracks{};  ///< by kind and source
  std::map<std::string, ChangePtr> claims{};                         ///< the newest SetBody that names it, by body
  std::vector<ChangePtr> preferences{};  ///< none that newer ones of its epoch cover; the oldest first
  std::vector<ChangePtr> forgets{};
  TrackCounts children{};  ///< tracks with a slot whose value is in this frame, or relative to it
};

/// Ranges of dropped records that are told apart, for each author.
inline constexpr std::size_t kMostDroppedRanges = 1024;

/// The change log: all changes that can still matter, sorted by what they write. Which order they came in, how they were
/// grouped and how often makes no difference.
///
/// A record is kept while one of its parts is; one whose parts are all superseded is dropped at once, and its id stays held.
/// Superseded is: a write of a slot by a newer one, an assertion by a newer one of its track at `since` = always or by a
/// removal of its frame, a preference by newer ones of its epoch that cover it, what is to be forgotten by a newer Forget of
/// its epoch about no less. Since both orders are total and nothing resurfaces, what is superseded stays so in every larger log:
/// dropping it changes no answer. An empty write and a removal are kept: they supersede what may still come. Of changes of nodes
/// it is only noted that they are held: what they say is kept with the nodes.
///
/// What has no natural end is bounded: slots of a track, of which the earliest go, what is to be forgotten of a frame, of which
/// the oldest go, and removals of frames that nothing names any more. Who has not seen such a removal, or such a Forget, may
/// bring back what went: `dropped` has the ids.
class ChangeLog {
 public:
  struct Limits {
    std::size_t max_slots = std::numeric_limits<std::size_t>::max();    ///< of one track
    std::size_t max_removed = std::numeric_limits<std::size_t>::max();  ///< frames
  };

  ChangeLog() = default;
  explicit ChangeLog(const Limits& limits) : limits_(limits) {}

  /// Takes a change; false where it is held already.
  bool append(ChangePtr change);
  /// Notes that changes were held before what is kept was written down: they are superseded.
  void note_held(const VersionVector& changes) { held_.add(changes); }

  [[nodiscard]] const VersionVector& held() const { return held_; }
  /// Removals that are not kept any more.
  [[nodiscard]] const VersionVector& dropped() const { return dropped_; }
  [[nodiscard]] const HybridTimestamp& newest() const { return newest_; }
  /// One that is kept; else null.
  [[nodiscard]] const Change* find(const Dot& id) const;
  /// Those that are kept, by id.
  [[nodiscard]] std::vector<ChangePtr> records() const;
  [[nodiscard]] std::size_t size() const { return kept_.size(); }

  // What the resolver reads.
  [[nodiscard]] const std::unordered_map<std::string, FrameEntry>& frames() const { return frames_; }
  [[nodiscard]] const std::map<std::string, ChangePtr>& bodies() const { return bodies_; }
  [[nodiscard]] const std::map<std::string, ChangePtr>& variables() const { return variables_; }
  /// Preferences among the sources of a variable, by its name; the oldest first.
  [[nodiscard]] const std::map<std::string, std::vector<ChangePtr>>& preferences() const { return preferences_; }
  /// All ResetTime records, the newest last.
  [[nodiscard]] const std::vector<ChangePtr>& resets() const { return resets_; }
  /// The newest time epoch that a change begins or names: one may come before the ResetTime that it was made after.
  [[nodiscard]] const Epoch& epoch() const { return epoch_; }
  /// Tracks with a slot that this variable drives.
  [[nodiscard]] const TrackCounts* find_driven(const std::string& variable) const;
  [[nodiscard]] const FrameEntry* find_frame(const std::string& name) const;
  /// The newest removal of the frame that a node stands for.
  [[nodiscard]] std::optional<Signature> removal_of(const NodeId& stand_in) const;

 private:
  struct Kept {
    ChangePtr record{};
    std::size_t uses = 0;  // parts that are in one of the entries
  };

  void take(const ChangePtr& change, const SetFrames& payload);
  void take(const ChangePtr& change, const RemoveFrames& payload);
  void take(const ChangePtr& change, const Assert& payload);
  void take(const ChangePtr& change, const SetBody& payload);
  void take(const ChangePtr& change, const Prefer& payload);
  void take(const ChangePtr& change, const SetVariables& payload);
  void take(const ChangePtr& change, const Forget& payload);
  void take(const ChangePtr& change, const ResetTime& payload);
  void take(const ChangePtr&, const auto&) {}  // of nodes

  void add(std::vector<ChangePtr>& list, const ChangePtr& change);
  void write(ChangePtr& slot, const ChangePtr& change);
  void add_preference(std::vector<ChangePtr>& list, const ChangePtr& change);
  void write_slot(const Track& track, TrackEntry& entry, const ChangePtr& change, const Assert& payload);
  template <typename IsDropped>
  void drop_slots(const Track& track, TrackEntry& entry, IsDropped is_dropped);
  void drop_slot(const Track& track, TrackEntry& entry, const std::pair<const SlotKey, ChangePtr>& slot);
  void note_slot(const Track& track, const Change& change, int more);
  void note(TrackCounts& counts, const Track& track, int more);
  void drop_before(const std::string& name, FrameEntry& frame, const Signature& barrier);
  void forget_removed();
  template <typename List>
  void drop_older(List& list, const Signature& than);
  void release(const ChangePtr& change);

  std::unordered_map<std::string, FrameEntry> frames_{};
  std::map<NodeId, std::string> removed_nodes_{};                // frames that were removed, by the nodes that stand for them
  std::map<std::string, ChangePtr> bodies_{}, variables_{};      // the newest write of each
  std::map<std::string, std::vector<ChangePtr>> preferences_{};  // of variables
  std::vector<ChangePtr> resets_{};
  std::map<std::string, TrackCounts> driven_{};  // by variable
  std::deque<std::string> removed_{};            // frames, as they were removed
  std::map<Dot, Kept> kept_{};
  VersionVector held_{}, dropped_{};
  HybridTimestamp newest_{};
  Epoch epoch_{};
  Limits limits_{};
};

}  // namespace armillary::log
