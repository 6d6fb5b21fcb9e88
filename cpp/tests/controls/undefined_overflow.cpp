// A fault for the undefined-behaviour sanitizer: stamps further apart than an int64 can say. Must be reported.

#include <cstdint>
#include <cstdio>
#include <limits>

#include "armillary/series/pose_row.hpp"

using namespace armillary;

int main() {
  const std::int64_t first[1 + kPoseWidth] = {std::numeric_limits<std::int64_t>::min()};
  const std::int64_t last[1 + kPoseWidth] = {std::numeric_limits<std::int64_t>::max()};
  std::printf("how far: %g\n", fraction({first, nullptr}, {last, nullptr}, 5));
}
