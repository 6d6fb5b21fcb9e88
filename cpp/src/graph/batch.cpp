// Many instants at once: edges outside, instants inside, block by block.

#include <algorithm>
#include <numeric>

#include "armillary/series/pose_row.hpp"
#include "graph/batch_poses.hpp"
#include "graph/evaluate.hpp"
#include "graph/forest_state.hpp"

namespace armillary {

namespace batch {

const Kernel& kernel() {
#ifdef ARMILLARY_HAS_AVX2_KERNEL
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return wide ? avx2_kernel : base_kernel;
#else
  return base_kernel;
#endif
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
  Failure answer(const Path& path, std::span<const std::int64_t> stamps) {
    stamps_ = stamps;
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
    if (edge.provider.kind == ProviderKind::fixed && edge.opens == Stamp::always()) {
      fill(edge_, edge.provider.fixed().value);
      return {};
    }
    if (edge.provider.kind == ProviderKind::sampled && context_.interpolation == Interpolation::linear) return interpolate(edge);
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
    if (probe.rows == nullptr || probe.guess == 0 || probe.guess + 2 >= probe.count) return false;
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
  bool is_dense_ = false;  // in order: neighbours often lie between the same two rows
  Bracket bracket_;
  Series::Probe probes_[kBlock];
  Ends ends_ = batch::identities();
  Poses edge_{}, of_{}, in_{};
};

/// Calls `write(first_row, poses, count)` for every block of instants.
template <typename Complete, typename Write>
Failure for_each_block(const std::atomic<const Topology*>& root, FrameId of, FrameId in_frame,
                       std::span<const std::int64_t> stamps, Complete complete, const std::optional<Covariance>& fallback,
                       Write write) {
  QueryContext context;
  auto block = std::make_unique<Block>(context, fallback);
  Scratch& scratch = Scratch::of_this_thread();
  for (std::size_t done = 0; done < stamps.size();) {
    const Pin pin;  // one per block: a long batch does not keep old memory alive
    const Topology& topology = *root.load();
    context = complete(topology);
    context.want_covariance = false;
    for (const FrameId id : {of, in_frame})
      if (!topology.has(id)) return Evidence{.kind = FailureKind::unknown_frame, .of = id, .row = done};
    Failure failure = scratch.finder.find(topology, of, in_frame, {stamps[done]}, context, scratch.path);
    std::size_t count = 1;
    while (!failure && count < kBlock && done + count < stamps.size() && scratch.path.holds_at({stamps[done + count]})) ++count;
    if (!failure) failure = block->answer(scratch.path, stamps.subspan(done, count));
    while (failure && failure->row > 0) {  // an edge further on may fail at an earlier row
      Failure sooner = block->answer(scratch.path, stamps.subspan(done, failure->row));
      if (!sooner) break;
      failure = std::move(sooner);
    }
    if (failure) {
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
  return for_each_block(state_->topology, of, in_frame, stamps, complete, state_->options.default_covariance, write);
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
  return for_each_block(state_->topology, from, to, stamps, complete, state_->options.default_covariance, write);
}

}  // namespace armillary
