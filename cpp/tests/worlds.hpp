#pragma once

// What the tests of the forest share: short calls, and values that encode when and where they were set.

#include <atomic>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <string>
#include <thread>

#include "armillary/graph/forest.hpp"
#include "check.hpp"

namespace tests {

using namespace armillary;

inline constexpr double kCloseM = 1e-9;
inline constexpr double kCloseRad = 1e-9;

/// Waits until each of them has counted so far: threads at work are judged by what they did, not by how long they had.
/// One that never does is a hang, which ends the run.
inline void until_each_is(std::int64_t enough, std::initializer_list<const std::atomic<std::int64_t>*> counts) {
  for (const std::atomic<std::int64_t>* count : counts)
    while (*count < enough) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

inline Transform at_x(double x) { return {{}, {x, 0.0, 0.0}}; }
inline Transform at_y(double y) { return {{}, {0.0, y, 0.0}}; }

inline Retention keeping(std::int64_t history_ns, std::size_t max_samples = 0) {
  Retention retention;
  retention.history = {history_ns};
  retention.max_samples = max_samples;
  return retention;
}

inline QueryContext holding() {
  QueryContext context;
  context.outside = Outside::hold;
  return context;
}

/// A forest with short calls. A sample at stamp t is placed at x = t, so that every interpolated x is its stamp.
struct World {
  Forest forest;

  explicit World(ForestOptions options = {}) : forest(std::move(options)) {}

  Failure put(std::string_view of, std::string_view in, std::initializer_list<std::int64_t> stamps,
              std::string_view source = "") {
    for (const std::int64_t t : stamps)
      if (Failure failure = forest.set_pose({of, in, source}, {t}, at_x(static_cast<double>(t)))) return failure;
    return {};
  }
  Failure put_x(std::string_view of, std::string_view in, std::int64_t stamp, double x, std::string_view source = "") {
    return forest.set_pose({of, in, source}, {stamp}, at_x(x));
  }
  Failure put_many(std::string_view of, std::string_view in, const std::vector<std::int64_t>& stamps,
                   std::string_view source = "") {
    std::vector<double> rows;
    for (const std::int64_t t : stamps) rows.insert(rows.end(), {1.0, 0.0, 0.0, 0.0, static_cast<double>(t), 0.0, 0.0});
    return forest.set_poses({of, in, source}, stamps, rows.data(), nullptr);
  }
  Failure fix(std::string_view of, std::string_view in, const Transform& pose = {}, Stamp from = Stamp::always(),
              std::string_view source = "") {
    FixedPose fixed;
    fixed.value = pose;
    return forest.fix({of, in, source}, from, fixed);
  }
  Failure attach(std::string_view of, std::string_view to, std::int64_t at) {
    Result<PoseAnswer> seen = forest.pose(question(of, to, When::exactly({at})));
    if (!seen) return std::move(seen.failure);
    const FrameEdit edit = PlaceFixed{.of = std::string(of),
                                      .in_frame = std::string(to),
                                      .source = "me",
                                      .from = {at},
                                      .pose = std::make_shared<const FixedPose>(FixedPose{.value = seen.value.transform}),
                                      .rank = Rank::statement};
    return forest.transact({&edit, 1});
  }

  [[nodiscard]] Question question(std::string_view of, std::string_view in, When at = {},
                                  const QueryContext& context = {}) const {
    return {.of = forest.find_frame(of),
            .in_frame = forest.find_frame(in),
            .at = at,
            .fixed_frame = kNone,
            .of_at = {},
            .context = context};
  }
  [[nodiscard]] Result<PoseAnswer> latest(std::string_view of, std::string_view in, const QueryContext& context = {}) const {
    return forest.pose(question(of, in, When::newest(), context));
  }
  [[nodiscard]] Result<PoseAnswer> pose(std::string_view of, std::string_view in, std::int64_t at,
                                        const QueryContext& context = {}) const {
    return forest.pose(question(of, in, When::exactly({at}), context));
  }
  [[nodiscard]] FailureKind kind(std::string_view of, std::string_view in, std::int64_t at,
                                 const QueryContext& context = {}) const {
    return pose(of, in, at, context).failure.kind();
  }
  /// NaN where there is no answer.
  [[nodiscard]] double x(std::string_view of, std::string_view in, std::int64_t at, const QueryContext& context = {}) const {
    const Result<PoseAnswer> answer = pose(of, in, at, context);
    return answer ? answer.value.transform.translation.x : std::numeric_limits<double>::quiet_NaN();
  }
  [[nodiscard]] RelationId relation(std::string_view of, std::string_view in, std::string_view source = "") const {
    return forest.find_relation(forest.find_frame(of), forest.find_frame(in), source);
  }
  [[nodiscard]] std::size_t samples(std::string_view of, std::string_view in, std::string_view source = "") const {
    const auto info = forest.relation(relation(of, in, source));
    return info ? info->samples : 0;
  }
};

/// f0 is the root; f1 in f0, f2 in f1, ...; link i moves along x, x = its stamp.
inline void add_chain(World& world, int links) {
  for (int i = 0; i < links; ++i) (void)world.put("f" + std::to_string(i + 1), "f" + std::to_string(i), {0, 10});
}

inline bool is_close(const Transform& a, const Transform& b, double m = kCloseM, double rad = kCloseRad) {
  return norm(a.translation - b.translation) <= m && a.rotation.angle_to(b.rotation) <= rad;
}

}  // namespace tests
