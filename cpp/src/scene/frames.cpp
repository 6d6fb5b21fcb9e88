#include "armillary/scene/frames.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "scene/placement.hpp"

namespace armillary::scene {

std::string FrameNames::own(const NodeRecord& record) const {
  if (record.id == kRootNode) return root_frame_;
  if (record.kind == NodeKind::frame) return *record.frame_name;
  return record.id.text();
}

std::string FrameNames::of(const Version& version, const NodeRecord& record) const { return own(version.framed(record)); }

std::string FrameNames::mount(const NodeRecord& record) const { return record.id.text() + "/mount"; }

std::vector<std::string> FrameNames::all(const NodeRecord& record) const {
  if (!has_frame(record)) return {};
  for (const NodeRecord* one = &record; one != nullptr; one = one->previous.get())
    if (one->has_mount) return {own(record), mount(record)};
  return {own(record)};
}

bool FrameNames::has_frame(const NodeRecord& record) {
  for (const NodeRecord* one = &record; one != nullptr; one = one->previous.get())
    if (one->has_known_beginning() && one->kind != NodeKind::frame && wants_frame(*one)) return true;
  return false;
}

namespace {

std::optional<Covariance> known_covariance(const FixedPose& pose) {
  return pose.certainty == Certainty::known ? std::optional(pose.covariance) : std::nullopt;
}

PlaceRuns::Piece piece_of(const ParentInterval& interval) {
  PlaceRuns::Piece piece{.from = interval.from, .in_frame = interval.in_frame, .rank = Rank::identity};
  if (interval.placement == nullptr) return piece;
  piece.rank = Rank::plain;
  piece.in_frame_T_of = interval.placement->pose.value;
  piece.covariance = known_covariance(interval.placement->pose);
  piece.is_fixed = interval.placement->is_fixed;
  if (piece.is_fixed)
    piece.rank = Rank::fallback;
  else
    piece.made_at = interval.created_at;
  return piece;
}

PlaceRuns::Thing thing_of(const Signature& incarnation) { return {incarnation.id.author, incarnation.id.sequence}; }

/// An incarnation that is met in `after` first brings its first sample.
PlaceRuns runs_of(const Track& before, const Track& after) {
  PlaceRuns runs{after.of, after.source, {}, {}};
  const auto add = [](const ParentInterval& interval, std::vector<PlaceRuns::Piece>& pieces) {
    pieces.push_back(piece_of(interval));
    pieces.back().thing = thing_of(interval.incarnation);
  };
  for (const ParentInterval& interval : before.intervals) add(interval, runs.before);
  for (const ParentInterval& interval : after.intervals) {
    add(interval, runs.after);
    const bool is_known =
        std::ranges::find(before.intervals, interval.incarnation, &ParentInterval::incarnation) != before.intervals.end();
    if (!runs.after.back().is_fixed && !is_known) runs.after.back().first_sample = interval.created_at;
  }
  return runs;
}

const Track* find(const std::vector<Track>& tracks, const Track& like) {
  const auto found =
      std::ranges::find_if(tracks, [&](const Track& one) { return one.of == like.of && one.source == like.source; });
  return found == tracks.end() ? nullptr : &*found;
}

/// From when on how many more tracks of a node place its frame, in the order of time.
std::vector<std::pair<Stamp, int>> change_points_of(const std::string& own, const NodePlacement& placement) {
  std::vector<std::pair<Stamp, int>> points;
  for (const Track& track : placement.tracks) {
    if (track.of != own) continue;
    bool was_open = false;
    for (const ParentInterval& interval : track.intervals) {
      const bool is_open = !interval.in_frame.empty();
      points.emplace_back(interval.from, static_cast<int>(is_open) - static_cast<int>(std::exchange(was_open, is_open)));
    }
  }
  std::ranges::sort(points, {}, [](const auto& point) { return std::pair(point.first, -point.second); });  // who comes first
  return points;
}

/// When nothing of a node places its frame, after the first time that something did.
SetInactiveIntervals inactive_intervals_of(const std::string& own, const NodePlacement& placement) {
  SetInactiveIntervals edit{.of = own};
  int count = 0;
  for (const auto& [at, more] : change_points_of(own, placement)) {
    const int before = std::exchange(count, count + more);
    if (before == 0 && count > 0 && !edit.inactive_intervals.empty()) edit.inactive_intervals.back().until = at;
    if (before > 0 && count == 0) edit.inactive_intervals.push_back({at, Stamp::never()});
  }
  if (edit.inactive_intervals.empty()) return edit;
  for (const Track& track : placement.tracks)
    if (track.of == own) edit.but.push_back(track.source);
  return edit;
}

bool never_had_frame(const NodeRecord& record) {
  return record.previous == nullptr && !record.has_frame && !record.had_several_parents();
}

/// Most nodes that come and go are such: there is nothing to plan.
bool is_lone_without_frame(const NodeRecord* record) {
  return record != nullptr && never_had_frame(*record) && record->children.empty() && record->past_children.empty();
}

/// Brings the frames of the world in line with a draft: from the placement of a node in the version before to that
/// in the draft.
class Planner {
 public:
  Planner(Draft& draft, const FrameNames& names, const Forest& forest)
      : draft_(draft),
        names_(names),
        forest_(forest),
        before_(draft.base(), names),
        after_(draft.share(), names),
        since_before_(draft.base(), names, draft.moved_since()),
        since_after_(draft.share(), names, draft.moved_since()) {}

