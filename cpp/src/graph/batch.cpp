// Many instants at once: edges outside, instants inside, block by block.

#include <algorithm>
#include <array>
#include <numeric>

#include "armillary/graph/forest_view.hpp"
#include "armillary/series/pose_row.hpp"
#include "graph/batch_poses.hpp"
#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"
#include "graph/frame_contest.hpp"
#include "graph/path_search.hpp"

namespace armillary {

namespace batch {

std::vector<Kernel> kernels() {
  std::vector<Kernel> usable{base_kernel};
#ifdef ARMILLARY_HAS_AVX2_KERNEL
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) usable.push_back(avx2_kernel);
#endif
  return usable;
}

const Kernel& kernel() {
  static const Kernel fastest = kernels().back();
  return fastest;
}

}  // namespace batch

namespace {

using batch::Ends;
using batch::fill;
using batch::kBlock;
using batch::pose_at;
using batch::Poses;
using batch::put_pose;
using batch::put_row;

/// Up to kBlock instants that share one path.
class Block {
 public:
  Block(const QueryContext& context, const std::optional<Covariance>& fallback) : context_(context), fallback_(fallback) {}

  /// in_T_of for every instant into `result()`. Returns the failing edge's failure.
  Failure answer(const Path& path, std::span<const std::int64_t> stamps) { return answer(path, stamps, kNone, nullptr); }

  /// The same where the pose of one frame in its parent was `given` at each of them.
  Failure answer(const Path& path, std::span<const std::int64_t> stamps, FrameId frame, const Poses* given) {
    stamps_ = stamps;
    given_frame_ = frame;
    given_ = given;
    is_dense_ = std::ranges::is_sorted(stamps);
    if (Failure failure = product(path.up, of_)) return failure;
    if (path.down.empty()) return {};
    if (Failure failure = product(path.down, in_)) return failure;
    invert(in_);
    batch::kernel().compose(in_, of_);
    return {};
  }

  [[nodiscard]] const Poses& result() const { return of_; }

 private:
  static void invert(Poses& poses) {
    for (std::size_t i = 0; i < kBlock; ++i) put_pose(poses, i, pose_at(poses, i).inverse());
  }

  Failure product(const std::vector<PathEdge>& edges, Poses& total) {
    fill(total, {});
    for (const PathEdge& edge : edges) {
      if (Failure failure = evaluate(edge)) return failure;
      batch::kernel().compose(edge_, total);
    }
    return {};
  }

  Failure evaluate(const PathEdge& edge) {
    if (given_ != nullptr && edge.child == given_frame_) {
      edge_ = *given_;
      return {};
    }
    if (edge.provider.kind == ProviderKind::fixed && edge.opens == Stamp::always()) {
      fill(edge_, edge.provider.fixed().value);
      return {};
    }
    if (edge.provider.kind == ProviderKind::sampled && is_straight(edge, context_)) return interpolate(edge);
    return one_by_one(edge);
  }

  Failure one_by_one(const PathEdge& edge) {
    for (std::size_t i = 0; i < stamps_.size(); ++i)
      if (Failure failure = put_evaluated(edge, nullptr, i, edge_)) return failure;
    return {};
  }

  Failure put_evaluated(const PathEdge& edge, const Bracket* bracket, std::size_t i, Poses& poses) {
    Evaluation value;
    const FailureKind kind = evaluate_edge(edge, bracket, {stamps_[i]}, context_, fallback_, value);
    if (kind != FailureKind::none) {
      Failure failure = edge_failure(kind, edge, {stamps_[i]}, context_);
      failure->row = i;
      return failure;
    }
    put_pose(poses, i, value.value);
    return {};
  }

  Failure interpolate(const PathEdge& edge) {
    const Series& series = edge.provider.series();
    if (is_dense_) {
      for (std::size_t i = 0; i < stamps_.size(); ++i) {
        if (!lies_between(bracket_, stamps_[i])) bracket_ = series.bracket({stamps_[i]});
        if (Failure failure = gather(edge, bracket_, i)) return failure;
      }
    } else {
      const Series::Reader reader(series);
      for (std::size_t i = 0; i < stamps_.size(); ++i) reader.probe({stamps_[i]}, probes_[i]);
      for (std::size_t i = 0; i < stamps_.size(); ++i) {
        if (gather_guess(i)) continue;
        if (Failure failure = gather(edge, Series::settle(probes_[i], {stamps_[i]}), i)) return failure;
      }
    }
    bracket_ = {};
    batch::set_cosines(ends_);
    batch::kernel().interpolate(ends_, edge_);
    return {};
  }

