// A tape is refused or means what its code says; its bytes mean the same tape or none.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "armillary/expr/tape.hpp"
#include "check.hpp"

using namespace armillary;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tape made(TapeParts parts) {
  auto tape = Tape::make(std::move(parts));
  CHECK(std::holds_alternative<Tape>(tape));
  return std::get<Tape>(std::move(tape));
}

std::vector<double> run(const Tape& tape, const std::vector<double>& in) {
  std::vector<double> out(tape.outputs()), scratch(tape.scratch(), kNan);
  tape.evaluate(in.data(), out.data(), scratch.data());
  return out;
}

TapeFaultKind fault(TapeParts parts) {
  const auto tape = Tape::make(std::move(parts));
  CHECK(std::holds_alternative<TapeFault>(tape));
  return std::get<TapeFault>(tape).kind;
}

/// (x + 0.5) sin(x), cos(x)
Tape wave() {
  return made({{{TapeOp::input, 0, 0},
                {TapeOp::constant, 1, 0},
                {TapeOp::add, 1, 0, 1},
                {TapeOp::sin, 2, 0},
                {TapeOp::mul, 1, 1, 2},
                {TapeOp::cos, 0, 0},
                {TapeOp::output, 1, 0},
                {TapeOp::output, 0, 1}},
               {0.5},
               1,
               2});
}

void seal(std::vector<std::byte>& bytes) {
  Sha256 hash;
  hash.add(std::span(bytes).first(bytes.size() - sizeof(Digest)));
  const Digest digest = hash.finish();
  std::memcpy(bytes.data() + bytes.size() - sizeof(Digest), digest.data(), digest.size());
}

/// For the sanitizers to see.
void run_both_ways(const Tape& tape) {
  const std::vector<double> in(2 * tape.inputs(), 0.5), alone = run(tape, in);
  std::vector<double> out(2 * tape.outputs());
  tape.evaluate_batch(2, in.data(), tape.inputs(), out.data(), tape.outputs());
  for (std::size_t i = 0; i < alone.size(); ++i) CHECK(std::isnan(alone[i]) || std::abs(out[i] - alone[i]) <= 1e-12);
}

}  // namespace

TEST(tape_evaluates, "a tape computes its outputs from its inputs") {
  const std::vector<double> out = run(wave(), {0.7});
  CHECK(out[0] == 1.2 * std::sin(0.7));
  CHECK(out[1] == std::cos(0.7));
}

TEST(tape_overlap, "inputs may lie where outputs go") {
  double shared[2] = {0.7, 0.0};
  std::vector<double> scratch(wave().scratch());
  wave().evaluate(shared, shared, scratch.data());
  CHECK(shared[1] == std::cos(0.7));
}

TEST(tape_inputs_out, "inputs and constants may go out as they are, and more than once") {
  const Tape tape = made(
      {{{TapeOp::input, 0, 0}, {TapeOp::output, 0, 0}, {TapeOp::output, 1, 0}, {TapeOp::constant, 0, 0}, {TapeOp::output, 2, 0}},
       {3.0},
       1,
       3});
  CHECK((run(tape, {2.0}) == std::vector<double>{2.0, 2.0, 3.0}));
}

TEST(tape_faults, "what is no tape is refused for what is wrong with it") {
  using enum TapeOp;
  CHECK(fault({{{neg, 0, 0}}, {}, 0, 0}) == TapeFaultKind::read_before_written);
  CHECK(fault({{{input, 0, 0}}, {}, 0, 0}) == TapeFaultKind::no_such_input);
  CHECK(fault({{{constant, 0, 0}}, {}, 0, 0}) == TapeFaultKind::no_such_constant);
  CHECK(fault({{{input, 1, 0}}, {}, 1, 0}) == TapeFaultKind::no_such_register);
  CHECK(fault({{{input, 0, 0}, {output, 0, 0}}, {}, 1, 0}) == TapeFaultKind::no_such_output);
  CHECK(fault({{{input, 0, 0}, {output, 0, 0}, {output, 0, 0}}, {}, 1, 1}) == TapeFaultKind::output_written_twice);
  CHECK(fault({{}, {}, 0, 1}) == TapeFaultKind::output_not_written);
  CHECK(fault({{{static_cast<TapeOp>(kTapeOps), 0, 0}}, {}, 0, 0}) == TapeFaultKind::unknown_op);
  CHECK(fault({{}, {}, Tape::kMostInputs + 1, 0}) == TapeFaultKind::too_many_inputs);
}

TEST(tape_bytes, "the bytes of a tape give it back") {
  const auto again = Tape::decode(wave().encode());
  CHECK(std::holds_alternative<Tape>(again) && std::get<Tape>(again) == wave());
  CHECK(std::get<Tape>(again).digest() == wave().digest());
}

TEST(tape_bytes_mutated, "bytes with one bit turned, or cut anywhere, are refused") {
  const std::vector<std::byte> bytes = wave().encode();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::vector<std::byte> other = bytes;
    other[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    CHECK(std::holds_alternative<TapeFault>(Tape::decode(other)));
  }
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK(std::holds_alternative<TapeFault>(Tape::decode(std::span(bytes).first(length))));
}