  std::vector<FrameEdit> plan() {
    const std::vector<NodeId> all = concerned();
    const bool is_as_before = is_past_as_before(all);
    for (const NodeId& id : all)
      if (!is_as_before || !align_since(id)) align(id);
    return std::move(edits_);
  }

 private:
  /// What was moved, and all that is or was below.
  [[nodiscard]] std::vector<NodeId> concerned() const {
    std::vector<NodeId> all;
    std::unordered_set<NodeId> seen;
    const auto add = [&](const NodeId& id, const Nothing&) {
      if (seen.insert(id).second) all.push_back(id);
    };
    for (const NodeId& id : draft_.moved()) add(id, {});
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const NodeRecord* record = draft_.version().recall(all[i]); record != nullptr; record = record->previous.get()) {
        record->children.for_each(add);
        record->past_children.for_each(add);
      }
    return all;
  }

  /// Whether all that holds before the first instant at which something moves holds as it did: no node has frames for the first
  /// time, and none was there only before or after.
  [[nodiscard]] bool is_past_as_before(const std::vector<NodeId>& all) const {
    if (draft_.moved_since() == Stamp::always() || draft_.version().may_be_circular) return false;
    return std::ranges::all_of(all, [this](const NodeId& id) {
      const NodeRecord *before = draft_.base()->find(id), *after = draft_.version().find(id);
      return before != nullptr && after != nullptr && before->incarnation == after->incarnation &&
             wants_frame(*before) == wants_frame(*after) && wants_mount(*before) == wants_mount(*after) &&
             before->has_frame == wants_frame(*before) && before->has_mount == wants_mount(*before);
    });
  }

  /// Aligns what is the same at all times before, by what is touched; false where that is not enough.
  bool align_since(const NodeId& id) {
    const NodeRecord& record = *draft_.version().find(id);
    if (!wants_frame(record)) return true;
    const NodePlacement before = since_before_.placement_of(id), after = since_after_.placement_of(id);
    if (before == after) return true;
    const std::string own = names_.own(record);
    const auto is_by_identity = [](const ParentInterval& interval) { return interval.placement == nullptr; };
    const auto has_samples = [&](const Track& track, const NodePlacement& other) {
      const Track* same = find(other.tracks, track);
      return (same == nullptr || *same != track) && !std::ranges::all_of(track.intervals, is_by_identity);
    };
    for (const Track& track : before.tracks)
      if (has_samples(track, after)) return false;
    for (const Track& track : after.tracks)
      if (has_samples(track, before)) return false;
    if (!is_always_placed(own, before) || !is_always_placed(own, after) || forest_.has_inactive_intervals(own)) return false;
    for (const Track& track : after.tracks) place_since(track, find(before.tracks, track));
    for (const Track& track : before.tracks)
      if (find(after.tracks, track) == nullptr) place_since(ended(track), &track);
    return true;
  }

