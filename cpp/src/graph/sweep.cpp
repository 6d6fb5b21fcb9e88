// Every frame seen from one, at one instant: one sweep instead of many walks.

#include <algorithm>
#include <array>

#include "armillary/graph/forest_view.hpp"
#include "graph/batch_poses.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace {

/// One pass over all frames. Frames whose edges cover the instant hang together in components.
///
/// Edges are evaluated first, in blocks and step by step: the memory of a block is fetched in parallel, and is still
/// near when the next step reads it.
class Sweeper {
 public:
  struct Place {
    Transform component_T_frame;  // parent_T_frame until the component is known
    FrameId above = kNone;        // parent, where the edge has a value
    FrameId component = kNone;    // topmost frame reached; kNone: not yet known
    FrameId rigid = kNone;        // topmost frame reached over fixed edges alone
    FrameId fresh = kNone;        // topmost frame reached without holding or predicting
    bool is_rigid = false;
    bool is_stale = false;  // held or predicted, as the question has it
    bool visited = false;   // on the way up: edges that do not cover the instant may run in a circle
  };

  void sweep(const Topology& topology, Stamp at, const QueryContext& context) {
    places_.assign(topology.frames(), {});
    finder_.restart();
    for (first_ = 0; first_ < topology.frames(); first_ = last_) {
      last_ = std::min<FrameId>(first_ + kBlock, topology.frames());
      find_edges(topology, at, context);
      probe_edges(at);
      evaluate_edges(at, context);
    }
  }

  const Place& place(FrameId frame) {
    const FrameId above = places_[frame].above;
    const bool is_next_to_known = above != kNone && places_[above].component != kNone;
    if (is_next_to_known) {
      add_to_tree(frame);
    } else {
      climb_from(frame);
    }
    return places_[frame];
  }

  /// Not inlined: the thread's storage would be looked up anew at every access.
  [[gnu::noinline]] static Sweeper& of_this_thread() {
    thread_local Sweeper sweeper;
    return sweeper;
  }

 private:
  void climb_from(FrameId frame) {
    chain_.clear();
    while (places_[frame].component == kNone) {
      Place& here = places_[frame];
      if (here.above == kNone || here.visited) {
        here.component = here.rigid = here.fresh = frame;
        here.component_T_frame = {};
        break;
      }
      here.visited = true;
      chain_.push_back(frame);
      frame = here.above;
    }
    for (; !chain_.empty(); chain_.pop_back()) add_to_tree(chain_.back());
  }

  void add_to_tree(FrameId frame) {
    Place& here = places_[frame];
    if (here.component != kNone) return;
    const Place& above = places_[here.above];
    here.component_T_frame = above.component_T_frame * here.component_T_frame;
    here.component = above.component;
    here.rigid = here.is_rigid ? above.rigid : frame;
    here.fresh = here.is_stale ? frame : above.fresh;
  }

  void find_edges(const Topology& topology, Stamp at, const QueryContext& context) {
    for (FrameId id = first_; id < last_; ++id) {
      const FrameNode& node = topology.node(id);
      PathEdge& edge = edges_[id - first_];
      FrameId parent = node.parent;
      const bool wants_twists =
          context.measured_in != nullptr && topology.bodies() != nullptr && !topology.bodies()->links_at(node.body).empty();
      if (node.tracks == nullptr && !node.may_be_on_cycle && !wants_twists) {
        edge = {id, node.relation, node.provider};
      } else if (!finder_.step(topology, id, at, context, edge, parent)) {
        parent = kNone;
      }
      places_[id].above = node.alive ? parent : kNone;
      if (is_sampled(id)) __builtin_prefetch(edge.provider.pointer);
      __builtin_prefetch(node.name);
    }
  }

  void probe_edges(Stamp at) {
    for (FrameId id = first_; id < last_; ++id)
      if (is_sampled(id)) edges_[id - first_].provider.series().prefetch();
    for (FrameId id = first_; id < last_; ++id)
      if (is_sampled(id)) edges_[id - first_].provider.series().probe(at, probes_[id - first_]);
  }

  void evaluate_edges(Stamp at, const QueryContext& context) {
    for (FrameId id = first_; id < last_; ++id) {
      Place& here = places_[id];
      if (here.above == kNone) continue;
      const Bracket bracket = is_sampled(id) ? Series::settle(probes_[id - first_], at) : Bracket{};
      const auto& [before, after] = bracket;
      if (before && after && before.stamp_ns() != at.ns && context.interpolation == Interpolation::linear) {
        gather(id - first_, before, after, at);
      } else {
        evaluate_unusual(edges_[id - first_], bracket, at, context, here);
      }
    }
    interpolate_gathered();
  }

