// A fault for the thread sanitizer: a reader without a Pin looks at rows that the writer has replaced and freed.
// Must be reported; the same loop with a Pin is the test "readers under late inserts, ...".

#include <array>
#include <atomic>
#include <cstdio>
#include <thread>

#include "armillary/series/pose_row.hpp"

using namespace armillary;

int main() {
  RetireList retired;
  Series series(kPoseWidth, {});
  const std::array<double, kPoseWidth> values{1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (std::int64_t t = 0; t < 200; t += 2) series.insert({t}, values, nullptr, retired);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    double sum = 0.0;
    while (!stop) {
      const Bracket bracket = series.bracket({100});  // no Pin
      if (bracket.before) sum += bracket.before.values()[4];
    }
    std::printf("read without a pin: %g\n", sum);
  });
  for (int i = 0; i < 20'000; ++i) series.insert({2 * (i % 100) + 1}, values, nullptr, retired);  // each replaces a chunk
  stop = true;
  reader.join();
}
