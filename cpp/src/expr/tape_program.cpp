#include "expr/tape_program.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "expr/tape_kernel.hpp"

namespace armillary {

// -- Products joined to sums

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

/// The steps with products joined to the sums behind them, where nothing else reads the product. What is written below
/// `first_register` is never joined away: outputs are read by the caller.
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

}  // namespace

// -- The program

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

bool turns(TapeOp op) { return op == TapeOp::sin || op == TapeOp::cos; }

/// For each sine the cosine of the same number, where there is one, and the other way round.
std::vector<std::uint32_t> partners(const TapeParts& parts, std::size_t registers) {
  std::vector<std::uint32_t> partner(parts.code.size(), kNowhere), value(registers);
  std::unordered_map<std::uint32_t, std::uint32_t> single;  // by value: who turns it and has no partner
  for (std::uint32_t at = 0; at < parts.code.size(); ++at) {
    const auto& [op, target, a, b] = parts.code[at];
    if (turns(op)) {
      const auto [found, is_new] = single.try_emplace(value[a], at);
      if (!is_new && parts.code[found->second].op != op) {
        partner[at] = found->second;
        partner[found->second] = at;
        single.erase(found);
      }
    }
    if (op == TapeOp::output) continue;
    value[target] = op == TapeOp::input ? a : static_cast<std::uint32_t>(parts.inputs) + at;
  }
  return partner;
}

constexpr std::size_t kFewestTurns = 4;  // for which computing them side by side is worth it

/// The inputs whose sine or cosine is asked, in the order in which they are; none where they are few.
std::vector<std::uint32_t> inputs_turned_by(const TapeParts& parts, std::size_t registers) {
  std::vector<std::uint32_t> held(registers, kNowhere), found;  // by register: the input that it holds
  std::vector<bool> is_known(parts.inputs);
  for (const auto& [op, target, a, b] : parts.code) {
    if (turns(op) && held[a] != kNowhere && !is_known[held[a]]) {
      is_known[held[a]] = true;
      found.push_back(held[a]);
    }
    if (op != TapeOp::output) held[target] = op == TapeOp::input ? a : kNowhere;
  }
  if (found.size() < kFewestTurns) found.clear();
  return found;
}

/// Follows the code and knows in which place the value of each register is.
class Placing {
 public:
  Placing(const TapeProgram& program, std::size_t registers)
      : program_(program),
        outputs_(outputs_written_at_once(program.parts().code, registers)),
        partner_(partners(program.parts(), registers)),
        turn_(program.parts().inputs, kNowhere),
        place_(registers, kNowhere),
        own_(registers, kNowhere),
        free_(program.first_register()) {}

  [[nodiscard]] std::vector<TapeStep> steps() {
    const std::vector<TapeInstruction>& code = program_.parts().code;
    steps_.reserve(static_cast<std::size_t>(std::ranges::count_if(code, computes, &TapeInstruction::op)));
    turn_inputs();
    for (std::uint32_t at = 0; at < code.size(); ++at) follow(at, code[at]);
    return std::move(steps_);
  }

  [[nodiscard]] std::size_t places() const { return free_; }

 private:
  void follow(std::uint32_t at, const TapeInstruction& instruction) {
    const auto& [op, target, a, b] = instruction;
    if (op == TapeOp::constant) {
      place_[target] = a;
    } else if (op == TapeOp::input) {
      place_[target] = input(a);
    } else if (op == TapeOp::output) {
      if (!outputs_.is_spared[at]) steps_.push_back({TapeOp::assign, output(target), {place_[a]}});
    } else if (const auto known = turned_before(op, a)) {
      place_[target] = *known;
      if (outputs_.written_by[at] != kNowhere) steps_.push_back({TapeOp::assign, output(outputs_.written_by[at]), {*known}});
    } else if (partner_[at] == kNowhere) {
      const TapeStep step{op, 0, {place_[a], registers_read(op) > 1 ? place_[b] : 0}};
      steps_.push_back(step);
      steps_.back().target = place_[target] = target_place(at, target);
    } else if (partner_[at] > at) {
      turn_together(at, instruction);
    } else {
      place_[target] = computed_before_.at(at);
    }
  }

