#include "scene/placement.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace armillary::scene {

namespace {

using Stays = std::map<std::pair<std::string, std::string>, Stay>;  // by frame and source

bool wants_frame(const NodeRecord& life) { return life.has_frame || life.had_several_parents(); }

bool wants_mount(const NodeRecord& life) { return life.is_transform() && (life.has_mount || life.had_several_parents()); }

/// The one thing that a node without a frame is in, alive or not.
const NodeRecord* above(const Past& past, const NodeRecord& life) {
  const auto edge = std::ranges::find_if(life.edges, [&](const Edge& one) { return past.counts(life, one); });
  return edge == life.edges.end() ? nullptr : past.life(edge->parent);
}

/// The frame that hangs what is in a node at an instant: its own, or that of what it is in.
std::string holder(const Past& past, const FrameNames& names, const NodeRecord& life) {
  const NodeRecord* node = &life;
  while (node != nullptr && !wants_frame(*node)) node = above(past, *node);
  return node == nullptr || node->id == kLimboNode ? std::string{} : names.own(*node);
}

}  // namespace

class Surveyor {
 public:
  Surveyor(Survey& survey, const NodeId& id) : survey_(survey), version_(survey.version_), names_(survey.names_), id_(id) {}

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
    std::vector<NodeId> passed;
    std::optional<bool> answer;
    for (const NodeRecord* node = &record; !answer; node = version_->recall(node->edges[0].parent)) {
      const auto known = node == nullptr ? survey_.always_lived_.end() : survey_.always_lived_.find(node->id);
      answer = known != survey_.always_lived_.end() ? known->second : lives_by_itself(node);
      if (node != nullptr) passed.push_back(node->id);
      if (answer) break;
    }
    for (const NodeId& id : passed) survey_.always_lived_[id] = *answer;
    return *answer;
  }

  /// None where it depends on what the node is in.
  [[nodiscard]] static std::optional<bool> lives_by_itself(const NodeRecord* node) {
    if (node == nullptr || node->id == kRootNode) return node != nullptr;
    const bool has_moved = node->previous != nullptr || node->edges.size() != 1 || node->edges[0].removed;
    if (has_moved || !node->edges[0].parent_is_alive) return false;
    return std::nullopt;
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

  /// The instants at which something above the node may begin or end.
  [[nodiscard]] const std::set<Stamp>& turning_points() const {
    std::set<Stamp> stamps{Stamp::always()};
    std::vector<NodeId> waiting{id_};
    std::unordered_set<NodeId> seen{id_};
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (const auto known = survey_.turning_points_.find(waiting[i]); known != survey_.turning_points_.end()) {
        stamps.insert(known->second.begin(), known->second.end());
        continue;
      }
      for (const NodeRecord* life = version_->recall(waiting[i]); life != nullptr; life = life->previous.get()) {
        if (life->previous != nullptr) stamps.insert(life->created_at);
        for (const Edge& edge : life->edges) {
          if (!is_first(*life, edge)) stamps.insert(edge.from);
          if (edge.removed) stamps.insert(edge.until);
          if (seen.insert(edge.parent).second) waiting.push_back(edge.parent);
        }
      }
    }
    return survey_.turning_points_[id_] = std::move(stamps);
  }

  [[nodiscard]] Stays said_at(Stamp at) const {
    const Past& past = survey_.at(at);
    const NodeRecord* life = past.find(id_);
    Stays said;
    if (life == nullptr || life->kind == NodeKind::frame || !wants_frame(*life)) return said;
    const std::string own = names_.own(*life), hub = wants_mount(*life) ? names_.mount(*life) : own;
    if (life->is_transform()) {
      const std::string in_frame = hub == own ? frame_above(past, *life) : hub;
      if (!in_frame.empty())
        said[{own, life->placement->source}] = {at, in_frame, life->placement, life->created_at, life->incarnation};
      if (hub == own) return said;
    }
    for (const NodeId& parent : past.parents(*life))
      if (std::string in_frame = holder(past, names_, *past.life(parent)); !in_frame.empty())
        said[{hub, parent.text()}] = {.from = at, .in_frame = std::move(in_frame)};
    return said;
  }

  [[nodiscard]] std::string frame_above(const Past& past, const NodeRecord& life) const {
    const NodeRecord* node = above(past, life);
    return node == nullptr ? std::string{} : holder(past, names_, *node);
  }

  static void note(Stays said, Stamp at, std::map<std::pair<std::string, std::string>, std::vector<Stay>>& tracks) {
    for (auto& [key, stays] : tracks)
      if (!said.contains(key) && !stays.back().in_frame.empty()) stays.push_back({.from = at});
    for (auto& [key, stay] : said) {
      std::vector<Stay>& stays = tracks[key];
      const bool goes_on = !stays.empty() && stays.back().in_frame == stay.in_frame && stays.back().life == stay.life;
      if (!goes_on) stays.push_back(std::move(stay));
    }
  }

  Survey& survey_;
  const VersionPtr& version_;
  const FrameNames& names_;
  const NodeId& id_;
};

Places Survey::places_of(const NodeId& id) { return Surveyor(*this, id).survey(); }

const Past& Survey::at(Stamp at) { return pasts_.try_emplace(at, version_, at, Past::Beginnings::are_ignored).first->second; }

std::string base_of(const VersionPtr& version, const FrameNames& names, const NodeRecord& record) {
  if (wants_mount(record)) return names.mount(record);
  for (const Edge& edge : record.edges)
    if (const NodeRecord* parent = version->recall(edge.parent, edge.parent_incarnation))
      return holder(Past(version, Stamp{Stamp::never().ns - 1}), names, *parent);
  return {};
}

}  // namespace armillary::scene
