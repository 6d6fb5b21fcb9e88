// What belongs together in a change: checked where one comes from outside.

#include <set>

#include "log/change_fields.hpp"

namespace armillary::log {

namespace {

void check_edge(const NodeId& node, const Edge& edge) {
  if (is_permanent(node)) refuse("root and the node of what is detached have no parents");
  if (edge.parent == node) refuse("a node is not its own parent");
  if (is_permanent(edge.parent) && edge.parent_incarnation != Incarnation{})
    refuse("root and the node of what is detached have one incarnation alone");
}

void check_settings(const std::vector<Setting>& settings) {
  std::set<std::string_view> keys;
  for (const Setting& setting : settings)
    if (!keys.insert(setting.key).second) refuse("attribute '" + setting.key + "' is set twice");
}

void check_incarnation(const AddNode& payload, const Change& change) {
  if (payload.kind == NodeKind::frame) return;  // that of a removal, or none
  const bool is_shared = payload.edge.parent == kDetachedNode;
  const bool is_right =
      is_shared ? payload.incarnation.id == Dot{} : payload.incarnation == Incarnation{change.time, change.authority, change.id};
  if (!is_right) refuse("field 'incarnation' is not that of a new node");
}

struct Checks {
  const Change& change;

  void operator()(const AddNode& payload) const {
    const NodeKind kind = payload.kind;
    const bool carries = kind == NodeKind::geometry || kind == NodeKind::connection;
    if (kind == NodeKind::unknown) refuse("field 'kind' is unknown");
    if (is_transform(kind) != (payload.placement != nullptr)) refuse("a Transform has a placement, and others have none");
    if (payload.placement && !payload.placement->is_fixed && change.at == Stamp::always())
      refuse("a Transform that may move is added at an instant");
    if (carries != (payload.content != nullptr)) refuse("a Geometry and a Connection have a content, and others have none");
    if (!payload.frame_name.empty()) check_name(payload.frame_name, "frame_name");
    // A frame that is named like a node may be that of the node.
    if (kind == NodeKind::frame && payload.node != stand_in_of(payload.frame_name) &&
        NodeId::parse(payload.frame_name) != payload.node)
      refuse("field 'node' is not the one that stands for the frame");
    check_incarnation(payload, change);
    check_edge(payload.node, payload.edge);
    check_settings(payload.settings);
  }
  void operator()(const AddEdge& payload) const { check_edge(payload.node, payload.edge); }
  void operator()(const RemoveEdges& payload) const {
    if (is_permanent(payload.node)) refuse("root and the node of what is detached have no parents");
  }
  void operator()(const SetAttributes& payload) const {
    if (payload.node == kDetachedNode) refuse("the node of what is detached has no attributes");
    if (payload.node == kRootNode && payload.incarnation != Incarnation{}) refuse("root has one incarnation alone");
    check_settings(payload.settings);
  }
  void operator()(const Assert& payload) const {
    const bool is_moving = std::holds_alternative<Sampled>(payload.value) || std::holds_alternative<Ended>(payload.value);
    if (parent_of(payload.value) == payload.track.of || sampled_in(payload.value) == payload.track.of)
      refuse("a frame is not in itself");
    const bool voids_samples = std::holds_alternative<Empty>(payload.value) && !sampled_in(payload.value).empty();
    if (voids_samples && payload.since == Stamp::always()) refuse("samples begin at an instant");
    if (is_moving && payload.since == Stamp::always()) refuse("samples, and an end, begin at an instant");
    if (payload.track.kind == TrackKind::twist && !is_moving && !std::holds_alternative<Empty>(payload.value))
      refuse("motion is sampled, or has ended");
  }
  void operator()(const SetVariables& payload) const {
    std::set<std::string_view> names;
    for (const VariableSetting& setting : payload.variables)
      if (!names.insert(setting.name).second) refuse("variable '" + setting.name + "' is set twice");
  }
  void operator()(const Prefer& payload) const { check_interval(payload.start, payload.end); }
  void operator()(const Forget& payload) const { check_interval(payload.start, payload.end); }
  void operator()(const auto&) const {}

  static void check_interval(Stamp start, Stamp end) {
    if (!(start < end)) refuse("field 'end' is not after 'start'");
  }
};

}  // namespace

void refuse(const std::string& what) { throw InvalidChange("This is no change: " + what + "."); }

void check_name(const std::string& name, const char* field) {
  if (name.empty()) refuse("field '" + std::string(field) + "' has a name that is empty");
  if (name.front() == '/') refuse("field '" + std::string(field) + "' has a name that begins with '/'");
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(name[i]);
    const bool is_c1 = byte == 0xC2 && i + 1 < name.size() && static_cast<std::uint8_t>(name[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || is_c1) refuse("field '" + std::string(field) + "' has a name with a control character");
  }
}

void check_change(const Change& change) {
  if (change.author && change.id.author != author_key(change.author->name, change.author->bearer))
    refuse("field 'author' is not the one of its id");
  std::visit(Checks{change}, change.payload);
}

}  // namespace armillary::log