  void turn_inputs() {
    const auto turned = program_.turned_inputs();
    for (std::uint32_t i = 0; i < turned.size(); ++i) {
      turn_[turned[i]] = i;
      steps_.push_back({TapeOp::sine_cosine, sine(i), {input(turned[i]), cosine(i)}});
    }
  }

  /// Where the sine or cosine of what a register holds is, if it is that of an input.
  [[nodiscard]] std::optional<std::uint32_t> turned_before(TapeOp op, std::uint32_t a) const {
    const std::uint32_t place = place_[a];
    if (!turns(op) || place < program_.first_input() || place >= program_.first_output()) return std::nullopt;
    const std::uint32_t turn = turn_[place - program_.first_input()];
    if (turn == kNowhere) return std::nullopt;
    return op == TapeOp::sin ? sine(turn) : cosine(turn);
  }

  /// At the first of two partners. The place of the second is its own until the end: others may use its register before.
  void turn_together(std::uint32_t at, const TapeInstruction& instruction) {
    const std::uint32_t second = partner_[at], angle = place_[instruction.a];
    const std::uint32_t output_of_second = outputs_.written_by[second];
    const std::uint32_t place_of_second =
        output_of_second == kNowhere ? static_cast<std::uint32_t>(free_++) : output(output_of_second);
    const std::uint32_t place_of_first = place_[instruction.target] = target_place(at, instruction.target);
    const bool sine_first = instruction.op == TapeOp::sin;
    steps_.push_back({TapeOp::sine_cosine,
                      sine_first ? place_of_first : place_of_second,
                      {angle, sine_first ? place_of_second : place_of_first}});
    computed_before_.emplace(second, place_of_second);
  }

  [[nodiscard]] std::uint32_t target_place(std::uint32_t at, std::uint32_t index) {
    const std::uint32_t output_of_it = outputs_.written_by[at];
    return output_of_it == kNowhere ? own_place(index) : output(output_of_it);
  }

  [[nodiscard]] std::uint32_t output(std::uint32_t index) const {
    return static_cast<std::uint32_t>(program_.first_output()) + index;
  }

  [[nodiscard]] std::uint32_t input(std::uint32_t index) const {
    return static_cast<std::uint32_t>(program_.first_input()) + index;
  }
  [[nodiscard]] std::uint32_t sine(std::uint32_t index) const {
    return static_cast<std::uint32_t>(program_.first_sine()) + index;
  }
  [[nodiscard]] std::uint32_t cosine(std::uint32_t index) const {
    return static_cast<std::uint32_t>(program_.first_cosine()) + index;
  }

  std::uint32_t own_place(std::uint32_t index) {
    if (own_[index] == kNowhere) own_[index] = static_cast<std::uint32_t>(free_++);
    return own_[index];
  }

  const TapeProgram& program_;
  const Outputs outputs_;
  const std::vector<std::uint32_t> partner_;
  std::vector<std::uint32_t> turn_;                                   // by input: which of those that turn it is
  std::vector<std::uint32_t> place_;                                  // by register: where its value is
  std::vector<std::uint32_t> own_;                                    // by register: its place, once it needs one
  std::unordered_map<std::uint32_t, std::uint32_t> computed_before_;  // by instruction: where its partner put its value
  std::size_t free_;
  std::vector<TapeStep> steps_;
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
  turned_inputs_ = inputs_turned_by(parts_, registers_);
  Placing placing(*this, registers_);
  const std::vector<TapeStep> steps = placing.steps();
  places_ = placing.places();
  steps_ = joined_steps(steps, first_register(), places_);
}

std::size_t TapeProgram::turns() const {
  return (turned_inputs_.size() + tape::kTurnsAtOnce - 1) / tape::kTurnsAtOnce * tape::kTurnsAtOnce;
}

}  // namespace armillary
