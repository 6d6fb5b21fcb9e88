// Batches give the same bits on every processor.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "expr/tape_kernel.hpp"

using namespace armillary;
using tape::kLanes;
using tape::Lanes;

namespace {

constexpr std::size_t kPlaces = 8, kRounds = 200;

/// Any bits, multiples of a quarter turn, zeros of both signs, and ordinary numbers.
double nasty_number(std::mt19937_64& chance) {
  switch (chance() % 6) {
    case 0: {
      const std::uint64_t bits = chance();
      double number;
      std::memcpy(&number, &bits, sizeof number);
      return number;
    }
    case 1:
      return (static_cast<double>(chance() % 200'000) - 100'000.0) * 1.5707963267948966;
    case 2:
      return chance() % 2 == 0 ? 0.0 : -0.0;
    default:
      return std::uniform_real_distribution<>(-10.0, 10.0)(chance);
  }
}

bool is_same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

bool are_same(const std::vector<Lanes>& a, const std::vector<Lanes>& b) {
  for (std::size_t place = 0; place < a.size(); ++place)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      if (!is_same(a[place].of[lane], b[place].of[lane])) return false;
  return true;
}

/// From six places into the other two.
TapeStep step_of(TapeOp op) { return {op, 6, {0, op == TapeOp::sine_cosine ? 7U : 1U, 2, 3, 4, 5}}; }

}  // namespace

TEST(tape_kernels_agree, "all kernels give the same bits for every operation") {
  std::mt19937_64 chance(1);
  const auto last = static_cast<std::uint32_t>(TapeOp::sine_cosine);
  for (std::size_t round = 0; round < kRounds; ++round)
    for (auto number = static_cast<std::uint32_t>(TapeOp::assign); number <= last; ++number) {
      const TapeStep step = step_of(static_cast<TapeOp>(number));
      std::vector<Lanes> given(kPlaces), first;
      for (Lanes& lanes : given)
        for (double& value : lanes.of) value = nasty_number(chance);
      for (const tape::Kernel& kernel : tape::kernels()) {
        std::vector<Lanes> work = given;
        kernel.run({&step, 1}, work.data());
        CHECK(first.empty() || are_same(first, work));
        first = work;
      }
    }
}

TEST(tape_kernels_turn_alike, "angles side by side turn as those of many rows do") {
  std::mt19937_64 chance(2);
  const TapeStep step = step_of(TapeOp::sine_cosine);
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::vector<Lanes> work(kPlaces);
    for (double& angle : work[0].of) angle = nasty_number(chance);
    for (const tape::Kernel& kernel : tape::kernels()) {
      Lanes sines = work[0], cosines;
      kernel.turn(kLanes, sines.of, cosines.of);
      kernel.run({&step, 1}, work.data());
      CHECK(are_same({sines, cosines}, {work[6], work[7]}));
    }
  }
}