  /// The usual case: the guess or a neighbour is right, inside its chunk and no exact stamp.
  bool gather_guess(std::size_t i) {
    const Series::Probe& probe = probes_[i];
    const std::int64_t at = stamps_[i];
    if (probe.rows == nullptr || probe.gaps != nullptr || probe.guess == 0 || probe.guess + 2 >= probe.count) return false;
    const std::int64_t* row = probe.rows + std::size_t{probe.guess} * probe.stride;
    if (row[0] >= at) {
      row -= probe.stride;
    } else if (row[probe.stride] <= at) {
      row += probe.stride;
    }
    const Row before{row}, after{row + probe.stride};
    if (row[0] >= at || after.stamp_ns() <= at || row[0] < probe.floor_ns) return false;
    put_row(ends_.before, i, before);
    put_row(ends_.after, i, after);
    ends_.u[i] = fraction(before, after, at);
    return true;
  }

  static bool lies_between(const Bracket& bracket, std::int64_t at_ns) {
    return bracket.before && bracket.after && bracket.before.stamp_ns() <= at_ns && at_ns < bracket.after.stamp_ns();
  }

  /// Both rows around instant `i`; at an exact stamp, or held, the one row twice.
  Failure gather(const PathEdge& edge, const Bracket& bracket, std::size_t i) {
    const bool inside = bracket.before && bracket.after && bracket.before.stamp_ns() != stamps_[i];
    if (inside) {
      put_row(ends_.before, i, bracket.before);
      put_row(ends_.after, i, bracket.after);
      ends_.u[i] = fraction(bracket.before, bracket.after, stamps_[i]);
      return {};
    }
    if (Failure failure = put_evaluated(edge, &bracket, i, ends_.before)) return failure;
    put_pose(ends_.after, i, pose_at(ends_.before, i));
    ends_.u[i] = 0.0;
    return {};
  }

  const QueryContext& context_;
  const std::optional<Covariance>& fallback_;
  std::span<const std::int64_t> stamps_;
  FrameId given_frame_ = kNone;
  const Poses* given_ = nullptr;
  bool is_dense_ = false;  // in order: neighbours often lie between the same two rows
  Bracket bracket_;
  Series::Probe probes_[kBlock];
  Ends ends_ = batch::identities();
  Poses edge_{}, of_{}, in_{};
};

/// Answers the first of some instants at which one frame of the path is contested, as many as it can; how many.
std::size_t answer_contested(const Topology& topology, const ForestOptions& options, const Question& question,
                             std::span<const std::int64_t> stamps, Block& block, Poses& chosen) {
  ContestedPath contested(topology, options);
  if (!contested.find(question, {stamps[0]})) return 0;
  std::size_t count = 0;
  for (; count < stamps.size() && contested.path().holds_at({stamps[count]}); ++count) {
    const std::optional<Transform> edge = contested.edge_at({stamps[count]});
    if (!edge) break;
    put_pose(chosen, count, *edge);
  }
  if (count == 0) return 0;
  const Failure failure = block.answer(contested.path(), stamps.first(count), contested.frame(), &chosen);
  return failure ? 0 : count;
}

/// Calls `write(first_row, poses, count)` for every block of instants; where sources contest several frames, `choose` answers
/// row by row.
template <typename Complete, typename Choose, typename Write>
Failure for_each_block(const std::atomic<const Topology*>& root, FrameId of, FrameId in_frame,
                       std::span<const std::int64_t> stamps, Complete complete, Choose choose, const ForestOptions& options,
                       Write write) {
  QueryContext context;
  auto block = std::make_unique<Block>(context, options.default_covariance);
  auto chosen = std::make_unique<Poses>();
  Scratch& scratch = Scratch::of_this_thread();
  for (std::size_t done = 0; done < stamps.size();) {
    const Pin pin;  // one per block: a long batch does not keep old memory alive
    const Topology& topology = *root.load();
    context = complete(topology);
    context.want_covariance = false;
    for (const FrameId id : {of, in_frame})
      if (!topology.has(id)) return Evidence{.kind = FailureKind::unknown_frame, .of = id, .row = done};
    Failure failure = scratch.finder.find(topology, of, in_frame, {stamps[done]}, context, scratch.path);
    if (context.policy != Policy::unique && is_contested_frame(failure)) {
      const std::span<const std::int64_t> next = stamps.subspan(done, std::min<std::size_t>(kBlock, stamps.size() - done));
      const Question question{.of = of, .in_frame = in_frame, .context = context};
      if (const std::size_t count = answer_contested(topology, options, question, next, *block, *chosen); count > 0) {
        write(done, block->result(), count);
        done += count;
        continue;
      }
      Result<std::vector<Transform>> rows = choose(topology, question, next);
      if (!rows) {
        rows.failure->row = done;
        return std::move(rows.failure);
      }
      for (std::size_t i = 0; i < rows.value.size(); ++i) put_pose(*chosen, i, rows.value[i]);
      write(done, *chosen, rows.value.size());
      done += rows.value.size();
      continue;
    }
    std::size_t count = 1;
    while (!failure && count < kBlock && done + count < stamps.size() && scratch.path.holds_at({stamps[done + count]})) ++count;
    if (!failure) failure = block->answer(scratch.path, stamps.subspan(done, count));
    while (failure && failure->row > 0) {  // an edge further on may fail at an earlier row
      Failure sooner = block->answer(scratch.path, stamps.subspan(done, failure->row));
      if (!sooner) break;
      failure = std::move(sooner);
    }
    if (failure) {
      name_gap(topology, scratch.path, failure);
      failure->row += done;
      return failure;
    }
    write(done, block->result(), count);
    done += count;
  }
  return {};
}

void write_matrix(const Transform& pose, double* out) {
  const Matrix4 matrix = pose.matrix();
  std::copy(matrix.begin(), matrix.end(), out);
}

void write_xyz_wxyz(const Transform& pose, double* out) {
  const auto& [q, t] = pose;
  const double row[7] = {t.x, t.y, t.z, q.w, q.x, q.y, q.z};
  std::copy(row, row + 7, out);
}

}  // namespace

