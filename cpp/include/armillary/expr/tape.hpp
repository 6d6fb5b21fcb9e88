#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "armillary/detail/sha256.hpp"
#include "armillary/expr/tape_op.hpp"

namespace armillary {

/// One step over registers. `constant`: target = constants[a]. `input`: target = inputs[a]. `output`: outputs[target] = a.
/// Others: target = f(a) or f(a, b), all of them registers.
struct TapeInstruction {
  TapeOp op = TapeOp::constant;
  std::uint32_t target = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;

  bool operator==(const TapeInstruction&) const = default;
};

/// What a tape is made of.
struct TapeParts {
  std::vector<TapeInstruction> code{};
  std::vector<double> constants{};
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};

enum class TapeFaultKind {
  too_many_instructions,
  too_many_constants,
  too_many_inputs,
  too_many_outputs,
  no_such_register,
  unknown_op,
  no_such_constant,
  no_such_input,
  no_such_output,
  read_before_written,
  output_written_twice,
  output_not_written,
  not_a_tape,
  unknown_version,
  wrong_length,
  wrong_checksum,
};

/// Why something is no tape.
struct TapeFault {
  TapeFaultKind kind{};
  std::optional<std::size_t> instruction{};  ///< the one at fault
  std::size_t found = 0;                     ///< the number at fault
  std::size_t limit = 0;                     ///< that it should be below, or be

  /// What is true, as part of a sentence.
  [[nodiscard]] std::string text() const;
};

class TapeProgram;

/// A compiled expression: straight-line code from inputs to outputs, over registers that are used again.
///
/// Immutable, and checked when it is made: every register is written before it is read, every output written once, and no
/// register has a number that the count of instructions does not exceed.
/// A copy shares everything.
class Tape {
 public:
  static constexpr std::size_t kMostInstructions = 4'000'000;
  static constexpr std::size_t kMostConstants = 4'000'000;
  static constexpr std::size_t kMostInputs = 1'000'000;
  static constexpr std::size_t kMostOutputs = 1'000'000;

  /// Operands that an instruction does not use become zero.
  [[nodiscard]] static std::variant<Tape, TapeFault> make(TapeParts parts);
  /// Reads what `encode` wrote. Whatever the bytes are, memory stays within a few times their length.
  [[nodiscard]] static std::variant<Tape, TapeFault> decode(std::span<const std::byte> bytes);

  [[nodiscard]] std::size_t inputs() const;
  [[nodiscard]] std::size_t outputs() const;
  /// One more than the highest register that the code names.
  [[nodiscard]] std::size_t registers() const;
  [[nodiscard]] std::span<const TapeInstruction> code() const;
  [[nodiscard]] std::span<const double> constants() const;

  /// How many doubles `evaluate` needs to work in.
  [[nodiscard]] std::size_t scratch() const;
  /// From `inputs()` to `outputs()` numbers. Allocates nothing; `scratch` may hold anything, `in` and `out` may overlap.
  void evaluate(const double* in, double* out, double* scratch) const noexcept;
  /// The same for `n` rows, whose beginnings are `in_stride` and `out_stride` doubles apart. Sines and cosines may differ
  /// from those of `evaluate` in the last bit; a row's result depends on nothing but that row. `in` and `out` do not overlap.
  void evaluate_batch(std::size_t n, const double* in, std::size_t in_stride, double* out, std::size_t out_stride) const;

  /// docs/tapes.md says what the bytes are. The same for equal tapes.
  [[nodiscard]] std::vector<std::byte> encode() const;
  /// SHA-256 of what `encode` gives, but for the checksum at its end, which is this.
  [[nodiscard]] Digest digest() const;

  /// Equal where the code and, bit by bit, the constants are.
  bool operator==(const Tape& other) const;

 private:
  explicit Tape(std::shared_ptr<const TapeProgram> program) : program_(std::move(program)) {}

  std::shared_ptr<const TapeProgram> program_;
};

}  // namespace armillary