TEST(tape_bytes_sealed_again, "bytes with other numbers and a fitting checksum are refused or run") {
  const std::vector<std::byte> bytes = wave().encode();
  std::size_t taken = 0;
  for (std::size_t word = 8; word + sizeof(Digest) < bytes.size(); word += 4)
    for (const std::uint32_t number : {0U, 1U, 2U, 3U, 7U, 17U, 47U, 48U, 999'999U, 4'000'000U, 0x7fffffffU, 0xffffffffU}) {
      std::vector<std::byte> other = bytes;
      std::memcpy(&other[word], &number, sizeof number);
      seal(other);
      const auto tape = Tape::decode(other);
      if (std::holds_alternative<TapeFault>(tape)) continue;
      ++taken;
      const Tape& valid = std::get<Tape>(tape);
      CHECK(std::get<Tape>(Tape::decode(valid.encode())) == valid);
      run_both_ways(valid);
    }
  CHECK(taken > 20);
}

TEST(tape_batch, "a batch is each row alone, wherever the rows lie") {
  constexpr std::size_t rows = 1000, in_stride = 3, out_stride = 5;
  std::vector<double> in(rows * in_stride, kNan), out(rows * out_stride, -1.0);
  for (std::size_t row = 0; row < rows; ++row) in[row * in_stride] = 0.01 * static_cast<double>(row) - 3.0;
  wave().evaluate_batch(rows, in.data(), in_stride, out.data(), out_stride);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<double> alone = run(wave(), {in[row * in_stride]});
    CHECK_CLOSE(out[row * out_stride], alone[0], 1e-15);
    CHECK_CLOSE(out[row * out_stride + 1], alone[1], 1e-15);
    CHECK(out[row * out_stride + 2] == -1.0);
  }
}

namespace {

/// What the instructions say, one after the other.
std::vector<double> followed(const TapeParts& parts, const std::vector<double>& in) {
  std::vector<double> registers(parts.code.size()), out(parts.outputs);
  for (const auto& [op, target, a, b] : parts.code) {
    if (op == TapeOp::output) {
      out[target] = registers[a];
      continue;
    }
    double& to = registers[target];
    if (op == TapeOp::input) to = in[a];
    if (op == TapeOp::add) to = registers[a] + registers[b];
    if (op == TapeOp::sub) to = registers[a] - registers[b];
    if (op == TapeOp::mul) to = registers[a] * registers[b];
  }
  return out;
}

/// Sums and products of three inputs, with few registers that are written again and again, and outputs on the way.
TapeParts random_sums(std::mt19937& chance) {
  TapeParts parts{{{TapeOp::input, 0, 0}, {TapeOp::input, 1, 1}, {TapeOp::input, 2, 2}, {TapeOp::input, 3, 0}}, {}, 3, 6};
  const auto any = [&] { return static_cast<std::uint32_t>(chance() % 4); };
  constexpr TapeOp ops[] = {TapeOp::mul, TapeOp::mul, TapeOp::add, TapeOp::sub};
  for (std::uint32_t output = 0; output < parts.outputs; ++output) {
    for (std::size_t step = 0; step < 5; ++step) parts.code.push_back({ops[chance() % 4], any(), any(), any()});
    parts.code.push_back({TapeOp::output, output, any()});
  }
  return parts;
}

}  // namespace

TEST(tape_joins_products, "products joined to the sums behind them give the bits of the instructions") {
  std::mt19937 chance(3);
  const std::vector<double> in{0.1, -0.7, 1.3};
  for (int round = 0; round < 20'000; ++round) {
    const TapeParts parts = random_sums(chance);
    CHECK(run(made(parts), in) == followed(parts, in));
  }
}

TEST(tape_turns_inputs, "many inputs are turned side by side, whoever asks for their sines and cosines") {
  TapeParts parts{{}, {}, 9, 18};
  for (std::uint32_t i = 0; i < 9; ++i)
    for (const auto& [op, output] : {std::pair{TapeOp::sin, 2 * i}, std::pair{TapeOp::cos, 2 * i + 1}}) {
      parts.code.push_back({TapeOp::input, 0, i});
      parts.code.push_back({op, 0, 0});
      parts.code.push_back({TapeOp::output, output, 0});
    }
  const std::vector<double> in{0.0, 0.5, -3.0, 1e4, 1e9, kNan, HUGE_VAL, -0.0, 1e-300};
  const std::vector<double> out = run(made(std::move(parts)), in);
  for (std::size_t i = 0; i < 9; ++i) {
    const double sine = std::sin(in[i]), cosine = std::cos(in[i]);
    CHECK(std::isnan(sine) ? std::isnan(out[2 * i]) : std::abs(out[2 * i] - sine) <= 2e-16);
    CHECK(std::isnan(cosine) ? std::isnan(out[2 * i + 1]) : std::abs(out[2 * i + 1] - cosine) <= 2e-16);
  }
  CHECK(std::signbit(out[14]));
}
