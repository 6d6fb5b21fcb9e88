#include "tape_program.hpp"

#include <algorithm>
#include <utility>

namespace armillary {

namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;

bool computes(TapeOp op) { return op != TapeOp::constant && op != TapeOp::input && op != TapeOp::output; }

/// For each instruction: the output into which it can write its value at once, or that it leaves to such a one.
struct Outputs {
  std::vector<std::uint32_t> written_by;  // by instruction that computes: the output, or kNowhere
  std::vector<bool> is_spared;            // by output instruction
};

Outputs outputs_written_at_once(const std::vector<TapeInstruction>& code, std::size_t registers) {
  Outputs outputs{std::vector<std::uint32_t>(code.size(), kNowhere), std::vector<bool>(code.size())};
  std::vector<std::uint32_t> wanting(registers, kNowhere);  // by register: the output instruction that takes its value next
  for (auto at = static_cast<std::uint32_t>(code.size()); at-- > 0;) {
    const TapeInstruction& instruction = code[at];
    if (instruction.op == TapeOp::output) {
      wanting[instruction.a] = at;
      continue;
    }
    const std::uint32_t taker = std::exchange(wanting[instruction.target], kNowhere);
    if (taker == kNowhere || !computes(instruction.op)) continue;
    outputs.written_by[at] = code[taker].target;
    outputs.is_spared[taker] = true;
  }
  return outputs;
}

/// Follows the code and knows in which place the value of each register is.
class Placing {
 public:
  Placing(const TapeProgram& program, std::size_t registers)
      : program_(program), place_(registers, kNowhere), own_(registers, kNowhere), free_(program.first_register()) {}

  [[nodiscard]] std::vector<TapeStep> steps() {
    const std::vector<TapeInstruction>& code = program_.parts().code;
    const Outputs outputs = outputs_written_at_once(code, place_.size());
    std::vector<TapeStep> steps;
    steps.reserve(static_cast<std::size_t>(std::ranges::count_if(code, computes, &TapeInstruction::op)));
    for (std::size_t at = 0; at < code.size(); ++at) {
      const auto& [op, target, a, b] = code[at];
      if (op == TapeOp::constant) {
        place_[target] = a;
      } else if (op == TapeOp::input) {
        place_[target] = static_cast<std::uint32_t>(program_.first_input()) + a;
      } else if (op == TapeOp::output) {
        if (!outputs.is_spared[at]) steps.push_back({TapeOp::assign, output(target), place_[a], 0});
      } else {
        steps.push_back({op, 0, place_[a], registers_read(op) > 1 ? place_[b] : 0});
        place_[target] = outputs.written_by[at] == kNowhere ? own_place(target) : output(outputs.written_by[at]);
        steps.back().target = place_[target];
      }
    }
    return steps;
  }

  [[nodiscard]] std::size_t places() const { return free_; }

 private:
  [[nodiscard]] std::uint32_t output(std::uint32_t index) const {
    return static_cast<std::uint32_t>(program_.first_output()) + index;
  }

  std::uint32_t own_place(std::uint32_t index) {
    if (own_[index] == kNowhere) own_[index] = static_cast<std::uint32_t>(free_++);
    return own_[index];
  }

  const TapeProgram& program_;
  std::vector<std::uint32_t> place_;
  std::vector<std::uint32_t> own_;
  std::size_t free_;
};

/// Which products are read once, by the step behind them, and by nobody else.
class Products {
 public:
  Products(std::span<const TapeStep> steps, std::size_t places) : reads_(steps.size()), written_by_(places, kNowhere) {
    for (std::uint32_t at = 0; at < steps.size(); ++at) {
      read(steps[at].a);
      if (registers_read(steps[at].op) > 1) read(steps[at].b);
      written_by_[steps[at].target] = at;
    }
  }

  [[nodiscard]] bool is_read_once(std::size_t at) const { return reads_[at] == 1; }

 private:
  void read(std::uint32_t place) {
    if (written_by_[place] != kNowhere) ++reads_[written_by_[place]];
  }

  std::vector<std::uint32_t> reads_;
  std::vector<std::uint32_t> written_by_;
};

/// `product` and `next` as one step, if they can be.
std::optional<TapeStep> joined(const TapeStep& product, const TapeStep& next) {
  if (product.op != TapeOp::mul || (next.op != TapeOp::add && next.op != TapeOp::sub)) return std::nullopt;
  const bool is_first = next.a == product.target;
  if (!is_first && next.b != product.target) return std::nullopt;
  const TapeOp op = next.op == TapeOp::add ? TapeOp::mul_add : is_first ? TapeOp::mul_sub : TapeOp::sub_mul;
  return TapeStep{op, next.target, product.a, product.b, is_first ? next.b : next.a};
}

/// Steps with an output as target are never joined away: outputs are read by whoever asked.
std::vector<TapeStep> with_joined_products(std::span<const TapeStep> steps, const TapeProgram& program, std::size_t places) {
  const Products products(steps, places);
  std::vector<TapeStep> fewer;
  fewer.reserve(steps.size());
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const bool may_join = at + 1 < steps.size() && products.is_read_once(at) && steps[at].target >= program.first_register();
    const auto both = may_join ? joined(steps[at], steps[at + 1]) : std::nullopt;
    fewer.push_back(both ? *both : steps[at]);
    at += both ? 1 : 0;
  }
  fewer.shrink_to_fit();
  return fewer;
}

void clear_unused_operands(std::vector<TapeInstruction>& code) {
  for (TapeInstruction& instruction : code)
    if (registers_read(instruction.op) < 2) instruction.b = 0;
}

}  // namespace

std::size_t registers_of(const std::vector<TapeInstruction>& code) {
  std::size_t count = 0;
  for (const TapeInstruction& instruction : code)
    if (instruction.op != TapeOp::output) count = std::max(count, std::size_t{instruction.target} + 1);
  return count;
}

TapeProgram::TapeProgram(TapeParts parts) : parts_(std::move(parts)), registers_(registers_of(parts_.code)) {
  clear_unused_operands(parts_.code);
  Placing placing(*this, registers_);
  const std::vector<TapeStep> steps = placing.steps();
  places_ = placing.places();
  steps_ = with_joined_products(steps, *this, places_);
}

}  // namespace armillary
