#include "armillary/expr/tape.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string_view>

#include "expr/tape_kernel.hpp"
#include "expr/tape_program.hpp"

namespace armillary {

std::variant<Tape, TapeFault> Tape::make(TapeParts parts) {
  if (const auto fault = fault_in(parts)) return *fault;
  return Tape(std::make_shared<const TapeProgram>(std::move(parts)));
}

std::size_t Tape::inputs() const { return program_->parts().inputs; }
std::size_t Tape::outputs() const { return program_->parts().outputs; }
std::size_t Tape::registers() const { return program_->registers(); }
std::span<const TapeInstruction> Tape::code() const { return program_->parts().code; }
std::span<const double> Tape::constants() const { return program_->parts().constants; }
std::size_t Tape::scratch() const { return program_->places(); }

bool Tape::operator==(const Tape& other) const {
  if (program_ == other.program_) return true;
  const TapeParts &mine = program_->parts(), &theirs = other.program_->parts();
  return mine.inputs == theirs.inputs && mine.outputs == theirs.outputs && mine.code == theirs.code &&
         mine.constants.size() == theirs.constants.size() &&
         std::memcmp(mine.constants.data(), theirs.constants.data(), mine.constants.size() * sizeof(double)) == 0;
}

// -- Bytes

namespace {

static_assert(std::endian::native == std::endian::little, "The numbers of a tape are copied as they are.");
static_assert(sizeof(TapeInstruction) == 16);

constexpr std::string_view kMagic = "ARMTAPE\n";
constexpr std::uint32_t kVersion = 1;

/// What comes first, after the magic.
struct Head {
  std::uint32_t version, inputs, outputs, constants, instructions;

  [[nodiscard]] std::size_t bytes() const {
    return kMagic.size() + sizeof(Head) + std::size_t{constants} * sizeof(double) +
           std::size_t{instructions} * sizeof(TapeInstruction) + sizeof(Digest);
  }
};

template <typename T>
std::byte* put(std::byte* to, const T* values, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (bytes > 0) std::memcpy(to, values, bytes);
  return to + bytes;
}

template <typename T>
const std::byte* take(const std::byte* from, T* values, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (bytes > 0) std::memcpy(values, from, bytes);
  return from + bytes;
}

Digest checksum(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes.first(bytes.size() - sizeof(Digest)));
  return hash.finish();
}

Digest written_checksum(std::span<const std::byte> bytes) {
  Digest digest;
  take(bytes.data() + bytes.size() - sizeof(Digest), digest.data(), digest.size());
  return digest;
}

std::optional<TapeFault> fault_in(std::span<const std::byte> bytes, const Head& head) {
  if (head.version != kVersion) return TapeFault{TapeFaultKind::unknown_version, std::nullopt, head.version, kVersion};
  if (bytes.size() != head.bytes()) return TapeFault{TapeFaultKind::wrong_length, std::nullopt, bytes.size(), head.bytes()};
  if (checksum(bytes) != written_checksum(bytes)) return TapeFault{TapeFaultKind::wrong_checksum};
  return std::nullopt;
}

}  // namespace

std::vector<std::byte> Tape::encode() const {
  const TapeParts& parts = program_->parts();
  const auto count = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  const Head head{kVersion, count(parts.inputs), count(parts.outputs), count(parts.constants.size()), count(parts.code.size())};
  std::vector<std::byte> bytes(head.bytes());
  std::byte* end = put(bytes.data(), kMagic.data(), kMagic.size());
  end = put(end, &head, 1);
  end = put(end, parts.constants.data(), parts.constants.size());
  end = put(end, parts.code.data(), parts.code.size());
  const Digest digest = checksum(bytes);
  put(end, digest.data(), digest.size());
  return bytes;
}

Digest Tape::digest() const { return written_checksum(encode()); }

