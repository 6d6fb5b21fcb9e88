#pragma once

// The operations of a tape as functions. Where casadi and C disagree on a corner, these are casadi's.
// Without a name from outside: each file that includes this has its own, compiled for its own instruction set.

#include <cmath>
#include <type_traits>

#include "armillary/expr/tape_op.hpp"

namespace armillary {

namespace {

/// `f` of the numbers that `at(k)` gives, as many as it takes.
template <typename F, typename At>
[[gnu::always_inline]] inline double applied(F f, At at) {
  if constexpr (std::is_invocable_v<F, double, double>)
    return f(at(0), at(1));
  else if constexpr (std::is_invocable_v<F, double, double, double>)
    return f(at(0), at(1), at(2));
  else if constexpr (std::is_invocable_v<F, double, double, double, double>)
    return f(at(0), at(1), at(2), at(3));
  else
    return f(at(0), at(1), at(2), at(3), at(4), at(5));
}

/// Two functions of one number, with a place for each.
struct SineCosine {};

/// Calls `use` with the function of `op`: of up to six numbers for sums of products, of two for others, which ignore the second
/// where they need one; or with SineCosine.
template <typename Use>
[[gnu::always_inline]] inline void with_function(TapeOp op, Use use) {
  switch (op) {
    case TapeOp::constant:
    case TapeOp::input:
    case TapeOp::output:
    case TapeOp::assign:
      return use([](double a, double) { return a; });
    case TapeOp::add:
      return use([](double a, double b) { return a + b; });
    case TapeOp::sub:
      return use([](double a, double b) { return a - b; });
    case TapeOp::mul:
      return use([](double a, double b) { return a * b; });
    case TapeOp::div:
      return use([](double a, double b) { return a / b; });
    case TapeOp::neg:
      return use([](double a, double) { return -a; });
    case TapeOp::sq:
      return use([](double a, double) { return a * a; });
    case TapeOp::twice:
      return use([](double a, double) { return 2.0 * a; });
    case TapeOp::inv:
      return use([](double a, double) { return 1.0 / a; });
    case TapeOp::sqrt:
      return use([](double a, double) { return std::sqrt(a); });
    case TapeOp::exp:
      return use([](double a, double) { return std::exp(a); });
    case TapeOp::log:
      return use([](double a, double) { return std::log(a); });
    case TapeOp::pow:
      return use([](double a, double b) { return std::pow(a, b); });
    case TapeOp::sin:
      return use([](double a, double) { return std::sin(a); });
    case TapeOp::cos:
      return use([](double a, double) { return std::cos(a); });
    case TapeOp::tan:
      return use([](double a, double) { return std::tan(a); });
    case TapeOp::asin:
      return use([](double a, double) { return std::asin(a); });
    case TapeOp::acos:
      return use([](double a, double) { return std::acos(a); });
    case TapeOp::atan:
      return use([](double a, double) { return std::atan(a); });
    case TapeOp::atan2:
      return use([](double a, double b) { return std::atan2(a, b); });
    case TapeOp::sinh:
      return use([](double a, double) { return std::sinh(a); });
    case TapeOp::cosh:
      return use([](double a, double) { return std::cosh(a); });
    case TapeOp::tanh:
      return use([](double a, double) { return std::tanh(a); });
    case TapeOp::asinh:
      return use([](double a, double) { return std::asinh(a); });
    case TapeOp::acosh:
      return use([](double a, double) { return std::acosh(a); });
    case TapeOp::atanh:
      return use([](double a, double) { return std::atanh(a); });
    case TapeOp::abs:
      return use([](double a, double) { return std::fabs(a); });
    case TapeOp::sign:
      return use([](double a, double) { return a < 0.0 ? -1.0 : a > 0.0 ? 1.0 : a; });
    case TapeOp::floor:
      return use([](double a, double) { return std::floor(a); });
    case TapeOp::ceil:
      return use([](double a, double) { return std::ceil(a); });
    case TapeOp::min:
      return use([](double a, double b) { return b < a || a != a ? b : a; });
    case TapeOp::max:
      return use([](double a, double b) { return b > a || a != a ? b : a; });
    case TapeOp::lt:
      return use([](double a, double b) { return a < b ? 1.0 : 0.0; });
    case TapeOp::le:
      return use([](double a, double b) { return a <= b ? 1.0 : 0.0; });
    case TapeOp::eq:
      return use([](double a, double b) { return a == b ? 1.0 : 0.0; });
    case TapeOp::ne:
      return use([](double a, double b) { return a != b ? 1.0 : 0.0; });
    case TapeOp::logical_and:
      return use([](double a, double b) { return ((a != 0.0) & (b != 0.0)) ? 1.0 : 0.0; });
    case TapeOp::logical_or:
      return use([](double a, double b) { return ((a != 0.0) | (b != 0.0)) ? 1.0 : 0.0; });
    case TapeOp::logical_not:
      return use([](double a, double) { return a == 0.0 ? 1.0 : 0.0; });
    case TapeOp::if_else_zero:
      return use([](double a, double b) { return a != 0.0 ? b : 0.0; });
    case TapeOp::fmod:
      return use([](double a, double b) { return std::fmod(a, b); });
    case TapeOp::copysign:
      return use([](double a, double b) { return std::copysign(a, b); });
    case TapeOp::hypot:
      return use([](double a, double b) { return std::hypot(a, b); });
    case TapeOp::log1p:
      return use([](double a, double) { return std::log1p(a); });
    case TapeOp::expm1:
      return use([](double a, double) { return std::expm1(a); });
    case TapeOp::mul_add:
      return use([](double a, double b, double c) { return a * b + c; });
    case TapeOp::mul_sub:
      return use([](double a, double b, double c) { return a * b - c; });
    case TapeOp::sub_mul:
      return use([](double a, double b, double c) { return c - a * b; });
    case TapeOp::two_products:
      return use([](double a, double b, double c, double d) { return a * b + c * d; });
    case TapeOp::products_apart:
      return use([](double a, double b, double c, double d) { return a * b - c * d; });
    case TapeOp::three_products:
      return use([](double a, double b, double c, double d, double e, double f) { return (a * b + c * d) + e * f; });
    case TapeOp::sine_cosine:
      return use(SineCosine{});
  }
  __builtin_unreachable();
}

}  // namespace

}  // namespace armillary
