#include <algorithm>

#include "expr/tape_program.hpp"

namespace armillary {

namespace {

std::optional<TapeFault> fault_in_sizes(const TapeParts& parts) {
  struct Bound {
    TapeFaultKind kind;
    std::size_t found, limit;
  };
  const Bound bounds[] = {
      {TapeFaultKind::too_many_instructions, parts.code.size(), Tape::kMostInstructions},
      {TapeFaultKind::too_many_constants, parts.constants.size(), Tape::kMostConstants},
      {TapeFaultKind::too_many_inputs, parts.inputs, Tape::kMostInputs},
      {TapeFaultKind::too_many_outputs, parts.outputs, Tape::kMostOutputs},
  };
  for (const Bound& bound : bounds)
    if (bound.found > bound.limit) return TapeFault{bound.kind, std::nullopt, bound.found, bound.limit};
  return std::nullopt;
}

/// Walks over the code once and knows what has been written so far.
class Checker {
 public:
  explicit Checker(const TapeParts& parts) : parts_(parts), output_written_(parts.outputs) {}

  std::optional<TapeFault> run() {
    for (; at_ < parts_.code.size(); ++at_)
      if (const auto fault = check(parts_.code[at_])) return fault;
    const auto missing = std::ranges::find(output_written_, false);
    if (missing == output_written_.end()) return std::nullopt;
    return TapeFault{TapeFaultKind::output_not_written, std::nullopt,
                     static_cast<std::size_t>(missing - output_written_.begin())};
  }

 private:
  std::optional<TapeFault> check(const TapeInstruction& instruction) {
    const auto& [op, target, a, b] = instruction;
    if (static_cast<std::size_t>(op) >= kTapeOps) return fault(TapeFaultKind::unknown_op, static_cast<std::size_t>(op), kTapeOps);
    if (op == TapeOp::constant && a >= parts_.constants.size())
      return fault(TapeFaultKind::no_such_constant, a, parts_.constants.size());
    if (op == TapeOp::input && a >= parts_.inputs) return fault(TapeFaultKind::no_such_input, a, parts_.inputs);
    if (registers_read(op) > 0 && !is_written(a)) return fault(TapeFaultKind::read_before_written, a);
    if (registers_read(op) > 1 && !is_written(b)) return fault(TapeFaultKind::read_before_written, b);
    return op == TapeOp::output ? write_output(target) : write_register(target);
  }

  [[nodiscard]] bool is_written(std::uint32_t index) const { return index < written_.size() && written_[index]; }

  std::optional<TapeFault> write_output(std::uint32_t index) {
    if (index >= parts_.outputs) return fault(TapeFaultKind::no_such_output, index, parts_.outputs);
    if (output_written_[index]) return fault(TapeFaultKind::output_written_twice, index);
    output_written_[index] = true;
    return std::nullopt;
  }

  std::optional<TapeFault> write_register(std::uint32_t index) {
    if (index >= parts_.code.size()) return fault(TapeFaultKind::no_such_register, index, parts_.code.size());
    if (index >= written_.size()) written_.resize(std::size_t{index} + 1);
    written_[index] = true;
    return std::nullopt;
  }

  [[nodiscard]] TapeFault fault(TapeFaultKind kind, std::size_t found, std::size_t limit = 0) const {
    return {kind, at_, found, limit};
  }

  const TapeParts& parts_;
  std::size_t at_ = 0;
  std::vector<bool> written_;
  std::vector<bool> output_written_;
};

}  // namespace

std::optional<TapeFault> fault_in(const TapeParts& parts) {
  if (auto fault = fault_in_sizes(parts)) return fault;
  return Checker(parts).run();
}

std::string TapeFault::text() const {
  const std::string number = std::to_string(found), bound = std::to_string(limit);
  const auto beyond = [&](const char* what) { return std::string("it names ") + what + " " + number + " of " + bound; };
  const auto too_many = [&](const char* what) {
    return "it has " + number + " " + what + ", and at most " + bound + " are taken";
  };
  switch (kind) {
    case TapeFaultKind::too_many_instructions:
      return too_many("instructions");
    case TapeFaultKind::too_many_constants:
      return too_many("constants");
    case TapeFaultKind::too_many_inputs:
      return too_many("inputs");
    case TapeFaultKind::too_many_outputs:
      return too_many("outputs");
    case TapeFaultKind::no_such_register:
      return "it names register " + number + ", and " + bound + " instructions have no use for one so high";
    case TapeFaultKind::unknown_op:
      return "no operation has the number " + number + "; they end before " + bound;
    case TapeFaultKind::no_such_constant:
      return beyond("constant");
    case TapeFaultKind::no_such_input:
      return beyond("input");
    case TapeFaultKind::no_such_output:
      return beyond("output");
    case TapeFaultKind::read_before_written:
      return "it reads register " + number + ", which nothing has written yet";
    case TapeFaultKind::output_written_twice:
      return "it writes output " + number + " a second time";
    case TapeFaultKind::output_not_written:
      return "nothing writes output " + number;
    case TapeFaultKind::not_a_tape:
      return "these bytes do not begin like a tape";
    case TapeFaultKind::unknown_version:
      return "it is of version " + number + ", and versions up to " + bound + " are known";
    case TapeFaultKind::wrong_length:
      return "there are " + number + " bytes of it, where its head says " + bound;
    case TapeFaultKind::wrong_checksum:
      return "its checksum does not fit what it holds";
  }
  return "of an unknown fault";
}

}  // namespace armillary
