// S2 and S3: which nodes are alive when, and where that places their frames.

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "armillary/graph/cut_cycles.hpp"
#include "log/resolver_state.hpp"

namespace armillary::log {

namespace {

bool by_strength(const ChangePtr& a, const ChangePtr& b) { return stronger(a->signature(), b->signature()); }

const AddNode& head_of(const NodeIncarnation& incarnation) { return std::get<AddNode>(incarnation.head->payload); }

/// When each incarnation is the one meant: the newest that has begun; for places the oldest one before any has.
void find_currents(std::vector<NodeIncarnation>& incarnations) {
  Stamp next = Stamp::never();
  for (auto one = incarnations.rbegin(); one != incarnations.rend(); ++one) {
    one->current = one->current_for_places = Intervals(Interval{one->created_at, next});
    next = std::min(next, one->created_at);
  }
  NodeIncarnation& oldest = incarnations.front();
  oldest.current_for_places = oldest.current | Intervals(Interval{Stamp::always(), next});
}

ResolvedNode node_of(const ResolverState& state, const NodeId& id, const NodeEntry& entry) {
  ResolvedNode node;
  for (const auto& [incarnation, held] : entry.incarnations) {
    if (held.heads.empty()) continue;
    NodeIncarnation one{.incarnation = incarnation, .head = *std::ranges::min_element(held.heads, by_strength)};
    one.created_at = Stamp::never();
    for (const ChangePtr& head : held.heads) one.created_at = std::min(one.created_at, state.here(*head, head->at));
    const AddNode& head = head_of(one);
    one.frame = head.frame_name.empty() ? id.text() : head.frame_name;
    node.is_stand_in |= head.kind == NodeKind::frame;
    node.incarnations.push_back(std::move(one));
  }
  if (!node.incarnations.empty()) find_currents(node.incarnations);
  return node;
}

/// Null where its AddNode is not held.
const NodeIncarnation* find(const ResolverState& state, const NodeId& id, const Incarnation& incarnation) {
  const auto found = state.out.nodes.find(id);
  if (found == state.out.nodes.end()) return nullptr;
  const auto one = std::ranges::find(found->second.incarnations, incarnation, &NodeIncarnation::incarnation);
  return one == found->second.incarnations.end() ? nullptr : &*one;
}

/// The two ways to look at the past: as it was known then, or as places need it.
enum class View : std::uint8_t { as_of, places };

Intervals current(const ResolverState& state, const NodeId& id, const Incarnation& incarnation, View view) {
  if (is_permanent(id)) return incarnation == Incarnation{} ? Intervals::everything() : Intervals{};
  const NodeIncarnation* one = find(state, id, incarnation);
  if (one == nullptr) return {};
  return view == View::as_of ? one->current : one->current_for_places;
}

/// Where an edge is in force, its parent left aside.
Intervals in_force(const ResolverState& state, const ResolvedEdge& edge, View view) {
  const NodeIncarnation* own = find(state, edge.node, edge.incarnation);
  if (own == nullptr) return {};
  const bool is_first = view == View::places && edge.when.from <= own->created_at;
  const Interval when = is_first ? Interval{Stamp::always(), edge.when.to} : edge.when;
  return Intervals(when) & current(state, edge.node, edge.incarnation, view);
}

Stamp end_of(const ResolverState& state, const IncarnationEntry& entry, const Dot& dot) {
  Stamp end = Stamp::never();
  for (const ChangePtr& record : entry.removals)
    if (std::ranges::find(std::get<RemoveEdges>(record->payload).dots, dot) != std::get<RemoveEdges>(record->payload).dots.end())
      end = std::min(end, state.here(*record, record->at));
  return end;
}

/// All edges but those whose parent stood for a frame that was removed later.
void collect_edges(ResolverState& state, const NodeId& id, const Incarnation& incarnation, const IncarnationEntry& entry) {
  for (const ChangePtr& record : entry.edges) {
    const AddNode* added = std::get_if<AddNode>(&record->payload);
    const Edge& given = added != nullptr ? added->edge : std::get<AddEdge>(record->payload).edge;
    const NodeEntry* parent = state.log.find_node(given.parent);
    if (parent != nullptr && parent->barrier && newer(parent->barrier->signature(), record->signature())) {
      state.report(record, Reason::parent_removed);
      continue;
    }
    const Stamp from = state.here(*record, record->at);
    const Stamp until = std::max(from, end_of(state, entry, record->id));
    state.out.edges.push_back({id, given.parent, incarnation, given.parent_incarnation, record, &given, Interval{from, until}});
  }
}

void report_unknown(ResolverState& state, const IncarnationEntry& entry) {
  std::set<Dot> seen;
  const auto report = [&](const ChangePtr& record) {
    if (seen.insert(record->id).second) state.report(record, Reason::unknown_node);
  };
  for (const ChangePtr& record : entry.edges) report(record);
  for (const auto& [key, steps] : entry.attributes)
    for (const AttributeStep& step : steps) report(step.record);
}

class Numbers {
 public:
  std::uint32_t of(const NodeId& id) {
    const auto [found, is_new] = numbers_.emplace(id, static_cast<std::uint32_t>(ids_.size()));
    if (is_new) ids_.push_back(id);
    return found->second;
  }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  [[nodiscard]] const NodeId& id(std::uint32_t number) const { return ids_[number]; }

