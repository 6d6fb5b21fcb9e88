#pragma once

#include <span>
#include <vector>

#include "armillary/graph/topology.hpp"
#include "armillary/series/intervals.hpp"

namespace armillary {

/// Which sources a question about a frame at one instant chooses among.
///
/// A run is *open* from its beginning until it ends; one of samples also ends when its source has been silent for longer than
/// the rival timeout, and a driven one is open where its variables have values. The frame is contested where runs of several
/// sources are open. A preference settles that while the preferred source is open; else those of the highest rank count. A
/// fallback counts where nothing else is open. Where no run is open, the source that gave the newest datum counts: it says
/// what is missing.
///
/// Scratch memory of one thread: reused from frame to frame, so that choosing allocates nothing.
class Selection {
 public:
  void choose(const TrackSet& set, Stamp at, Duration rival_timeout);

  /// None: the frame has no parent. Several: it is contested. In the order of the names of the sources.
  [[nodiscard]] const std::vector<const Track*>& tracks() const { return tracks_; }
  /// What each of the tracks has at the instant.
  [[nodiscard]] const std::vector<const Run*>& runs() const { return runs_; }
  /// The same tracks are chosen at every instant of it, as long as no sample comes.
  [[nodiscard]] const Interval& valid() const { return valid_; }
  /// Whether sources place the frame and none of them is open: the tracks are a guess then.
  [[nodiscard]] bool is_guess() const;
  /// The newest datum of all sources, open or not; `always` where none depends on time.
  [[nodiscard]] Stamp newest() const;
  /// A relation that may be open, and whose samples are not received; kNone where there is none.
  [[nodiscard]] RelationId unreceived() const { return unreceived_; }

 private:
  struct Contestant {
    const Track* track;
    const Run* run;
    Stamp newest;  ///< its newest datum, or since when it is fixed
    Rank rank;
    bool is_open;
  };

  void look_at(const Track& track, Stamp at, Duration rival_timeout);
  void narrow(Stamp from, Stamp to);
  void drop_containment();
  void choose_among(SourceId preferred);
  void fall_back();
  void take(const Contestant& one);

  std::vector<Contestant> contestants_;
  std::vector<const Track*> tracks_;
  std::vector<const Run*> runs_;
  Interval valid_{};
  RelationId unreceived_ = kNone;
};

}  // namespace armillary