  /// Whether something places a frame at each instant, just before the first move as well.
  [[nodiscard]] bool is_always_placed(const std::string& own, const NodePlacement& placement) const {
    const std::vector<std::pair<Stamp, int>> points = change_points_of(own, placement);
    if (points.empty() || draft_.moved_since() <= points.front().first) return false;
    int count = 0;
    return std::ranges::all_of(points, [&](const auto& point) { return (count += point.second) > 0; });
  }

  /// A track that holds nothing from the first move on: it ends then, where it held something before.
  [[nodiscard]] Track ended(const Track& track) const {
    Track over{track.of, track.source, {}};
    if (track.intervals.front().from < draft_.moved_since()) over.intervals.push_back({.from = draft_.moved_since()});
    return over;
  }

  void place_since(const Track& track, const Track* before) {
    if (before != nullptr && *before == track) return;
    PlaceRuns runs = runs_of(before == nullptr ? Track{} : *before, track);
    runs.since = draft_.moved_since();
    edits_.emplace_back(std::move(runs));
  }

  void align(const NodeId& id) {
    if (const NodeRecord* record = draft_.version().recall(id); record != nullptr && never_had_frame(*record)) return;
    const NodePlacement before = before_.placement_of(id), after = after_.placement_of(id);
    if (before == after) return;
    keep_frames(id, after);
    for (const std::string& frame : after.frames)
      if (std::ranges::find(before.frames, frame) == before.frames.end()) edits_.emplace_back(AddFrame{frame});
    set_inactive(id, before, after);
    const bool is_new = draft_.base()->recall(id) == nullptr;
    for (const Track& track : after.tracks) place(track, find(before.tracks, track), is_new);
    for (const Track& track : before.tracks)
      if (find(after.tracks, track) == nullptr) edits_.emplace_back(runs_of(track, {track.of, track.source, {}}));
  }

  void place(const Track& track, const Track* before, bool is_new) {
    if (before != nullptr && *before == track) return;
    const bool is_plain = is_new && track.intervals.size() == 1 && track.intervals[0].from == Stamp::always();
    if (is_plain && !draft_.version().may_be_circular) return place_new(track);
    edits_.emplace_back(runs_of(before == nullptr ? Track{} : *before, track));
  }

  /// The usual case: at one place for all time, and new.
  void place_new(const Track& track) {
    const auto piece = piece_of(track.intervals[0]);
    if (piece.is_fixed) {
      FixedPose pose{.value = piece.in_frame_T_of};
      if (piece.covariance) pose.covariance = *piece.covariance, pose.certainty = Certainty::known;
      edits_.emplace_back(PlaceFixed{.of = track.of,
                                     .in_frame = piece.in_frame,
                                     .source = track.source,
                                     .from = piece.from,
                                     .pose = std::make_shared<const FixedPose>(pose),
                                     .is_of_scene = true,
                                     .rank = piece.rank});
    } else {
      edits_.emplace_back(PlaceSample{track.of, piece.in_frame, track.source, track.intervals[0].created_at, piece.in_frame_T_of,
                                      piece.covariance, true});
    }
  }

  /// A frame that was made stays, also when what asked for it is forgotten.
  void keep_frames(const NodeId& id, const NodePlacement& after) {
    const NodeRecord* record = draft_.version().recall(id);
    const bool has_frame = record->has_frame || record->had_several_parents();
    const bool has_mount = record->has_mount || (record->is_transform() && record->had_several_parents());
    if (after.frames.empty() || (has_frame == record->has_frame && has_mount == record->has_mount)) return;
    draft_.edit_record(id, [&](NodeRecord& node) { node.has_frame = has_frame, node.has_mount = has_mount; });
  }