  void gather(std::uint32_t i, const Row& before, const Row& after, Stamp at) {
    batch::put_row(ends_.before, i, before);
    batch::put_row(ends_.after, i, after);
    ends_.u[i] = fraction(before, after, at.ns);
    gathered_.push_back(i);
  }

  void interpolate_gathered() {
    if (gathered_.empty()) return;
    batch::set_cosines(ends_);
    batch::kernel().interpolate(ends_, between_);
    for (const std::uint32_t i : gathered_) places_[first_ + i].component_T_frame = batch::pose_at(between_, i);
    gathered_.clear();
  }

  void evaluate_unusual(const PathEdge& edge, const Bracket& bracket, Stamp at, const QueryContext& context, Place& here) {
    const bool sampled = edge.provider.kind == ProviderKind::sampled;
    if (evaluate_edge(edge, sampled ? &bracket : nullptr, at, context, {}, value_) != FailureKind::none) {
      here.above = kNone;
      return;
    }
    here.is_rigid = edge.provider.kind == ProviderKind::fixed;
    here.is_stale = value_.held || value_.predicted;
    here.component_T_frame = value_.value;
  }

  [[nodiscard]] bool is_sampled(FrameId id) const {
    return places_[id].above != kNone && edges_[id - first_].provider.kind == ProviderKind::sampled;
  }

  static constexpr FrameId kBlock = batch::kBlock;

  PathFinder finder_;
  std::vector<Place> places_;
  FrameId first_ = 0, last_ = 0;  // the block at hand
  std::array<PathEdge, kBlock> edges_;
  std::array<Series::Probe, kBlock> probes_;
  batch::Ends ends_ = batch::identities();
  batch::Poses between_{};
  std::vector<std::uint32_t> gathered_;  // places in the block that lie between two rows
  std::vector<FrameId> chain_;
  Evaluation value_;
};

/// One frame of a sweep, asked by itself: for its own newest instant, or for the reason of its absence.
void ask_alone(const ForestView& view, const Question& question, const std::string& name, Sweep& sweep) {
  Result<PoseAnswer> answer = view.pose(question);
  if (!answer) return sweep.missing.push_back({name, std::move(answer.failure)});
  sweep.found.push_back({question.of, answer.value.transform, answer.value.stamp, answer.value.held, answer.value.predicted});
  sweep.names += name;
  sweep.name_ends.push_back(static_cast<std::uint32_t>(sweep.names.size()));
}

}  // namespace

Sweep Forest::snapshot(FrameId in_frame, When at, const QueryContext& context) const {
  return ForestView(*this).snapshot(in_frame, at, context);
}

Sweep ForestView::snapshot(FrameId in_frame, When at, const QueryContext& given) const {
  QueryContext context = forest_.state_->completed(given, topology_);
  context.want_covariance = false;
  const Topology& topology = topology_;
  Sweep sweep;
  if (!topology.has(in_frame)) return sweep;
  sweep.found.reserve(topology.frames());
  sweep.name_ends.reserve(topology.frames());
  sweep.names.reserve(16 * std::size_t{topology.frames()});
  const auto ask = [&](FrameId id) {
    ask_alone(*this, {.of = id, .in_frame = in_frame, .at = at, .context = context}, *topology.node(id).name, sweep);
  };
  if (at.latest) {
    for (FrameId id = 0; id < topology.frames(); ++id)
      if (topology.node(id).alive) ask(id);
    return sweep;
  }
  Sweeper& sweeper = Sweeper::of_this_thread();
  sweeper.sweep(topology, at.at, context);
  const Sweeper::Place here = sweeper.place(in_frame);
  const bool seen_from_top = here.component == in_frame;
  for (FrameId id = 0; id < topology.frames(); ++id) {
    if (!topology.node(id).alive) continue;
    const Sweeper::Place& there = sweeper.place(id);
    if (there.component != here.component) {
      ask(id);
      continue;
    }
    const Stamp stamp = there.rigid == here.rigid && id != in_frame ? Stamp::always() : at.at;
    const Transform in_T_frame =
        seen_from_top ? there.component_T_frame : between(here.component_T_frame, there.component_T_frame);
    const bool is_stale = there.fresh != here.fresh, predicts = context.outside == Outside::predict;
    sweep.found.push_back({id, in_T_frame, stamp, is_stale && !predicts, is_stale && predicts});
    sweep.names += *topology.node(id).name;
    sweep.name_ends.push_back(static_cast<std::uint32_t>(sweep.names.size()));
  }
  return sweep;
}

}  // namespace armillary
