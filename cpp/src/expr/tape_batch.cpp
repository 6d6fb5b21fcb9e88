#include <algorithm>
#include <memory>

#include "expr/tape_kernel.hpp"
#include "expr/tape_program.hpp"

namespace armillary {

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
