#include <nanobind/stl/string.h>

#include "armillary/expr/loaded_tape.hpp"
#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "running.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

void init_loaded_tape(LoadedTape* self, const std::string& path, const std::string& symbol, nb::handle inputs,
                      nb::handle outputs) {
  auto opened = LoadedTape::open({path, symbol, as_count(inputs, "inputs"), as_count(outputs, "outputs")});
  if (const std::string* complaint = std::get_if<std::string>(&opened))
    raise_object(error_class("UnloadableTape")(path, symbol, *complaint));
  new (self) LoadedTape(std::get<LoadedTape>(std::move(opened)));
}

void run_loaded_tape(const void* self, const double* in, double* out) { static_cast<const LoadedTape*>(self)->evaluate(in, out); }

void run_loaded_tape_rows(const void* self, std::size_t n, const double* in, double* out) {
  static_cast<const LoadedTape*>(self)->evaluate_batch(n, in, out);
}

}  // namespace

Running running_loaded_tape(nb::handle tape) {
  const LoadedTape& self = checked<LoadedTape>(tape);
  return {&self, self.inputs(), {{self.outputs()}}, &run_loaded_tape, &run_loaded_tape_rows};
}

void bind_loaded_tape(nb::module_& m) {
  auto tape = nb::class_<LoadedTape>(
      m, "LoadedTape",
      "A tape as machine code, from a shared library with `void symbol(const double* in, double* out)` and\n"
      "`void symbol_batch(long n, const double* in, double* out)`. Frozen.\n\n"
      "Loading a library runs what it holds: load those that you compiled.\n\n"
      "Raises:\n"
      "    UnloadableTape: The library is not there, or lacks the two functions.");
  tape.def("__init__", &init_loaded_tape, "library_path"_a, "symbol"_a, "inputs"_a.none(), "outputs"_a.none(),
           nb::sig("def __init__(self, library_path: str, symbol: str, inputs: int, outputs: int) -> None"))
      .def_prop_ro("inputs", &LoadedTape::inputs, "How many numbers go in.")
      .def_prop_ro("outputs", &LoadedTape::outputs, "How many numbers come out.");
  define_run<&running_loaded_tape>(tape);
}

}  // namespace armillary::python
