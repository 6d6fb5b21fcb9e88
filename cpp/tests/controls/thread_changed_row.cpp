// A fault for the thread sanitizer: a row is changed after it was published. Must be reported.

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
  for (std::int64_t t = 0; t < 10; ++t) series.insert({t}, values, nullptr, retired);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    double sum = 0.0;
    while (!stop) {
      const Pin pin;
      sum += series.bracket({5}).before.values()[4];
    }
    std::printf("read while it changes: %g\n", sum);
  });
  auto* x = const_cast<double*>(series.bracket({5}).before.values() + 4);
  for (int i = 0; i < 20'000; ++i) *x = i;
  stop = true;
  reader.join();
}