std::variant<Tape, TapeFault> Tape::decode(std::span<const std::byte> bytes) {
  const bool begins = bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  if (!begins) return TapeFault{TapeFaultKind::not_a_tape};
  constexpr std::size_t shortest = kMagic.size() + sizeof(Head) + sizeof(Digest);
  if (bytes.size() < shortest) return TapeFault{TapeFaultKind::wrong_length, std::nullopt, bytes.size(), shortest};
  Head head;
  const std::byte* from = take(bytes.data() + kMagic.size(), &head, 1);
  if (const auto fault = fault_in(bytes, head)) return *fault;
  TapeParts parts{std::vector<TapeInstruction>(head.instructions), std::vector<double>(head.constants), head.inputs,
                  head.outputs};
  from = take(from, parts.constants.data(), parts.constants.size());
  take(from, parts.code.data(), parts.code.size());
  return make(std::move(parts));
}

// -- Checks

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

// -- Many rows

std::vector<tape::Kernel> tape::kernels() {
  std::vector<Kernel> usable{base_kernel};
#ifdef ARMILLARY_HAS_AVX2_KERNEL
  if (__builtin_cpu_supports("avx2")) usable.push_back(avx2_kernel);
#endif
  return usable;
}

const tape::Kernel& tape::fastest_kernel() noexcept {
  static const Kernel kernel = kernels().back();
  return kernel;
}

namespace {

using tape::kLanes;
using tape::Lanes;

/// Beyond it the lanes of one place are far from those of the next, and rows are computed one by one.
constexpr std::size_t kMostPlaces = 65'536;
constexpr std::size_t kTile = 8;  // doubles in a cache line

/// Rows of numbers in memory.
template <typename T>
struct Rows {
  T* first;
  std::size_t stride;

  [[nodiscard]] Rows from(std::size_t row) const { return {first + row * stride, stride}; }
  [[nodiscard]] T& at(std::size_t row, std::size_t column) const { return first[row * stride + column]; }
};

/// Lanes without a row repeat the last one: nothing is computed that is not computed anyway.
void load(Rows<const double> rows, std::size_t count, std::span<Lanes> columns) {
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (std::size_t lane = 0; lane < kLanes; ++lane) columns[column].of[lane] = rows.at(std::min(lane, count - 1), column);
}

void store(std::span<const Lanes> columns, std::size_t count, Rows<double> rows) {
  for (std::size_t tile = 0; tile < columns.size(); tile += kTile)
    for (std::size_t lane = 0; lane < count; ++lane)
      for (std::size_t column = tile; column < std::min(tile + kTile, columns.size()); ++column)
        rows.at(lane, column) = columns[column].of[lane];
}

void run_side_by_side(const TapeProgram& program, std::size_t n, Rows<const double> in, Rows<double> out) {
  const tape::Kernel& kernel = tape::fastest_kernel();
  const TapeParts& parts = program.parts();
  const auto work = std::make_unique_for_overwrite<Lanes[]>(program.places());
  for (std::size_t i = 0; i < parts.constants.size(); ++i) std::ranges::fill(work[i].of, parts.constants[i]);
  for (std::size_t row = 0; row < n; row += kLanes) {
    const std::size_t count = std::min(kLanes, n - row);
    load(in.from(row), count, {&work[program.first_input()], parts.inputs});
    kernel.run(program.steps(), work.get());
    store({&work[program.first_output()], parts.outputs}, count, out.from(row));
  }
}

void run_one_by_one(const Tape& tape, std::size_t n, Rows<const double> in, Rows<double> out) {
  const auto scratch = std::make_unique_for_overwrite<double[]>(tape.scratch());
  for (std::size_t row = 0; row < n; ++row) tape.evaluate(in.from(row).first, out.from(row).first, scratch.get());
}

}  // namespace

void Tape::evaluate_batch(std::size_t n, const double* in, std::size_t in_stride, double* out, std::size_t out_stride) const {
  if (program_->places() <= kMostPlaces)
    run_side_by_side(*program_, n, {in, in_stride}, {out, out_stride});
  else
    run_one_by_one(*this, n, {in, in_stride}, {out, out_stride});
}

}  // namespace armillary
