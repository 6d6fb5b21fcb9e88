#include "armillary/scene/frames.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace armillary::scene {

std::string FrameNames::own(const NodeRecord& record) const {
  if (record.id == kRootNode) return root_frame_;
  if (record.kind == NodeKind::frame) return record.placement->frame;
  return record.id.text();
}

std::string FrameNames::of(const Version& version, const NodeRecord& record) const { return own(version.framed(record)); }

std::string FrameNames::hub(const NodeRecord& record) const {
  return record.has_mount ? record.id.text() + "/mount" : own(record);
}

std::string FrameNames::base(const Version& version, const NodeRecord& record) const {
  if (record.has_mount) return hub(record);
  const std::vector<NodeId> parents = record.parents();
  return parents.empty() ? root_frame_ : of(version, *version.find(parents.front()));
}

namespace {

bool is_transform(const NodeRecord& record) {
  return record.kind == NodeKind::transform || record.kind == NodeKind::uncertain_transform;
}

/// Whether there is, or should be, a frame in the world that goes with a node.
bool concerns_frames(const NodeRecord& record) {
  const bool had_frame = record.previous != nullptr && record.previous->is_placed;
  return record.is_placed || had_frame || record.is_in_own_frame();
}

/// Brings the frames of touched nodes in line with their edges, ancestors first.
///
/// A Transform that only ever had one parent is placed in the frame of that one. Whatever has or had several gets a hub,
/// a frame that hangs by identity in the frame of each parent for as long as that one holds it: one relation an edge.
class Planner {
 public:
  Planner(Draft& draft, const FrameNames& names) : draft_(draft), names_(names) {}

  std::vector<FrameEdit> plan() {
    for (const FrameEvent& event : draft_.events()) at_[event.node] = event.at;
    for (const FrameEvent& event : draft_.events()) visit(event.node);
    return std::move(edits_);
  }

 private:
  [[nodiscard]] const Version& version() const { return draft_.version(); }
  [[nodiscard]] const NodeRecord& record_of(const NodeId& id) const { return *version().recall(id); }
  [[nodiscard]] std::string frame_of(const NodeId& id) const { return names_.of(version(), record_of(id)); }

  void visit(const NodeId& id) {
    if (!at_.contains(id) || !done_.insert(id).second || version().recall(id) == nullptr) return;
    const std::vector<Edge> edges = record_of(id).edges;
    for (const Edge& edge : edges) visit(edge.parent);
    align(id);
  }

  void align(const NodeId& id) {
    const NodeRecord& record = record_of(id);
    if (record.kind == NodeKind::frame || !record.has_known_beginning()) return;
    if (!record.is_placed && record.previous != nullptr && record.previous->is_placed) end_former(*record.previous, at_.at(id));
    if (is_transform(record_of(id)))
      align_transform(id);
    else
      align_others(id);
  }

  /// The id was used again: what its former life hung in holds no more.
  void end_former(const NodeRecord& former, Stamp at) {
    edits_.emplace_back(CloseFrame{names_.own(former), std::nullopt, at});
    if (former.has_mount) edits_.emplace_back(CloseFrame{names_.hub(former), std::nullopt, at});
  }

  // -- Transforms

  void align_transform(const NodeId& id) {
    if (!record_of(id).is_placed) place(id);
    if (!record_of(id).is_placed) return;
    if (!record_of(id).has_mount && has_other_parents(record_of(id))) mount(id);
    if (record_of(id).has_mount)
      hang_by_edges(id);
    else
      hold_or_close(id);
  }

  [[nodiscard]] bool has_other_parents(const NodeRecord& record) const {
    return std::ranges::any_of(record.edges, [&](const Edge& edge) {
      return edge.parent != NodeId{} && edge.parent != kLimboNode && edge.parent != record.placed_in;
    });
  }

  void place(const NodeId& id) {
    const NodeRecord& record = record_of(id);
    const Placement& said = *record.placement;
    const NodeId parent = version().main_parent(record);
    if (parent == kLimboNode || !version().is_alive(parent)) return;  // its frame is not known yet
    const std::string of = names_.own(record), in_frame = frame_of(parent);
    if (said.is_fixed)
      edits_.emplace_back(PlaceFixed{of, in_frame, said.source, Stamp::always(), said.parent_T_node, said.covariance});
    else
      edits_.emplace_back(PlaceSample{of, in_frame, said.source, record.created_at, said.parent_T_node, said.covariance});
    draft_.edit_record(id, [&](NodeRecord& node) { node.is_placed = true, node.placed_in = parent; });
  }

  void hold_or_close(const NodeId& id) {
    const NodeRecord& record = record_of(id);
    const bool is_held = record.has_living_parent(), is_closed = record.closed_at != Stamp::never();
    const Stamp at = at_.at(id);
    if (is_held == !is_closed) return;
    if (is_held)
      edits_.emplace_back(ReopenFrame{names_.own(record), std::nullopt, at});
    else
      edits_.emplace_back(CloseFrame{names_.own(record), std::nullopt, at});
    draft_.edit_record(id, [&](NodeRecord& node) { node.closed_at = is_held ? Stamp::never() : at; });
  }

  /// From now on the mount hangs in the parents, and the Transform always in the mount.
  void mount(const NodeId& id) {
    const NodeRecord& before = record_of(id);
    const NodeId first = before.placed_in;
    if (before.closed_at != Stamp::never()) edits_.emplace_back(ReopenFrame{names_.own(before), std::nullopt, before.closed_at});
    draft_.edit_record(id, [&](NodeRecord& node) {
      node.has_mount = true;
      node.closed_at = Stamp::never();
      const auto edge = std::ranges::find(node.edges, first, &Edge::parent);
      if (edge != node.edges.end()) edge->hanging = Edge::Hanging::now;
    });
    const NodeRecord& record = record_of(id);
    edits_.emplace_back(InsertBetween{names_.own(record), frame_of(first), names_.hub(record), first.text()});
  }

