// The core by itself, without Python: a robot that drives, a camera bolted to it, one question about the past.

#include <armillary/graph/forest.hpp>
#include <cstdio>

int main() {
  using namespace armillary;
  constexpr std::int64_t kSecond = 1'000'000'000;

  Forest forest(ForestOptions{});
  const FixedPose base_T_camera{.value = {{}, {0.1, 0.0, 0.4}}};
  if (forest.fix({"camera", "base", "example"}, Stamp::always(), base_T_camera)) return 1;
  for (const std::int64_t second : {1, 2}) {
    const Transform map_T_base{{}, {static_cast<double>(second), 0.0, 0.0}};
    if (forest.set_pose({"base", "map", "example"}, {second * kSecond}, map_T_base)) return 1;
  }

  const FrameId camera = forest.find_frame("camera"), map = forest.find_frame("map");
  const Result<PoseAnswer> answer = forest.pose({.of = camera, .in_frame = map, .at = When::exactly({3 * kSecond / 2})});
  if (!answer) {
    std::printf("no answer: %s\n", to_string(answer.failure.kind()));
    return 1;
  }
  const Vector3& p = answer.value.transform.translation;
  std::printf("camera in map at 1.5 s: %.3f %.3f %.3f\n", p.x, p.y, p.z);

  const Result<PoseAnswer> later = forest.pose({.of = camera, .in_frame = map, .at = When::exactly({9 * kSecond})});
  std::printf("and at 9 s: %s\n", to_string(later.failure.kind()));
  return 0;
}
