#include "armillary/expr/tape.hpp"

#include <algorithm>
#include <cstring>

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

}  // namespace armillary
