#include "armillary/scene/frames.hpp"

#include <algorithm>

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

class Planner {
 public:
  Planner(Draft& draft, const FrameNames& names) : draft_(draft), names_(names) {}

  std::vector<FrameEdit> plan() {
    for (const FrameEvent& event : draft_.events()) take(event);
    return std::move(edits_);
  }

 private:
  void take(const FrameEvent& event) {
    switch (event.kind) {
      case FrameEvent::Kind::born:
        return bear(event);
      case FrameEvent::Kind::died:
        return close(event);
      case FrameEvent::Kind::joined:
        return join(event.node, event.parent, event.at);
      case FrameEvent::Kind::left:
        return leave(event);
    }
  }

  [[nodiscard]] const Version& version() const { return draft_.version(); }
  [[nodiscard]] std::string frame_of(const NodeId& id) const { return names_.of(version(), *version().recall(id)); }

  /// It may have died since: its frame has a past all the same.
  void bear(const FrameEvent& event) {
    const NodeRecord* record = version().recall(event.node);
    if (record == nullptr || record->kind == NodeKind::frame) return;
    const std::vector<NodeId> parents = record->parents();
    if (record->is_placed) {
      if (!parents.empty()) bear_again(*record, event.at);
      return;
    }
    const NodeId first = version().main_parent(*record);
    if (is_transform(*record)) place(*record, first);
    if (first == kLimboNode) add_frame(*record);
    for (std::size_t i = 1; i < parents.size(); ++i) join(event.node, parents[i], event.at);
  }

  void add_frame(const NodeRecord& record) {
    edits_.emplace_back(AddFrame{names_.own(record)});
    draft_.edit_record(record.id, [](NodeRecord& node) { node.is_placed = true; });
  }

  void place(const NodeRecord& record, const NodeId& parent) {
    const Placement& said = *record.placement;
    const std::string of = names_.own(record), in_frame = frame_of(parent);
    if (said.is_fixed)
      edits_.emplace_back(PlaceFixed{of, in_frame, said.source, Stamp::always(), said.parent_T_node, said.covariance});
    else
      edits_.emplace_back(PlaceSample{of, in_frame, said.source, record.created_at, said.parent_T_node, said.covariance});
    draft_.edit_record(record.id, [&](NodeRecord& node) { node.is_placed = true, node.placed_in = parent; });
  }

  /// It lived before: its frames were closed.
  void bear_again(const NodeRecord& record, Stamp at) {
    const NodeId id = record.id;
    const std::vector<NodeId> parents = record.parents();
    if (is_transform(record)) {
      edits_.emplace_back(ReopenFrame{names_.own(record), std::nullopt, at});
      if (!record.has_mount && (parents.size() > 1 || parents.front() != record.placed_in)) mount(id, record.placed_in);
      if (!version().find(id)->has_mount) return;
    }
    for (const NodeId& parent : parents) hang(id, parent, at);
  }

  void close(const FrameEvent& event) {
    const NodeRecord* record = version().recall(event.node);
    if (record == nullptr || !record->is_placed || record->kind == NodeKind::frame) return;
    edits_.emplace_back(CloseFrame{names_.own(*record), std::nullopt, event.at});
    if (record->has_mount) edits_.emplace_back(CloseFrame{names_.hub(*record), std::nullopt, event.at});
  }

  /// One more parent: the node needs a frame that can hang in several.
  void join(const NodeId& id, const NodeId& parent, Stamp at) {
    const NodeRecord* record = version().find(id);
    if (record == nullptr || record->kind == NodeKind::frame) return;
    if (is_transform(*record) && !record->has_mount) mount(id, record->placed_in);
    if (!is_transform(*record)) give_frame(id, parent);
    hang(id, parent, at);
  }

  void hang(const NodeId& id, const NodeId& parent, Stamp at) {
    if (parent == kLimboNode) return;
    edits_.emplace_back(PlaceFixed{names_.hub(*version().find(id)), frame_of(parent), parent.text(), at, {}, {}});
  }

  void mount(const NodeId& id, const NodeId& placed_in) {
    draft_.edit_record(id, [](NodeRecord& node) { node.has_mount = true; });
    const NodeRecord& record = *version().find(id);
    edits_.emplace_back(InsertBetween{names_.own(record), frame_of(placed_in), names_.hub(record), placed_in.text()});
  }

  /// What hung in the frame of the parent by way of this node hangs in its own from now on.
  void give_frame(const NodeId& id, const NodeId& newcomer) {
    const std::vector<NodeId> parents = version().find(id)->parents();
    const auto old = std::ranges::find_if(parents, [&](const NodeId& one) { return one != newcomer; });
    if (old == parents.end()) return;
    const std::string old_frame = frame_of(*old), own = names_.own(*version().find(id));
    const std::vector<std::string> below = frames_below(id);
    draft_.edit_record(id, [](NodeRecord& node) { node.has_frame = node.is_placed = true; });
    edits_.emplace_back(PlaceFixed{own, old_frame, old->text(), Stamp::always(), {}, {}});
    for (const std::string& frame : below) edits_.emplace_back(InsertBetween{frame, old_frame, own, old->text()});
  }

  /// Of the nearest descendants that have one.
  [[nodiscard]] std::vector<std::string> frames_below(const NodeId& id) const {
    std::vector<std::string> found;
    std::vector<NodeId> waiting{id};
    while (!waiting.empty()) {
      const NodeRecord* node = version().find(waiting.back());
      waiting.pop_back();
      for (const NodeId& child : version().children(*node)) {
        const NodeRecord* record = version().find(child);
        if (!record->is_in_own_frame())
          waiting.push_back(child);
        else if (record->kind != NodeKind::frame)
          found.push_back(names_.hub(*record));
      }
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void leave(const FrameEvent& event) {
    const NodeRecord* record = version().find(event.node);
    const bool hangs_in_parents = record != nullptr && record->is_placed && (record->has_mount || !is_transform(*record));
    if (!hangs_in_parents || record->kind == NodeKind::frame || event.parent == kLimboNode) return;
    edits_.emplace_back(CloseFrame{names_.hub(*record), event.parent.text(), event.at});
  }

  Draft& draft_;
  const FrameNames& names_;
  std::vector<FrameEdit> edits_;
};

}  // namespace

std::vector<FrameEdit> frame_edits(Draft& draft, const FrameNames& names) {
  if (draft.events().empty()) return {};
  return Planner(draft, names).plan();
}

}  // namespace armillary::scene