Failure Forest::poses(FrameId of, FrameId in_frame, std::span<const std::int64_t> stamps, const QueryContext& context,
                      Layout layout, double* out) const {
  const auto write = [&](std::size_t first, const Poses& poses, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (layout == Layout::matrix) {
        write_matrix(pose_at(poses, i), out + (first + i) * 16);
      } else {
        write_xyz_wxyz(pose_at(poses, i), out + (first + i) * 7);
      }
    }
  };
  const auto complete = [&](const Topology& version) { return state_->completed(context, version); };
  const auto choose = [&](const Topology& version, const Question& asked, std::span<const std::int64_t> rows) {
    return state_->contested_rows(version, asked, rows);
  };
  return for_each_block(state_->topology, of, in_frame, stamps, complete, choose, state_->options, write);
}

Failure Forest::map_points(FrameId from, FrameId to, std::span<const std::int64_t> stamps, const QueryContext& context,
                           const double* points, double* out) const {
  const auto write = [&](std::size_t first, const Poses& poses, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const double* p = points + (first + i) * 3;
      const Vector3 mapped = pose_at(poses, i) * Vector3{p[0], p[1], p[2]};
      double* to_row = out + (first + i) * 3;
      to_row[0] = mapped.x;
      to_row[1] = mapped.y;
      to_row[2] = mapped.z;
    }
  };
  const auto complete = [&](const Topology& version) { return state_->completed(context, version); };
  const auto choose = [&](const Topology& version, const Question& asked, std::span<const std::int64_t> rows) {
    return state_->contested_rows(version, asked, rows);
  };
  return for_each_block(state_->topology, from, to, stamps, complete, choose, state_->options, write);
}

// -- All frames seen from one

namespace {

/// One pass over all frames. Frames whose edges cover the instant form connected components.
///
/// Edges are evaluated first, in blocks and step by step: the memory of a block is fetched in parallel, and is still
/// near when the next step reads it.
class Sweeper {
 public:
  struct Place {
    Transform component_T_frame;  // parent_T_frame until the component is known; as `see_from` has it in its component
    FrameId above = kNone;        // parent, where the edge has a value
    FrameId component = kNone;    // topmost frame reached; kNone: not yet known
    FrameId rigid = kNone;        // topmost frame reached over fixed edges alone
    FrameId fresh = kNone;        // topmost frame reached without holding
    FrameId given = kNone;        // topmost frame reached without predicting
    bool is_rigid = false;
    bool is_held = false;
    bool is_predicted = false;
    bool visited = false;  // on the way up: edges that do not cover the instant may form a cycle
  };