  /// What other sources assert of the frame of a node ends with it, and holds again when it is back.
  void set_inactive(const NodeId& id, const NodePlacement& before, const NodePlacement& after) {
    const std::string own = names_.own(*draft_.version().recall(id));
    SetInactiveIntervals edit = inactive_intervals_of(own, after);
    if (edit != inactive_intervals_of(own, before)) edits_.emplace_back(std::move(edit));
  }

  Draft& draft_;
  const FrameNames& names_;
  const Forest& forest_;
  PlacementResolver before_, after_;  // what `keep_frames` notes changes neither
  PlacementResolver since_before_, since_after_;
  std::vector<FrameEdit> edits_;
};

}  // namespace

bool has_frames_to_plan(const Draft& draft) {
  const auto is_lone = [&](const NodeId& id) { return is_lone_without_frame(draft.version().recall(id)); };
  return !std::ranges::all_of(draft.moved(), is_lone);
}

std::vector<FrameEdit> frame_edits(Draft& draft, const FrameNames& names, const Forest& forest) {
  return Planner(draft, names, forest).plan();
}

void add_placements_again(const VersionPtr& version, std::span<const std::string> frames, const FrameNames& names,
                          std::vector<FrameEdit>& edits) {
  PlacementResolver resolver(version, names);
  for (const std::string& frame : frames) {
    const std::optional<NodeId> id = NodeId::parse(std::string_view(frame).substr(0, frame.find('/')));
    if (!id || version->recall(*id) == nullptr) continue;
    for (const Track& track : resolver.placement_of(*id).tracks) {
      if (track.of != frame) continue;
      PlaceRuns runs = runs_of(track, track);
      runs.is_again = true;
      edits.emplace_back(std::move(runs));
    }
  }
}

/// The runs of an incarnation begin with its first place, and end where the next incarnation has one.
SampleTable samples_of(const VersionPtr& version, const NodeRecord& record, const FrameNames& names, const Forest& forest) {
  const Track like{names.own(record), record.placement->source, {}};
  const NodePlacement placement = PlacementResolver(version, names).placement_of(record.id);
  const Track* track = find(placement.tracks, like);
  if (track == nullptr) return {};
  const auto is_of = [&](const ParentInterval& interval) { return interval.incarnation == record.incarnation; };
  const auto is_of_other = [&](const ParentInterval& interval) {
    return !interval.in_frame.empty() && interval.incarnation != record.incarnation;
  };
  const auto first = std::ranges::find_if(track->intervals, is_of);
  if (first == track->intervals.end()) return {};
  const auto next = std::find_if(first, track->intervals.end(), is_of_other);
  return forest.node_samples(like.of, like.source, first->from, next == track->intervals.end() ? Stamp::never() : next->from);
}

PlaceSample new_sample(const VersionPtr& version, const NodeSample& sample, const FrameNames& names) {
  const NodeRecord& record = *version->recall(sample.node, sample.incarnation);
  return {names.own(record), names.base(version, record), record.placement->source,
          sample.at,         sample.pose.value,           known_covariance(sample.pose)};
}

PlaceRuns late_samples(const VersionPtr& version, std::span<const NodeSample> samples, const FrameNames& names) {
  const NodeSample& first = samples.front();
  const NodeRecord& record = *version->recall(first.node, first.incarnation);
  Track track{names.own(record), record.placement->source, {}};
  const NodePlacement placement = PlacementResolver(version, names).placement_of(first.node);
  if (const Track* known = find(placement.tracks, track)) track = *known;
  PlaceRuns runs = runs_of(track, track);
  for (const NodeSample& sample : samples)
    runs.late.push_back({thing_of(sample.incarnation), sample.at, sample.pose.value, known_covariance(sample.pose)});
  return runs;
}

std::string FrameNames::base(const VersionPtr& version, const NodeRecord& record) const {
  return base_of(version, *this, record);
}

}  // namespace armillary::scene
