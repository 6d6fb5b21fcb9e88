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
  steps_ = placing.steps();
  places_ = placing.places();
}

}  // namespace armillary
