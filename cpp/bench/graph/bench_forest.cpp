// Native costs of questions over a chain: one instant, many instants, a whole sweep. CPU time, best of repeats.

#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "armillary/graph/forest.hpp"

using namespace armillary;

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr int kEdges = 10, kRows = 10'000, kAsked = 20'000;

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

template <typename Work>
double best_ns(int repeats, double count, Work work) {
  double best = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double start = cpu_ns();
    work();
    best = std::min(best, (cpu_ns() - start) / count);
  }
  return best;
}

std::string frame(int i) { return "f" + std::to_string(i); }

void fill_chain(Forest& forest, std::mt19937_64& random) {
  for (int edge = 0; edge < kEdges; ++edge) {
    std::vector<std::int64_t> stamps;
    std::vector<double> rows;
    for (int i = 0; i < kRows; ++i) {
      stamps.push_back(i * kMillisecond + static_cast<std::int64_t>(random() % 500'000));
      const Rotation q = Rotation::exp({0.0, 0.0, 1e-3 * i});
      rows.insert(rows.end(), {q.w, q.x, q.y, q.z, 1e-3 * i, 0.0, 1.0});
    }
    if (forest.set_poses({frame(edge + 1), frame(edge), ""}, stamps, rows.data(), nullptr)) std::puts("refused");
  }
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  Forest forest({});
  fill_chain(forest, random);
  std::vector<std::int64_t> times;
  for (int i = 0; i < kAsked; ++i) times.push_back(kMillisecond + static_cast<std::int64_t>(random() % (9'990 * kMillisecond)));
  const FrameId root = forest.find_frame("f0");
  for (const int edges : {1, 3, 10}) {
    const FrameId of = forest.find_frame(frame(edges));
    double sum = 0.0;
    const double one = best_ns(10, kAsked, [&] {
      for (const std::int64_t t : times)
        sum += forest.pose({.of = of, .in_frame = root, .at = When::exactly({t})}).value.transform.translation.x;
    });
    std::vector<double> out(times.size() * 7);
    const double many = best_ns(10, kAsked, [&] {
      if (forest.poses(of, root, times, {}, Forest::Layout::xyz_wxyz, out.data())) std::puts("failed");
    });
    std::printf("%2d edges: one instant %7.1f ns, many %7.1f ns each  (%g)\n", edges, one, many, sum > 0 ? 0.0 : sum);
  }
}