  void sweep(const Topology& topology, Stamp at, QueryContext context) {
    places_.assign(topology.frames(), {});
    held_.clear();
    held_children_.clear();
    context.held = &held_;
    finder_.restart();
    for (first_ = 0; first_ < topology.frames(); first_ = last_) {
      last_ = std::min<FrameId>(first_ + kBlock, topology.frames());
      find_edges(topology, at, context);
      probe_edges(at);
      evaluate_edges(at, context);
    }
  }

  /// What was held on the way between frames of one component.
  void add_held(FrameId component, HeldSamples& out) {
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (place(held_children_[i]).component == component) out.push_back(held_[i]);
  }

  /// From here on the frames above `in_frame` are placed as that sees them, and what is below them too: far from a root far away
  /// no digits are lost. Before any other frame is placed.
  const Place& see_from(FrameId in_frame) {
    climbed_.clear();
    for (FrameId frame = in_frame; places_[frame].above != kNone && !places_[frame].visited; frame = places_[frame].above) {
      places_[frame].visited = true;
      climbed_.emplace_back(frame, places_[frame].component_T_frame);
    }
    for (const auto& [frame, above_T_frame] : climbed_) places_[frame].visited = false;
    const Place& here = place(in_frame);
    Transform in_T_frame{};
    places_[in_frame].component_T_frame = in_T_frame;
    for (const auto& [frame, above_T_frame] : climbed_) {
      in_T_frame = in_T_frame * above_T_frame.inverse();
      places_[places_[frame].above].component_T_frame = in_T_frame;
    }
    return here;
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
        here.component = here.rigid = here.fresh = here.given = frame;
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
    here.fresh = here.is_held ? frame : above.fresh;
    here.given = here.is_predicted ? frame : above.given;
  }

  void find_edges(const Topology& topology, Stamp at, const QueryContext& context) {
    for (FrameId id = first_; id < last_; ++id) {
      const FrameNode& node = topology.node(id);
      PathEdge& edge = edges_[id - first_];
      FrameId parent = node.parent;
      const bool wants_twists = context.measured_in != nullptr && topology.bodies() != nullptr && !node.is_mounted() &&
                                !topology.bodies()->links_at(topology.rigid_body(id)).empty();
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
      const auto& [before, after, is_cut] = bracket;
      if (before && after && before.stamp_ns() != at.ns && is_straight(edges_[id - first_], context)) {
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
    held_children_.resize(held_.size(), edge.child);
    here.is_rigid = edge.provider.kind == ProviderKind::fixed;
    here.is_held = value_.held;
    here.is_predicted = value_.predicted;
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
  std::vector<std::pair<FrameId, Transform>> climbed_;
  HeldSamples held_;
  std::vector<FrameId> held_children_;  // whose edge each of them is on
  Evaluation value_;
};

/// Adds what was held; of the same sample at several instants the one that was held the longest.
void keep_oldest(const HeldSamples& more, HeldSamples& all) {
  for (const HeldSample& sample : more) {
    const auto is_same = [&](const HeldSample& known) {
      return known.relation == sample.relation && known.joint == sample.joint;
    };
    const auto known = std::ranges::find_if(all, is_same);
    if (known == all.end())
      all.push_back(sample);
    else if (std::abs(known->age.ns) < std::abs(sample.age.ns))
      known->age = sample.age;
  }
}

/// One frame of a sweep, asked by itself: for its own newest instant, or for the reason why it is missing.
void ask_alone(const ForestView& view, const Question& question, const std::string& name, Sweep& sweep) {
  Result<PoseAnswer> answer = view.pose_by_policy(question);
  if (!answer) return sweep.missing.push_back({name, std::move(answer.failure)});
  const bool is_held = answer.value.held != nullptr;
  if (is_held) keep_oldest(*answer.value.held, sweep.held);
  sweep.found.push_back({question.of, answer.value.transform, answer.value.stamp, is_held, answer.value.predicted});
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
  const Sweeper::Place here = sweeper.see_from(in_frame);
  sweeper.add_held(here.component, sweep.held);
  for (FrameId id = 0; id < topology.frames(); ++id) {
    if (!topology.node(id).alive) continue;
    const Sweeper::Place& there = sweeper.place(id);
    if (there.component != here.component) {
      ask(id);
      continue;
    }
    const Stamp stamp = there.rigid == here.rigid && id != in_frame ? Stamp::always() : at.at;
    sweep.found.push_back({id, there.component_T_frame, stamp, there.fresh != here.fresh, there.given != here.given});
    sweep.names += *topology.node(id).name;
    sweep.name_ends.push_back(static_cast<std::uint32_t>(sweep.names.size()));
  }
  return sweep;
}

}  // namespace armillary
