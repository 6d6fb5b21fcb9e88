#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstring>

#include "convert.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "scene_values.hpp"
#include "values.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// From its text, or from a uuid.UUID.
void init_node_id(NodeId* self, nb::handle given) {
  const bool is_text = PyUnicode_Check(given.ptr()) != 0;
  const std::optional<NodeId> id = is_text ? NodeId::parse(text_of(given)) : as_node_id_or_nil(given);
  if (!id)
    raise("InvalidArgument", "A node id is written like '123e4567-e89b-42d3-a456-426614174000', got " + shown(given) + ".",
          given);
  new (self) NodeId(*id);
}

nb::bytes bytes_of(const NodeId& id) { return nb::bytes(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()); }

std::string hex_of(const NodeId& id) {
  std::string text = id.text();
  std::erase(text, '-');
  return text;
}

/// As that of the uuid.UUID of the same bytes: hash(int).
Py_hash_t node_id_hash(const NodeId& id) {
  unsigned __int128 number = 0;
  for (const std::uint8_t byte : id.bytes) number = number << 8 | byte;
  return static_cast<Py_hash_t>(number % ((std::uint64_t{1} << 61) - 1));
}

nb::object equals(const NodeId& id, nb::handle other) {
  if (const NodeId* same = value_of<NodeId>(other)) return nb::bool_(*same == id);
  if (!nb::hasattr(other, "hex") || !nb::hasattr(other, "bytes")) return nb::borrow(Py_NotImplemented);
  const nb::object bytes = other.attr("bytes");
  return nb::bool_(bytes.equal(bytes_of(id)));
}

}  // namespace

void bind_node_id(nb::module_& m) {
  nb::class_<NodeId>(m, "NodeId", "What names a node for ever: a UUID. Shown short; str() gives all of it.")
      .def("__init__", &init_node_id, "id"_a.none(), nb::sig("def __init__(self, id: str | NodeId | UUID) -> None"))
      .def_static("random", &NodeId::random, "A new one.")
      .def_static("of_name", &NodeId::of_name, "space"_a, "name"_a, "Always the same one for the same two texts.")
      .def_prop_ro("bytes", &bytes_of, "Its 16 bytes.")
      .def_prop_ro("hex", &hex_of, "Its 32 digits.")
      .def("__str__", &NodeId::text)
      .def("__repr__", [](const NodeId& id) { return "NodeId('" + id.short_text() + "')"; })
      .def("__hash__", &node_id_hash)
      .def("__eq__", &equals, "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def(nb::self < nb::self)
      .def(
          "__reduce__", [](nb::handle self) { return nb::make_tuple(self.type(), nb::make_tuple(nb::str(self))); },
          nb::sig("def __reduce__(self) -> tuple[type[NodeId], tuple[str]]"));
  m.attr("ROOT_NODE") = kRootNode;
  m.attr("DETACHED_NODE") = kDetachedNode;
}

}  // namespace armillary::python
