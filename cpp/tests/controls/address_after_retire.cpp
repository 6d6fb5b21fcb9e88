// A fault for the address sanitizer: a row is kept beyond its Pin, and read after it was retired. Must be reported.

#include <array>
#include <cstdio>

#include "armillary/series/pose_row.hpp"

using namespace armillary;

int main() {
  RetireList retired;
  Series series(kPoseWidth, {});
  const std::array<double, kPoseWidth> values{1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (std::int64_t t = 0; t < 10; ++t) series.insert({t}, values, nullptr, retired);
  Row kept;
  {
    const Pin pin;
    kept = series.bracket({5}).before;
  }
  for (int i = 0; i < 200; ++i) series.insert({5}, values, nullptr, retired);  // each repeat replaces the chunk
  retired.collect();
  std::printf("read after it was retired: %g\n", kept.values()[4]);
}
