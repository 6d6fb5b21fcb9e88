// Loops: dependents that are moved to where numbers are zero.

#include <cmath>
#include <vector>

#include "armillary/loop.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

Tape tape(std::vector<TapeInstruction> code) {
  return std::get<Tape>(Tape::make({.code = std::move(code), .constants = {}, .inputs = 2, .outputs = 1}));
}

/// d^2 - q = 0, for the positions (q, d).
Loop square_root() {
  return {tape({{TapeOp::input, 0, 0, 0},
                {TapeOp::input, 1, 1, 0},
                {TapeOp::sq, 1, 1, 0},
                {TapeOp::sub, 0, 1, 0},
                {TapeOp::output, 0, 0, 0}}),
          tape({{TapeOp::input, 0, 1, 0}, {TapeOp::twice, 0, 0, 0}, {TapeOp::output, 0, 0, 0}})};
}

}  // namespace

TEST(loop_closes, "dependents go to the nearest zero") {
  for (const double start : {1.0, -1.0}) {
    double positions[] = {2.0, start};
    CHECK(square_root().close(positions));
    CHECK_CLOSE(positions[1], std::copysign(std::sqrt(2.0), start), 1e-14);
    CHECK(positions[0] == 2.0);
  }
}

TEST(loop_stays_open, "where there is no zero, or none can be found, it says so") {
  double unreachable[] = {-1.0, 0.5}, flat[] = {2.0, 0.0}, strange[] = {NAN, 1.0};
  CHECK(!square_root().close(unreachable));
  CHECK(!square_root().close(flat));
  CHECK(!square_root().close(strange));
}
