// Native costs of one series: append, late insert, find, bytes a row. CPU time, best of repeats.

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <random>
#include <vector>

#include "armillary/series/pose_row.hpp"
#include "armillary/series/series.hpp"

using namespace armillary;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

template <typename Work>
double best_ns(int repeats, int count, Work work) {
  double best = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double start = cpu_ns();
    for (int i = 0; i < count; ++i) work(i);
    best = std::min(best, (cpu_ns() - start) / count);
  }
  return best;
}

struct Jitter {
  std::mt19937_64 random{7};
  std::int64_t operator()(std::int64_t width_ns) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(width_ns));
  }
};

}  // namespace

int main() {
  const std::array<double, kPoseWidth> row{1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0};
  Jitter jitter;
  RetireList retired;
  const std::size_t before = mallinfo2().uordblks;
  auto series = std::make_unique<Series>(kPoseWidth, Retention{});
  std::int64_t clock = 0;
  const auto append = [&](int) {
    clock += kMillisecond;
    series->insert({clock + jitter(kMillisecond / 2)}, row, nullptr, retired);
  };
  for (int i = 0; i < 10'000; ++i) append(i);
  retired.collect();
  const double bytes = static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(series->size());
  std::printf("bytes a row            %7.1f\n", bytes);
  std::printf("append, expiring       %7.1f ns\n", best_ns(20, 5000, append));
  for (const std::int64_t late_ms : {10, 1000, 5000, 9000}) {
    const double cost = best_ns(20, 500, [&](int) {
      series->insert({clock - late_ms * kMillisecond - jitter(400 * kMillisecond)}, row, nullptr, retired);
    });
    std::printf("insert %4lld ms late    %7.1f ns\n", static_cast<long long>(late_ms), cost);
  }
  double sum = 0.0;
  const double find = best_ns(20, 10'000, [&](int) {
    Pin pin;
    sum += series->bracket({clock - jitter(9900 * kMillisecond)}).before.values()[4];
  });
  std::printf("find, random time      %7.1f ns   (%g)\n", find, sum > 0 ? 0.0 : sum);
}
