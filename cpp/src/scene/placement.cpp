#include "scene/placement.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace armillary::scene {

bool wants_frame(const NodeRecord& record) { return record.has_frame || record.had_several_parents(); }

bool wants_mount(const NodeRecord& record) { return record.is_transform() && (record.has_mount || record.had_several_parents()); }

namespace {

using ParentIntervals = std::map<std::pair<std::string, std::string>, ParentInterval>;  // by frame and source

/// The one thing that a node without a frame is in, alive or not.
const NodeRecord* above(const Past& past, const NodeRecord& record) {
  const auto edge = std::ranges::find_if(record.edges, [&](const Edge& one) { return past.counts(record, one); });
  return edge == record.edges.end() ? nullptr : past.incarnation_of(edge->parent);
}

/// The frame that what is in a node is placed in at an instant: the node's own, or that of what it is in.
std::string holder(const Past& past, const FrameNames& names, const NodeRecord& record) {
  const NodeRecord* node = &record;
  while (node != nullptr && !wants_frame(*node)) node = above(past, *node);
  return node == nullptr || node->id == kDetachedNode ? std::string{} : names.own(*node);
}

}  // namespace

class NodeResolver {
 public:
  NodeResolver(PlacementResolver& resolver, const NodeId& id)
      : resolver_(resolver), version_(resolver.version_), names_(resolver.names_), id_(id) {}

  [[nodiscard]] NodePlacement resolve() const {
    const NodeRecord* newest = version_->recall(id_);
    NodePlacement placement;
    if (newest == nullptr || id_ == kRootNode || id_ == kDetachedNode) return placement;
    if (resolver_.since_ == Stamp::always() && is_plain(*newest)) return plain(*newest);
    for (const NodeRecord* record = newest; record != nullptr; record = record->previous.get())
      add_frames(*record, placement.frames);
    if (placement.frames.empty()) return placement;
    std::map<std::pair<std::string, std::string>, std::vector<ParentInterval>> tracks;
    for (const Stamp at : change_points()) note(intervals_at(at), at, tracks);
    for (auto& [key, intervals] : tracks) placement.tracks.push_back({key.first, key.second, std::move(intervals)});
    return placement;
  }

 private:
  /// The usual case: a Transform that was added to something with a frame, and perhaps removed.
  [[nodiscard]] bool is_plain(const NodeRecord& record) const {
    if (!record.is_transform() || record.has_mount || record.previous != nullptr || record.edges.size() != 1) return false;
    const NodeRecord* parent = version_->recall(record.edges[0].parent);
    const bool is_meant = parent != nullptr && parent->has_known_beginning() && parent->previous == nullptr &&
                          parent->incarnation == record.edges[0].parent_incarnation;
    return is_meant && wants_frame(*parent) && parent->id != kDetachedNode && !version_->may_be_circular &&
           always_existed(*parent);
  }

  /// Whether a node was in something that always existed, at each instant: however often it was moved.
  [[nodiscard]] bool always_existed(const NodeRecord& record) const {
    const auto [known, is_new] = resolver_.always_existed_.try_emplace(record.id, record.id == kRootNode);
    if (!is_new || known->second) return known->second;
    const bool answer = record.previous == nullptr && record.has_known_beginning() && covers_all_time(record);
    return resolver_.always_existed_[record.id] = answer;
  }

  /// Most were added to one thing. What was moved is in one thing after the other, by when that began.
  [[nodiscard]] bool covers_all_time(const NodeRecord& record) const {
    std::vector<std::pair<Stamp, Stamp>> held;
    for (const Edge& edge : record.edges) {
      const NodeRecord* parent = version_->recall(edge.parent);
      const bool is_meant = parent != nullptr && parent->incarnation == edge.parent_incarnation && always_existed(*parent);
      if (is_meant && edge.from < edge.until) held.emplace_back(is_first(record, edge) ? Stamp::always() : edge.from, edge.until);
    }
    std::ranges::sort(held);
    Stamp end = Stamp::always();
    for (const auto& [from, until] : held)
      if (from <= end) end = std::max(end, until);
    return end == Stamp::never();
  }

  [[nodiscard]] NodePlacement plain(const NodeRecord& record) const {
    const Edge& edge = record.edges[0];
    NodePlacement placement{{names_.own(record)}, {}};
    if (edge.until <= edge.from) return placement;
    Track track{names_.own(record), record.placement->source, {}};
    track.intervals.push_back({.in_frame = names_.own(*version_->recall(edge.parent)),
                               .placement = record.placement,
                               .created_at = record.created_at,
                               .incarnation = record.incarnation});
    if (edge.removed) track.intervals.push_back({.from = edge.until});
    placement.tracks.push_back(std::move(track));
    return placement;
  }

