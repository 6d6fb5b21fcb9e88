#include "places.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace armillary::scene {

namespace {

using Said = std::map<std::pair<std::string, std::string>, Stay>;  // by frame and source

bool wants_frame(const NodeRecord& life) { return life.has_frame || life.had_several_parents(); }

bool wants_mount(const NodeRecord& life) { return life.is_transform() && (life.has_mount || life.had_several_parents()); }

class Surveyor {
 public:
  Surveyor(const VersionPtr& version, const FrameNames& names, const NodeId& id) : version_(version), names_(names), id_(id) {}

  [[nodiscard]] Places survey() const {
    const NodeRecord* newest = version_->recall(id_);
    Places places;
    if (newest == nullptr || id_ == kRootNode || id_ == kLimboNode) return places;
    if (is_plain(*newest)) return plain(*newest);
    for (const NodeRecord* life = newest; life != nullptr; life = life->previous.get()) add_frames(*life, places.frames);
    if (places.frames.empty()) return places;
    std::map<std::pair<std::string, std::string>, std::vector<Stay>> tracks;
    for (const Stamp at : turning_points()) note(said_at(at), at, tracks);
    for (auto& [key, stays] : tracks) places.tracks.push_back({key.first, key.second, std::move(stays)});
    return places;
  }

  /// The frame that hangs what is in a node at an instant: its own, or that of what it is in.
  [[nodiscard]] std::string holder(const Past& past, const NodeRecord& life) const {
    const NodeRecord* node = &life;
    while (node != nullptr && !wants_frame(*node)) node = above(past, *node);
    return node == nullptr || node->id == kLimboNode ? std::string{} : names_.own(*node);
  }

 private:
  /// The usual case: a Transform that was added to something with a frame, and perhaps removed.
  [[nodiscard]] bool is_plain(const NodeRecord& record) const {
    if (!record.is_transform() || record.has_mount || record.previous != nullptr || record.edges.size() != 1) return false;
    const NodeRecord* parent = version_->recall(record.edges[0].parent);
    const bool is_meant = parent != nullptr && parent->has_known_beginning() && parent->previous == nullptr &&
                          parent->incarnation == record.edges[0].parent_incarnation;
    return is_meant && wants_frame(*parent) && parent->id != kLimboNode && !version_->may_be_circular && always_lived(*parent);
  }

  /// Whether neither a node nor what it is in was ever removed.
  [[nodiscard]] bool always_lived(const NodeRecord& record) const {
    const NodeRecord* node = &record;
    while (node != nullptr && node->id != kRootNode) {
      const bool has_moved = node->previous != nullptr || node->edges.size() != 1 || node->edges[0].removed;
      if (has_moved || !node->edges[0].parent_is_alive) return false;
      node = version_->recall(node->edges[0].parent);
    }
    return node != nullptr;
  }

  [[nodiscard]] Places plain(const NodeRecord& record) const {
    const Edge& edge = record.edges[0];
    Places places{{names_.own(record)}, {}};
    if (edge.until <= edge.from) return places;
    Track track{names_.own(record), record.placement->source, {}};
    track.stays.push_back({.in_frame = names_.own(*version_->recall(edge.parent)),
                           .placement = record.placement,
                           .created_at = record.created_at,
                           .life = record.incarnation});
    if (edge.removed) track.stays.push_back({.from = edge.until});
    places.tracks.push_back(std::move(track));
    return places;
  }

  void add_frames(const NodeRecord& life, std::vector<std::string>& frames) const {
    if (!life.has_known_beginning() || life.kind == NodeKind::frame || !wants_frame(life)) return;
    const auto add = [&](std::string name) {
      if (std::ranges::find(frames, name) == frames.end()) frames.push_back(std::move(name));
    };
    add(names_.own(life));
    if (wants_mount(life)) add(names_.mount(life));
  }

  /// The one thing that a node without a frame is in, alive or not.
  [[nodiscard]] static const NodeRecord* above(const Past& past, const NodeRecord& life) {
    const auto edge = std::ranges::find_if(life.edges, [&](const Edge& one) { return past.counts(life, one); });
    return edge == life.edges.end() ? nullptr : past.life(edge->parent);
  }

  /// The instants at which something above the node may begin or end.
  [[nodiscard]] std::set<Stamp> turning_points() const {
    std::set<Stamp> stamps{Stamp::always()};
    std::vector<NodeId> waiting{id_};
    std::unordered_set<NodeId> seen{id_};
    for (std::size_t i = 0; i < waiting.size(); ++i)
      for (const NodeRecord* life = version_->recall(waiting[i]); life != nullptr; life = life->previous.get()) {
        if (life->previous != nullptr) stamps.insert(life->created_at);
        for (const Edge& edge : life->edges) {
          if (!is_first(*life, edge)) stamps.insert(edge.from);
          if (edge.removed) stamps.insert(edge.until);
          if (seen.insert(edge.parent).second) waiting.push_back(edge.parent);
        }
      }
    return stamps;
  }

  [[nodiscard]] Said said_at(Stamp at) const {
    const Past past(version_, at, Past::Beginnings::are_ignored);
    const NodeRecord* life = past.find(id_);
    Said said;
    if (life == nullptr || life->kind == NodeKind::frame || !wants_frame(*life)) return said;
    const std::string own = names_.own(*life), hub = wants_mount(*life) ? names_.mount(*life) : own;
    if (life->is_transform()) {
      const std::string in_frame = hub == own ? frame_above(past, *life) : hub;
      if (!in_frame.empty())
        said[{own, life->placement->source}] = {at, in_frame, life->placement, life->created_at, life->incarnation};
      if (hub == own) return said;
    }
    for (const NodeId& parent : past.parents(*life))
      if (std::string in_frame = holder(past, *past.life(parent)); !in_frame.empty())
        said[{hub, parent.text()}] = {.from = at, .in_frame = std::move(in_frame)};
    return said;
  }

  [[nodiscard]] std::string frame_above(const Past& past, const NodeRecord& life) const {
    const NodeRecord* node = above(past, life);
    return node == nullptr ? std::string{} : holder(past, *node);
  }

  static void note(Said said, Stamp at, std::map<std::pair<std::string, std::string>, std::vector<Stay>>& tracks) {
    for (auto& [key, stays] : tracks)
      if (!said.contains(key) && !stays.back().in_frame.empty()) stays.push_back({.from = at});
    for (auto& [key, stay] : said) {
      std::vector<Stay>& stays = tracks[key];
      const bool goes_on = !stays.empty() && stays.back().in_frame == stay.in_frame && stays.back().life == stay.life;
      if (!goes_on) stays.push_back(std::move(stay));
    }
  }

  const VersionPtr& version_;
  const FrameNames& names_;
  const NodeId& id_;
};

}  // namespace

Places places_of(const VersionPtr& version, const FrameNames& names, const NodeId& id) {
  return Surveyor(version, names, id).survey();
}

std::string base_of(const VersionPtr& version, const FrameNames& names, const NodeRecord& record) {
  if (wants_mount(record)) return names.mount(record);
  for (const Edge& edge : record.edges)
    if (const NodeRecord* parent = version->recall(edge.parent, edge.parent_incarnation))
      return Surveyor(version, names, record.id).holder(Past(version, Stamp{Stamp::never().ns - 1}), *parent);
  return {};
}

}  // namespace armillary::scene
