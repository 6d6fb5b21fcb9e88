#include "expr/tape_joining.hpp"

#include <optional>

namespace armillary {

namespace {

/// For each step, how many times what it writes is read.
std::vector<std::uint32_t> reads_of(std::span<const TapeStep> steps, std::size_t places) {
  constexpr std::size_t nobody = SIZE_MAX;
  std::vector<std::size_t> writer(places, nobody);
  std::vector<std::uint32_t> reads(steps.size());
  for (std::size_t at = 0; at < steps.size(); ++at) {
    for (std::size_t k = 0; k < places_read(steps[at].op); ++k)
      if (const std::size_t by = writer[steps[at].of[k]]; by != nobody) ++reads[by];
    writer[steps[at].target] = at;
    if (steps[at].op == TapeOp::sine_cosine) writer[steps[at].of[1]] = nobody;
  }
  return reads;
}

/// A product, and a sum or difference that reads it.
std::optional<TapeStep> product_and_sum(const TapeStep& product, const TapeStep& next) {
  if (next.op != TapeOp::add && next.op != TapeOp::sub) return std::nullopt;
  const bool is_first = next.of[0] == product.target;
  if (!is_first && next.of[1] != product.target) return std::nullopt;
  const TapeOp op = next.op == TapeOp::add ? TapeOp::mul_add : is_first ? TapeOp::mul_sub : TapeOp::sub_mul;
  return TapeStep{op, next.target, {product.of[0], product.of[1], is_first ? next.of[1] : next.of[0]}};
}

/// A product, and another one that it is added to or apart from.
std::optional<TapeStep> product_and_product(const TapeStep& first, const TapeStep& next) {
  if (next.of[2] != first.target) return std::nullopt;
  const auto [a, b, c, d] = std::array{first.of[0], first.of[1], next.of[0], next.of[1]};
  if (next.op == TapeOp::mul_add) return TapeStep{TapeOp::two_products, next.target, {a, b, c, d}};
  if (next.op == TapeOp::sub_mul) return TapeStep{TapeOp::products_apart, next.target, {a, b, c, d}};
  if (next.op == TapeOp::mul_sub) return TapeStep{TapeOp::products_apart, next.target, {c, d, a, b}};
  return std::nullopt;
}

/// Two steps as one, if they can be.
std::optional<TapeStep> joined(const TapeStep& first, const TapeStep& next) {
  if (first.op == TapeOp::mul) {
    const auto both = product_and_sum(first, next);
    return both ? both : product_and_product(first, next);
  }
  if (first.op != TapeOp::two_products || next.op != TapeOp::mul_add || next.of[2] != first.target) return std::nullopt;
  return TapeStep{
      TapeOp::three_products, next.target, {first.of[0], first.of[1], first.of[2], first.of[3], next.of[0], next.of[1]}};
}

}  // namespace

std::vector<TapeStep> joined_steps(std::span<const TapeStep> steps, std::size_t first_register, std::size_t places) {
  const std::vector<std::uint32_t> reads = reads_of(steps, places);
  std::vector<TapeStep> fewer;
  std::vector<bool> is_inner;  // beside each: read once, and by a step
  fewer.reserve(steps.size());
  for (std::size_t at = 0; at < steps.size(); ++at) {
    TapeStep step = steps[at];
    while (!fewer.empty() && is_inner.back()) {
      const auto both = joined(fewer.back(), step);
      if (!both) break;
      step = *both;
      fewer.pop_back();
      is_inner.pop_back();
    }
    fewer.push_back(step);
    is_inner.push_back(reads[at] == 1 && step.target >= first_register);
  }
  fewer.shrink_to_fit();
  return fewer;
}

}  // namespace armillary