  void add_frames(const NodeRecord& record, std::vector<std::string>& frames) const {
    if (!record.has_known_beginning() || record.kind == NodeKind::frame || !wants_frame(record)) return;
    const auto add = [&](std::string name) {
      if (std::ranges::find(frames, name) == frames.end()) frames.push_back(std::move(name));
    };
    add(names_.own(record));
    if (wants_mount(record)) add(names_.mount(record));
  }

  /// The instants at which something above the node may begin or end; with `since` from then on, and the one before it.
  [[nodiscard]] const std::set<Stamp>& change_points() const {
    const Stamp since = resolver_.since_, first = since == Stamp::always() ? since : Stamp{since.ns - 1};
    std::set<Stamp> stamps{first};
    const auto add = [&](Stamp at) {
      if (since <= at) stamps.insert(at);
    };
    std::vector<NodeId> waiting{id_};
    std::unordered_set<NodeId> seen{id_};
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (const auto known = resolver_.change_points_.find(waiting[i]); known != resolver_.change_points_.end()) {
        stamps.insert(known->second.begin(), known->second.end());
        continue;
      }
      for (const NodeRecord* record = version_->recall(waiting[i]); record != nullptr; record = record->previous.get()) {
        if (record->previous != nullptr) add(record->created_at);
        for (const Edge& edge : record->edges) {
          if (!is_first(*record, edge)) add(edge.from);
          if (edge.removed) add(edge.until);
          if (seen.insert(edge.parent).second) waiting.push_back(edge.parent);
        }
      }
    }
    return resolver_.change_points_[id_] = std::move(stamps);
  }

  [[nodiscard]] ParentIntervals intervals_at(Stamp at) const {
    const Past& past = resolver_.at(at);
    const NodeRecord* record = past.find(id_);
    ParentIntervals held;
    if (record == nullptr || record->kind == NodeKind::frame || !wants_frame(*record)) return held;
    const std::string own = names_.own(*record), hub = wants_mount(*record) ? names_.mount(*record) : own;
    if (record->is_transform()) {
      const std::string in_frame = hub == own ? frame_above(past, *record) : hub;
      if (!in_frame.empty())
        held[{own, record->placement->source}] = {at, in_frame, record->placement, record->created_at, record->incarnation};
      if (hub == own) return held;
    }
    for (const NodeId& parent : past.parents(*record))
      if (std::string in_frame = holder(past, names_, *past.incarnation_of(parent)); !in_frame.empty())
        held[{hub, parent.text()}] = {.from = at, .in_frame = std::move(in_frame)};
    return held;
  }

  [[nodiscard]] std::string frame_above(const Past& past, const NodeRecord& record) const {
    const NodeRecord* node = above(past, record);
    return node == nullptr ? std::string{} : holder(past, names_, *node);
  }

  static void note(ParentIntervals held, Stamp at,
                   std::map<std::pair<std::string, std::string>, std::vector<ParentInterval>>& tracks) {
    for (auto& [key, intervals] : tracks)
      if (!held.contains(key) && !intervals.back().in_frame.empty()) intervals.push_back({.from = at});
    for (auto& [key, interval] : held) {
      std::vector<ParentInterval>& intervals = tracks[key];
      const bool goes_on = !intervals.empty() && intervals.back().in_frame == interval.in_frame &&
                           intervals.back().incarnation == interval.incarnation;
      if (!goes_on) intervals.push_back(std::move(interval));
    }
  }

  PlacementResolver& resolver_;
  const VersionPtr& version_;
  const FrameNames& names_;
  const NodeId& id_;
};

NodePlacement PlacementResolver::placement_of(const NodeId& id) { return NodeResolver(*this, id).resolve(); }

const Past& PlacementResolver::at(Stamp at) {
  return pasts_.try_emplace(at, version_, at, Past::Beginnings::are_ignored).first->second;
}

std::string base_of(const VersionPtr& version, const FrameNames& names, const NodeRecord& record) {
  if (wants_mount(record)) return names.mount(record);
  for (const Edge& edge : record.edges)
    if (const NodeRecord* parent = version->recall(edge.parent, edge.parent_incarnation))
      return holder(Past(version, Stamp{Stamp::never().ns - 1}), names, *parent);
  return {};
}

}  // namespace armillary::scene
