// Rows and indices are allocated with aligned_alloc: here it can be made to fail.

#include <array>
#include <cstdlib>

#include "armillary/series/pose_row.hpp"
#include "failing_memory.hpp"
#include "worlds.hpp"

thread_local int tests::allocations_left = -1;

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (tests::allocations_left == 0) return nullptr;
  if (tests::allocations_left > 0) --tests::allocations_left;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

using namespace armillary;
using tests::with_allocations;
using tests::World;

namespace {

using Values = std::array<double, kPoseWidth>;

Values values_at(std::int64_t t) { return {1.0, 0.0, 0.0, 0.0, static_cast<double>(t % 7), 0.0, static_cast<double>(t)}; }

bool is_whole_and_sorted(const Series& series) {
  bool whole = true;
  std::int64_t last = Stamp::always().ns;
  series.for_each(Stamp::always(), Stamp::never(), [&](const Row& row) {
    whole = whole && row.stamp_ns() > last && row.values()[6] == static_cast<double>(row.stamp_ns());
    last = row.stamp_ns();
  });
  return whole;
}

/// Inserts in order, late, repeated and with a covariance; now and then memory runs out.
void insert_while_memory_fails(Series& series, RetireList& retired, int fail_every) {
  std::array<double, Series::kSideWords> side{};
  for (std::int64_t i = 0; i < 1500; ++i) {
    const std::int64_t t = i % 5 == 4 ? 3 * i - 50 : 3 * i + i % 2;
    const auto insert = [&] { series.insert({t}, values_at(t), i > 700 ? side.data() : nullptr, retired); };
    with_allocations(i % fail_every == 0 ? static_cast<int>(i % 3) : -1, insert);
  }
}

}  // namespace

TEST(memory_series, "a series that could not get memory is whole and goes on") {
  for (const bool thins : {false, true})
    for (const int fail_every : {1, 2, 3, 7, 64}) {
      RetireList retired;
      Retention retention = tests::keeping(3000, 400);
      if (thins) retention.thin_m = retention.thin_rad = 0.5;
      Series series(kPoseWidth, retention);
      insert_while_memory_fails(series, retired, fail_every);
      CHECK(is_whole_and_sorted(series));
      std::size_t rows = 0;
      series.for_each(Stamp::always(), Stamp::never(), [&](const Row&) { ++rows; });
      CHECK(rows == series.size());
      CHECK(series.bracket(series.newest()).before.stamp_ns() == series.newest().ns);
    }
}

TEST(memory_forest, "a forest that could not get memory still answers what it knows") {
  for (int count = 0; count < 12; ++count) {
    World world;
    for (const char* parent : {"p0", "p1"}) world.fix(parent, "map");
    world.put("cup", "p0", {0, 10, 20, 30});
    with_allocations(count, [&] { world.put("cup", "p1", {15}); });
    with_allocations(count, [&] { world.put("cup", "p0", {5, 15}); });
    with_allocations(count, [&] { world.put("new", "p0", {1, 2, 3}); });
    CHECK_CLOSE(world.x("cup", "map", 10), 10.0, 0.0);
    CHECK(!world.put("cup", "p0", {40, 50}));
    CHECK_CLOSE(world.x("cup", "map", 45), 45.0, 1e-12);
    world.forest.clear();
    CHECK(world.kind("cup", "map", 45) == FailureKind::no_samples);
  }
}
