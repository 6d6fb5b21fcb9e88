#include "graph/edge_twist.hpp"

#include "graph/scratch.hpp"

namespace armillary {

namespace {

/// The product of fixed poses, last edge leftmost; none where one of them is not fixed then.
std::optional<Transform> fixed_product(const std::vector<PathEdge>& edges, Stamp at) {
  Transform product;
  for (const PathEdge& edge : edges) {
    if (edge.provider.kind != ProviderKind::fixed || at < edge.opens) return std::nullopt;
    product = edge.provider.fixed().value * product;
  }
  return product;
}

/// Where the head is on its body, seen from the edge. False where poses do not tell.
bool find_mount(const Topology& topology, Stamp at, EdgeTwist& twist) {
  if (!twist.is_mounted_elsewhere()) return true;
  Scratch& scratch = Scratch::of_this_thread();
  if (scratch.finder.find(topology, twist.reading.link->head, twist.own, at, {}, scratch.mount)) return false;
  const std::optional<Transform> top_T_head = fixed_product(scratch.mount.up, at);
  const std::optional<Transform> top_T_own = fixed_product(scratch.mount.down, at);
  if (!top_T_head || !top_T_own) return false;
  twist.own_T_head = between(*top_T_own, *top_T_head);
  return true;
}

FrameId parent_of(const Topology& topology, const PathEdge& edge) {
  const FrameNode& node = topology.node(edge.child);
  if (node.tracks == nullptr) return node.parent;
  for (const Track& track : node.tracks->tracks)
    for (const Run& run : track.runs)
      if (run.relation == edge.relation) return run.parent;
  return kNone;
}

EdgeTwist mounted(const PathEdge& edge, const TwistReading& reading, Stamp at, const Topology& topology) {
  EdgeTwist twist{.reading = reading, .is_reverse = reading.link->body != topology.node(edge.child).body};
  twist.own = twist.is_reverse ? parent_of(topology, edge) : edge.child;
  return twist.own != kNone && find_mount(topology, at, twist) ? twist : EdgeTwist{};
}

}  // namespace

EdgeTwist twist_of(const PathEdge& edge, Stamp at, const QueryContext& context) {
  EdgeTwist found;
  if (edge.links == nullptr) return found;
  for (const TwistLink* link = edge.links; link->rivals(*edge.links); ++link) {
    const TwistLink* before = found.reading.link;
    if (before != nullptr && link->preference < before->preference) continue;
    const TwistReading reading = reading_at(*link, at);
    if (reading.link == nullptr) continue;
    const EdgeTwist twist = mounted(edge, reading, at, *context.measured_in);
    if (!twist) continue;
    const bool is_equal = before != nullptr && link->preference == before->preference;
    if (!is_equal) found = twist;
    found.is_contested = is_equal;
  }
  if (found.is_contested) found.reading.link = nullptr;
  return found;
}

Velocity EdgeTwist::body_form(const Transform& parent_T_child) const {
  const Velocity of_head = reading.body_form();
  if (!is_reverse && !is_mounted_elsewhere()) return of_head;
  const Transform carried = child_T_head(parent_T_child);
  const Velocity moved = (carried.rotation * of_head).at(-carried.translation);
  return is_reverse ? -moved : moved;
}

Upper6 EdgeTwist::by_reading(const Transform& parent_T_child) const {
  return scaled(is_reverse ? -1.0 : 1.0, upper_adjoint(child_T_head(parent_T_child)));
}

}  // namespace armillary