  // -- Groups, geometry, connections, roots of others

  void align_others(const NodeId& id) {
    const NodeRecord& record = record_of(id);
    if (record.is_in_own_frame() && !record.is_placed) give_frame(id);
    if (record_of(id).is_placed) hang_by_edges(id);
  }

  /// What hung in the frame of a parent by way of this node hangs in its own from now on.
  void give_frame(const NodeId& id) {
    const NodeRecord& record = record_of(id);
    const std::string own = names_.own(record);
    const auto oldest = std::ranges::find_if(record.edges, [](const Edge& edge) { return edge.is_in_force(); });
    const NodeId old = oldest == record.edges.end() ? kLimboNode : oldest->parent;
    edits_.emplace_back(AddFrame{own});
    if (old != kLimboNode) {
      const std::string old_frame = frame_of(old);
      edits_.emplace_back(PlaceFixed{own, old_frame, old.text(), Stamp::always(), {}, {}});
      for (const std::string& frame : frames_below(id)) edits_.emplace_back(InsertBetween{frame, old_frame, own, old.text()});
    }
    draft_.edit_record(id, [&](NodeRecord& node) {
      node.has_frame = node.is_placed = true;
      const auto edge = std::ranges::find(node.edges, old, &Edge::parent);
      if (edge != node.edges.end() && old != kLimboNode) edge->hanging = Edge::Hanging::now;
    });
  }

  /// Of the nearest descendants that have one in the world already.
  [[nodiscard]] std::vector<std::string> frames_below(const NodeId& id) const {
    std::vector<std::string> found;
    std::vector<NodeId> waiting{id};
    std::unordered_set<NodeId> seen{id};  // edges that are not in force may run in a circle
    while (!waiting.empty()) {
      const NodeRecord& node = record_of(waiting.back());
      waiting.pop_back();
      node.children.for_each([&](const NodeId& child, const Nothing&) {
        const NodeRecord& record = record_of(child);
        if (record.kind == NodeKind::frame || !seen.insert(child).second) return;
        if (record.is_placed)
          found.push_back(names_.hub(record));
        else
          waiting.push_back(child);
      });
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  // -- One relation an edge

  void hang_by_edges(const NodeId& id) {
    const std::vector<Edge> edges = record_of(id).edges;
    const std::string hub = names_.hub(record_of(id));
    std::vector<std::pair<Dot, Edge::Hanging>> changed;
    for (const Edge& edge : edges) {
      if (edge.parent == NodeId{} || edge.parent == kLimboNode || version().recall(edge.parent) == nullptr) continue;
      const bool is_held =
          std::ranges::any_of(edges, [&](const Edge& other) { return other.parent == edge.parent && other.is_in_force(); });
      const Edge::Hanging next = hung(hub, edge, is_held, at_.at(id));
      if (edge.hanging == Edge::Hanging::never && edge.is_in_force()) reopen_twins(hub, edge, edges);
      if (next != edge.hanging) changed.emplace_back(edge.mark.dot, next);
    }
    if (changed.empty()) return;
    draft_.edit_record(id, [&](NodeRecord& node) {
      for (const auto& [dot, state] : changed) std::ranges::find(node.edges, dot, dot_of)->hanging = state;
    });
  }

  /// Another edge to the same parent ended, and with it their relation, before this one was heard of.
  void reopen_twins(const std::string& hub, const Edge& edge, const std::vector<Edge>& edges) {
    for (const Edge& twin : edges)
      if (twin.parent == edge.parent && twin.hanging == Edge::Hanging::no_more && twin.removed && twin.until > edge.from)
        edits_.emplace_back(ReopenFrame{hub, edge.parent.text(), twin.until});
  }

  static const Dot& dot_of(const Edge& edge) { return edge.mark.dot; }

  /// `is_held`: by this edge, or by another one to the same parent; they share a relation.
  [[nodiscard]] Edge::Hanging hung(const std::string& hub, const Edge& edge, bool is_held, Stamp at) {
    Edge::Hanging state = edge.hanging;
    const bool is_first = state == Edge::Hanging::never && version().is_alive(edge.parent);
    if (is_first || (state == Edge::Hanging::no_more && edge.is_in_force())) {
      edits_.emplace_back(PlaceFixed{hub, frame_of(edge.parent), edge.parent.text(), is_first ? edge.from : at, {}, {}});
      state = Edge::Hanging::now;
    }
    if (state == Edge::Hanging::now && !edge.is_in_force()) {
      if (!is_held) edits_.emplace_back(CloseFrame{hub, edge.parent.text(), edge.removed ? edge.until : at});
      state = Edge::Hanging::no_more;
    }
    return state;
  }

  Draft& draft_;
  const FrameNames& names_;
  std::unordered_map<NodeId, Stamp> at_;  // of nodes that were touched: when that is true
  std::unordered_set<NodeId> done_;
  std::vector<FrameEdit> edits_;
};

}  // namespace

std::vector<FrameEdit> frame_edits(Draft& draft, const FrameNames& names) {
  const auto is_to_plan = [&](const FrameEvent& event) {
    const NodeRecord* record = draft.version().recall(event.node);
    return record != nullptr && concerns_frames(*record);
  };
  if (std::ranges::none_of(draft.events(), is_to_plan)) return {};
  return Planner(draft, names).plan();
}

}  // namespace armillary::scene
