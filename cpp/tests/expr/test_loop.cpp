// Loops: dependents that are moved to where numbers are zero.

#include <cmath>
#include <vector>

#include "armillary/expr/loop.hpp"
#include "armillary/expr/loop_rows.hpp"
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

namespace {

/// d^2 - q and, behind it, 2 d.
Tape square_root_and_slope() {
  return std::get<Tape>(Tape::make({.code = {{TapeOp::input, 0, 0, 0},
                                             {TapeOp::input, 1, 1, 0},
                                             {TapeOp::sq, 2, 1, 0},
                                             {TapeOp::sub, 2, 2, 0},
                                             {TapeOp::output, 0, 2, 0},
                                             {TapeOp::twice, 1, 1, 0},
                                             {TapeOp::output, 1, 1, 0}},
                                    .constants = {},
                                    .inputs = 2,
                                    .outputs = 2}));
}

}  // namespace

TEST(loop_rows_follow, "each row is on the branch of the one before") {
  double rows[] = {1.0, -1.0, 2.5, 77.0, 900.0, 77.0};
  std::uint8_t uncertain[3];
  const FollowedRows followed = follow_rows(square_root_and_slope(), 1, 3, rows, uncertain);
  CHECK(followed.rows == 3 && followed.reached == 1.0 && uncertain[1] == 0 && uncertain[2] == 0);
  CHECK_CLOSE(rows[3], -std::sqrt(2.5), 1e-14);
  CHECK_CLOSE(rows[5], -30.0, 1e-13);
}

TEST(loop_rows_stop, "the first row to which the way ends, or cannot be begun, ends it") {
  std::uint8_t uncertain[3];
  double unreachable[] = {1.0, 1.0, -1.0, 0.0, 2.0, 0.0}, flat[] = {0.0, 0.0, 1.0, 0.0}, strange[] = {NAN, 1.0, 1.0, 1.0};
  const FollowedRows left = follow_rows(square_root_and_slope(), 1, 3, unreachable, uncertain);
  CHECK(left.rows == 1);
  CHECK_CLOSE(left.reached, 0.5, 1e-6);  // half way the two roots meet
  CHECK(follow_rows(square_root_and_slope(), 1, 2, flat, uncertain).rows == 1);
  CHECK(follow_rows(square_root_and_slope(), 1, 2, strange, uncertain).rows == 1);
}
