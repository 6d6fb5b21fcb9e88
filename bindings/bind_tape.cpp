#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstring>
#include <memory>

#include "armillary/expr/tape.hpp"
#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "running.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

constexpr std::size_t kSmallScratch = 1024;

[[noreturn]] void raise_fault(const TapeFault& fault) {
  const nb::object instruction = fault.instruction ? nb::object(nb::int_(*fault.instruction)) : nb::none();
  raise_object(error_class("InvalidTape")(fault.text(), instruction));
}

Tape tape_or_raise(std::variant<Tape, TapeFault> made) {
  if (const TapeFault* fault = std::get_if<TapeFault>(&made)) raise_fault(*fault);
  return std::get<Tape>(std::move(made));
}

/// Integers of shape (K, 4) that fit into 32 bits.
std::vector<TapeInstruction> as_code(nb::handle value) {
  nb::object array = any_array(value, "code");
  if (nb::cast<std::size_t>(array.attr("size")) == 0) return {};
  const std::string kind = printed(array.attr("dtype").attr("kind"));
  const nb::tuple shape = nb::cast<nb::tuple>(array.attr("shape"));
  const bool fits = nb::len(shape) == 2 && nb::cast<std::size_t>(shape[1]) == 4 && (kind == "u" || kind == "i") &&
                    array.attr("min")() >= nb::int_(0) && array.attr("max")() <= nb::int_(UINT32_MAX);
  if (!fits)
    raise("InvalidArgument", "code must be unsigned 32-bit integers of shape (K, 4): op, target, a, b. Got " + shown(value) + ".",
          value);
  array = nb::module_::import_("numpy").attr("ascontiguousarray")(array, "uint32");
  const auto numbers = nb::cast<nb::ndarray<const std::uint32_t, nb::shape<-1, 4>, nb::c_contig>>(array);
  std::vector<TapeInstruction> code(numbers.shape(0));
  if (!code.empty()) std::memcpy(static_cast<void*>(code.data()), numbers.data(), code.size() * sizeof(TapeInstruction));
  return code;
}

void init_tape(Tape* self, nb::handle code, nb::handle constants, nb::handle inputs, nb::handle outputs) {
  const Doubles numbers(constants, "constants", {-1});
  TapeParts parts{
      as_code(code), {numbers.data(), numbers.data() + numbers.rows()}, as_count(inputs, "inputs"), as_count(outputs, "outputs")};
  new (self) Tape(tape_or_raise(Tape::make(std::move(parts))));
}

Tape from_bytes(nb::handle data) {
  Py_buffer view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    raise("InvalidArgument", "A tape is read from bytes, got " + shown(data) + ".", data);
  }
  auto made = Tape::decode({static_cast<const std::byte*>(view.buf), static_cast<std::size_t>(view.len)});
  PyBuffer_Release(&view);
  return tape_or_raise(std::move(made));
}

nb::bytes to_bytes(const Tape& tape) {
  const std::vector<std::byte> bytes = tape.encode();
  return nb::bytes(bytes.data(), bytes.size());
}

nb::object code_of(nb::handle self) {
  const auto code = checked<Tape>(self).code();
  const auto* numbers = reinterpret_cast<const std::uint32_t*>(code.data());
  return nb::cast(nb::ndarray<nb::numpy, const std::uint32_t>(numbers, {code.size(), 4}, self));
}

nb::object constants_of(nb::handle self) {
  const auto constants = checked<Tape>(self).constants();
  return nb::cast(nb::ndarray<nb::numpy, const double>(constants.data(), {constants.size()}, self));
}

Py_hash_t tape_hash(const Tape& tape) {
  Py_hash_t hash;
  const Digest digest = tape.digest();
  std::memcpy(&hash, digest.data(), sizeof hash);
  return hash == -1 ? -2 : hash;
}

std::string tape_repr(const Tape& tape) {
  return "Tape(" + std::to_string(tape.inputs()) + " inputs, " + std::to_string(tape.outputs()) + " outputs, " +
         std::to_string(tape.code().size()) + " instructions)";
}

void run_tape(const void* self, const double* in, double* out) {
  const auto& tape = *static_cast<const Tape*>(self);
  if (tape.scratch() <= kSmallScratch) {
    std::array<double, kSmallScratch> scratch;
    tape.evaluate(in, out, scratch.data());
  } else {
    tape.evaluate(in, out, std::make_unique_for_overwrite<double[]>(tape.scratch()).get());
  }
}

void run_tape_rows(const void* self, std::size_t n, const double* in, double* out) {
  const auto& tape = *static_cast<const Tape*>(self);
  tape.evaluate_batch(n, in, tape.inputs(), out, tape.outputs());
}

nb::dict op_numbers() {
  nb::dict numbers;
  for (std::size_t op = 0; op < kTapeOps; ++op) numbers[nb::str(kTapeOpNames[op].data(), kTapeOpNames[op].size())] = op;
  return numbers;
}

}  // namespace

Running running_tape(nb::handle tape) {
  const Tape& self = checked<Tape>(tape);
  return {&self, self.inputs(), {{self.outputs()}}, &run_tape, &run_tape_rows};
}

void bind_tape(nb::module_& m) {
  auto tape = nb::class_<Tape>(m, "Tape",
                               "A compiled expression: straight-line code from inputs to outputs. Frozen.\n\n"
                               "Args:\n"
                               "    code: (K, 4) uint32, each row op, target, a, b; `TAPE_OPS` has the numbers of operations.\n"
                               "    constants: (C,) float64.\n"
                               "    inputs: How many there are.\n"
                               "    outputs: How many there are; each is written once.\n\n"
                               "Raises:\n"
                               "    InvalidTape: A register is read before it is written, or something named is not there.");
  tape.def("__init__", &init_tape, "code"_a.none(), "constants"_a.none(), nb::kw_only(), "inputs"_a.none(), "outputs"_a.none(),
           nb::sig("def __init__(self, code: ArrayLike, constants: ArrayLike, *, inputs: int, outputs: int) -> None"))
      .def_static("from_bytes", &from_bytes, "data"_a.none(),
                  nb::sig("def from_bytes(data: bytes | bytearray | memoryview) -> Tape"),
                  "What `to_bytes` gave. Anything else is refused with InvalidTape.")
      .def("to_bytes", &to_bytes, "Its form in files and on the wire: the same on every machine, with a checksum.")
      .def(
          "digest", [](const Tape& self) { return hex(self.digest()); }, "64 digits that only equal tapes share.")
      .def_prop_ro("inputs", &Tape::inputs, "How many numbers go in.")
      .def_prop_ro("outputs", &Tape::outputs, "How many numbers come out.")
      .def_prop_ro("registers", &Tape::registers, "How many registers the code names.")
      .def_prop_ro(
          "instructions", [](const Tape& self) { return self.code().size(); }, "How many there are.")
      .def_prop_ro("code", &code_of, nb::sig("def code(self) -> NDArray[uint32]"), "(K, 4), read-only: op, target, a, b.")
      .def_prop_ro("constants", &constants_of, nb::sig("def constants(self) -> NDArray[float64]"), "(C,), read-only.")
      .def(
          "__eq__",
          [](const Tape& self, nb::handle other) {
            const Tape* same = value_of<Tape>(other);
            return same != nullptr && *same == self;
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", &tape_hash)
      .def("__repr__", &tape_repr)
      .def("__getstate__", &to_bytes)
      .def("__setstate__", [](Tape& self, const nb::bytes& state) { new (&self) Tape(from_bytes(state)); });
  define_run<&running_tape>(tape);
  m.attr("TAPE_OPS") = op_numbers();
}

}  // namespace armillary::python
