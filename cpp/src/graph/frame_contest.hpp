#pragma once

// The usual contest: one frame on the path, which several sources place in the same parent. The candidates differ in one edge.

#include <optional>
#include <utility>
#include <vector>

#include "armillary/graph/candidates.hpp"
#include "armillary/graph/forest.hpp"
#include "graph/scratch.hpp"
#include "math/parallel_poses.hpp"

namespace armillary {

/// A path of which one edge is contested. The search goes over it once, and what the candidates share is evaluated once.
///
/// It does not apply where edges are driven by joints, predicted or computed from twists, or may be on a cycle; nor where a
/// candidate has no answer, or a covariance that is needed is unknown or singular. Then the general way is to be taken, which
/// gives the same answers (`Chooser`). One at a time on a thread: its memory is kept for the next.
class ContestedPath {
 public:
  ContestedPath(const Topology& topology, const ForestOptions& options) : topology_(topology), options_(options) {}

  /// Whether the question is of that kind at an instant. The path of the first source is then in `Scratch::path`, and stays
  /// there as long as this is used. The caller has pinned the version.
  [[nodiscard]] bool find(const Question& question, Stamp at);

  /// The best estimate of all sources at that instant; false where the general way is to be taken.
  [[nodiscard]] bool fuse(PolicyAnswer& out);

  /// The contested edge as the policy has it at another instant of the same path; none where the general way is to be taken.
  [[nodiscard]] std::optional<Transform> edge_at(Stamp at);

  [[nodiscard]] FrameId frame() const { return rivals_.front().child; }
  [[nodiscard]] const Path& path() const { return path_; }

 private:
  /// An edge as the path passes it, from `of` upwards and down to `in_frame`.
  [[nodiscard]] const PathEdge& step(std::size_t i) const {
    return i < path_.up.size() ? path_.up[i] : path_.down[path_.down.size() - 1 - (i - path_.up.size())];
  }
  [[nodiscard]] bool is_downward(std::size_t i) const { return i >= path_.up.size(); }
  [[nodiscard]] std::size_t length() const { return path_.up.size() + path_.down.size(); }

  [[nodiscard]] bool list_rivals(FrameId contested);
  [[nodiscard]] FrameId parent_of(const PathEdge& edge) const;
  [[nodiscard]] bool add_edge(const PathEdge& edge, FrameId parent, Judgement& judgement) const;
  [[nodiscard]] Symmetric6 floored(const Symmetric6& covariance, const Transform& value) const;
  void add_product(const Judgement& judgement, const ParallelEstimate& estimate, Fusion& out) const;

  [[nodiscard]] std::optional<Transform> fused_at(Stamp at);
  [[nodiscard]] std::optional<Transform> newest_at(Stamp at);
  [[nodiscard]] std::optional<Transform> surest_at(Stamp at);
  [[nodiscard]] bool add_errors_before(Stamp at, const QueryContext& context, Symmetric6& total);
  [[nodiscard]] bool is_known_at(Stamp at);
  [[nodiscard]] const Bracket& bracket_of(std::size_t i, Stamp at);

  /// Working memory of one reading thread.
  struct Memory {
    std::vector<std::pair<FrameId, const Track*>> contested;  // frames that the search passed, with their sources
    std::vector<PathEdge> rivals;
    std::vector<SourceId> sources;
    std::vector<ParallelPose> poses;
    std::vector<Bracket> brackets;

    static Memory& of_this_thread() {
      thread_local Memory memory;
      return memory;
    }
  };
  class FirstSource;

  const Topology& topology_;
  const ForestOptions& options_;
  Path& path_ = Scratch::of_this_thread().path;
  Memory& memory_ = Memory::of_this_thread();
  std::vector<PathEdge>& rivals_ = memory_.rivals;
  std::vector<ParallelPose>& poses_ = memory_.poses;
  Question question_;
  Stamp at_{};
  FrameId parent_ = kNone;
  std::size_t place_ = 0;
};

}  // namespace armillary
