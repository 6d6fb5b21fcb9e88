#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace armillary {

/// What an instruction of a tape does. The numbers are the format: a new one goes to the end, none is used again.
enum class TapeOp : std::uint32_t {
  constant,
  input,
  output,
  assign,
  add,
  sub,
  mul,
  div,
  neg,
  sq,
  twice,
  inv,
  sqrt,
  exp,
  log,
  pow,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  abs,
  sign,
  floor,
  ceil,
  min,
  max,
  lt,
  le,
  eq,
  ne,
  logical_and,
  logical_or,
  logical_not,
  if_else_zero,
  fmod,
  copysign,
  hypot,
  log1p,
  expm1,
  // In no tape: several instructions run as one step. Products and the sums or differences behind them, each rounded; the
  // sine and the cosine of one number.
  mul_add,
  mul_sub,
  sub_mul,
  two_products,
  products_apart,
  three_products,
  sine_cosine,
};

inline constexpr std::array<std::string_view, 48> kTapeOpNames{
    "constant", "input", "output", "assign", "add",   "sub", "mul",          "div",   "neg",      "sq",    "twice", "inv",
    "sqrt",     "exp",   "log",    "pow",    "sin",   "cos", "tan",          "asin",  "acos",     "atan",  "atan2", "sinh",
    "cosh",     "tanh",  "asinh",  "acosh",  "atanh", "abs", "sign",         "floor", "ceil",     "min",   "max",   "lt",
    "le",       "eq",    "ne",     "and",    "or",    "not", "if_else_zero", "fmod",  "copysign", "hypot", "log1p", "expm1"};

inline constexpr std::size_t kTapeOps = kTapeOpNames.size();
static_assert(static_cast<std::size_t>(TapeOp::expm1) + 1 == kTapeOps);

/// How many registers an instruction reads: none, `a`, or `a` and `b`.
[[nodiscard]] constexpr int registers_read(TapeOp op) {
  switch (op) {
    case TapeOp::constant:
    case TapeOp::input:
      return 0;
    case TapeOp::add:
    case TapeOp::sub:
    case TapeOp::mul:
    case TapeOp::div:
    case TapeOp::pow:
    case TapeOp::atan2:
    case TapeOp::min:
    case TapeOp::max:
    case TapeOp::lt:
    case TapeOp::le:
    case TapeOp::eq:
    case TapeOp::ne:
    case TapeOp::logical_and:
    case TapeOp::logical_or:
    case TapeOp::if_else_zero:
    case TapeOp::fmod:
    case TapeOp::copysign:
    case TapeOp::hypot:
      return 2;
    default:
      return 1;
  }
}

}  // namespace armillary