 private:
  std::unordered_map<NodeId, std::uint32_t> numbers_{};
  std::vector<NodeId> ids_{};
};

/// Edges in strength order, but for those that close a cycle.
void take_edges(ResolverState& state, View view) {
  Numbers numbers;
  std::vector<Link> links;
  for (const ResolvedEdge& edge : state.out.edges) {
    const Intervals when = in_force(state, edge, view) & current(state, edge.parent, edge.parent_incarnation, view);
    links.push_back({numbers.of(edge.node), numbers.of(edge.parent), when});
  }
  const std::vector<Cut> cuts = cut_cycles(numbers.size(), links);
  for (std::size_t i = 0; i < links.size(); ++i) {
    ResolvedEdge& edge = state.out.edges[i];
    (view == View::as_of ? edge.taken : edge.taken_for_places) = links[i].when - cuts[i].when;
    if (view == View::places || cuts[i].when.empty()) continue;
    Inactive row{edge.record->id, Reason::cycle, cuts[i].when};
    for (const std::uint32_t node : cuts[i].path) row.path.push_back(numbers.id(node).text());
    state.out.inactive.push_back(std::move(row));
  }
}

/// Alive is what the anchors reach: the root, what is detached on purpose, and the stand-ins of frames that exist.
void find_living(ResolverState& state, View view) {
  std::map<NodeId, Intervals> alive{{kRootNode, Intervals::everything()}, {kDetachedNode, Intervals::everything()}};
  for (const auto& [id, node] : state.out.nodes)
    for (const NodeIncarnation& one : node.incarnations)
      if (node.is_stand_in && state.named.contains(one.frame))
        alive[id] = alive[id] | (view == View::as_of ? one.current : one.current_for_places);
  std::map<NodeId, std::vector<const ResolvedEdge*>> below;
  for (const ResolvedEdge& edge : state.out.edges) below[edge.parent].push_back(&edge);
  std::deque<NodeId> waiting;
  for (const auto& [id, when] : alive) waiting.push_back(id);
  for (; !waiting.empty(); waiting.pop_front()) {
    const NodeId parent = waiting.front();
    for (const ResolvedEdge* edge : below[parent]) {
      Intervals& child = alive[edge->node];
      Intervals more = child | ((view == View::as_of ? edge->taken : edge->taken_for_places) & alive[parent]);
      if (more == child) continue;
      child = std::move(more);
      waiting.push_back(edge->node);
    }
  }
  for (auto& [id, node] : state.out.nodes)
    if (const auto found = alive.find(id); found != alive.end())
      (view == View::as_of ? node.alive : node.alive_for_places) = found->second;
}

void report_unreachable(ResolverState& state) {
  for (const ResolvedEdge& edge : state.out.edges) {
    const Intervals when = in_force(state, edge, View::as_of) - current(state, edge.parent, edge.parent_incarnation, View::as_of);
    if (!when.empty()) state.out.inactive.push_back({edge.record->id, Reason::unreachable, when});
  }
}

/// The stand-in of a frame names it while an edge of it is not removed; other nodes have a frame if they ever are alive.
void name_stand_ins(ResolverState& state) {
  for (const ResolvedEdge& edge : state.out.edges) {
    const NodeIncarnation* one = find(state, edge.node, edge.incarnation);
    if (one == nullptr || !state.out.nodes.at(edge.node).is_stand_in) continue;
    if (edge.when.to == Stamp::never()) state.named.insert(one->frame);
  }
}

}  // namespace

void resolve_containment(ResolverState& state) {
  for (const auto& [id, entry] : state.log.nodes()) {
    if (ResolvedNode node = node_of(state, id, entry); !node.incarnations.empty()) state.out.nodes.emplace(id, std::move(node));
    for (const auto& [incarnation, held] : entry.incarnations) {
      collect_edges(state, id, incarnation, held);
      if (held.heads.empty() && !is_permanent(id)) report_unknown(state, held);
    }
  }
  std::ranges::sort(state.out.edges, by_strength, &ResolvedEdge::record);
  name_stand_ins(state);
  for (const View view : {View::as_of, View::places}) {
    take_edges(state, view);
    find_living(state, view);
  }
  report_unreachable(state);
  for (const auto& [id, node] : state.out.nodes)
    for (const NodeIncarnation& one : node.incarnations)
      if (!node.is_stand_in && !(node.alive_for_places & one.current_for_places).empty()) state.out.frames.insert(one.frame);
}

// -- S3

namespace {

std::string frame_of(const ResolverState& state, const NodeId& id, const Incarnation& incarnation) {
  return id == kRootNode ? state.root_frame : find(state, id, incarnation)->frame;
}

/// Of a node that is no Transform by identity; of a Transform by its samples, the first of which is the pose that it was
/// made with. Where that alone speaks it is a fallback.
Piece piece_of(const ResolverState& state, const ResolvedEdge& edge) {
  const NodeIncarnation& own = *find(state, edge.node, edge.incarnation);
  const AddNode& head = head_of(own);
  Piece piece{.parent = frame_of(state, edge.parent, edge.parent_incarnation),
              .provider = Provider::identity,
              .record = edge.record,
              .rank = edge.given->rank,
              .is_base = true};
  if (!is_transform(head.kind)) return piece;
  piece.provider = Provider::node;
  const Interval stay{edge.when.from <= own.created_at ? Stamp::always() : edge.when.from, edge.when.to};
  std::vector<Stamp> stamps;
  if (const auto rows = state.node_rows.find({edge.node, edge.incarnation}); rows != state.node_rows.end())
    std::ranges::copy_if(rows->second, std::back_inserter(stamps), [&](Stamp stamp) { return stay.contains(stamp); });
  const bool has_own_pose = edge.given->pose != nullptr;
  if (stamps.empty() && !has_own_pose) piece.rank = Rank::fallback;
  if (head.placement->is_fixed) return piece;
  stamps.push_back(has_own_pose ? edge.when.from : std::max(own.created_at, stay.from));
  const auto [first, last] = std::ranges::minmax(stamps);
  piece.covered = {first, Stamp{last.ns + 1}};
  return piece;
}

}  // namespace

void count_rows_of_nodes(ResolverState& state) {
  for (const auto& [key, rows] : state.samples.nodes) {
    const NodeIncarnation* own = find(state, key.first, key.second);
    if (own == nullptr) continue;
    for (const SampleRow& row : rows)
      if (row.epoch == state.out.epoch && !state.is_forgotten(row, TrackKind::pose, own->frame, {}))
        state.node_rows[key].push_back(row.stamp);
  }
}

/// Invariant: at each instant the strongest edge of a Transform places it in its own name, others in that of their parent;
/// a track has one piece.
void resolve_base_pieces(ResolverState& state) {
  std::map<NodeId, Intervals> placed;
  std::map<Track, Intervals> covered;
  for (const ResolvedEdge& edge : state.out.edges) {
    if (edge.parent == kDetachedNode || state.out.nodes.count(edge.node) == 0 || state.out.nodes.at(edge.node).is_stand_in)
      continue;
    const auto parent = state.out.nodes.find(edge.parent);
    const Intervals parent_alive = edge.parent == kRootNode          ? Intervals::everything()
                                   : parent == state.out.nodes.end() ? Intervals{}
                                                                     : parent->second.alive_for_places;
    const Intervals when = edge.taken_for_places & parent_alive;
    if (when.empty()) continue;
    const NodeIncarnation& own = *find(state, edge.node, edge.incarnation);
    const AddNode& head = head_of(own);
    const Piece piece = piece_of(state, edge);
    const auto add = [&](const std::string& source, const Intervals& parts) {
      const Track track{TrackKind::pose, own.frame, source};
      for (const Interval& part : parts - covered[track]) {
        state.out.tracks[track].push_back(piece);
        state.out.tracks[track].back().when = part;
      }
      covered[track] = covered[track] | parts;
    };
    Intervals& before = placed[edge.node];
    const Intervals main = is_transform(head.kind) ? when - before : Intervals{};
    if (!main.empty()) add(head.placement->source, main);
    if (const Intervals others = when - main; !others.empty()) add("in:" + edge.parent.text(), others);
    before = before | when;
  }
}

// -- What is read of it

std::vector<NodeId> ResolvedTopology::parents(const NodeId& node, Stamp at) const {
  std::vector<NodeId> found;
  bool is_detached = false;
  for (const ResolvedEdge& edge : edges) {
    if (edge.node != node || !edge.taken.contains(at)) continue;
    is_detached |= edge.parent == kDetachedNode;
    const auto parent = nodes.find(edge.parent);
    const bool is_alive = edge.parent == kRootNode || (parent != nodes.end() && parent->second.alive.contains(at));
    if (is_alive && std::ranges::find(found, edge.parent) == found.end()) found.push_back(edge.parent);
  }
  if (found.empty() && is_detached) found.push_back(kDetachedNode);
  return found;
}

std::map<std::string, AttributeValue> attributes_at(const ChangeLog& log, const NodeId& node, const Incarnation& incarnation,
                                                    Stamp at) {
  std::map<std::string, AttributeValue> found;
  const NodeEntry* entry = log.find_node(node);
  if (entry == nullptr || !entry->incarnations.contains(incarnation)) return found;
  const Epoch epoch = log.epoch();
  for (const auto& [key, steps] : entry->incarnations.at(incarnation).attributes) {
    const AttributeStep *last = nullptr, *newest = nullptr;  // of earlier epochs; of all that count
    for (const AttributeStep& step : steps) {
      const auto order = [](const AttributeStep& one) { return std::pair(one.record->epoch, one.record->signature()); };
      if (step.record->epoch != epoch && (last == nullptr || order(*last) < order(step))) last = &step;
    }
    for (const AttributeStep& step : steps) {
      const bool counts = step.record->epoch == epoch ? step.record->at <= at : &step == last;
      if (counts && (newest == nullptr || newer(step.record->signature(), newest->record->signature()))) newest = &step;
    }
    if (newest != nullptr && newest->setting->value) found.emplace(key, *newest->setting->value);
  }
  return found;
}

}  // namespace armillary::log
