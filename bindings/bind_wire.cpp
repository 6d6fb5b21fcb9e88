// Messages of logs as bytes: where they are in a file, the transforms in them, chunks of a new file.

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "armillary/wire/chunk.hpp"
#include "armillary/wire/records.hpp"
#include "armillary/wire/transforms.hpp"
#include "convert.hpp"
#include "gil.hpp"
#include "modules.hpp"
#include "raise.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// The bytes of an object, for as long as this lives.
class ByteView {
 public:
  explicit ByteView(nb::handle data) {
    if (PyObject_GetBuffer(data.ptr(), &view_, PyBUF_SIMPLE) == 0) return;
    PyErr_Clear();
    raise("InvalidArgument", "Bytes are expected, got " + shown(data) + ".", data);
  }
  ~ByteView() { PyBuffer_Release(&view_); }
  ByteView(const ByteView&) = delete;
  ByteView& operator=(const ByteView&) = delete;

  [[nodiscard]] wire::Bytes span() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

/// An array that owns what it was made of.
template <typename Number>
nb::object array_of(std::vector<Number> values, std::size_t columns = 0) {
  auto* kept = new std::vector<Number>(std::move(values));
  nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<Number>*>(memory); });
  if (columns == 0) return nb::cast(nb::ndarray<nb::numpy, const Number>(kept->data(), {kept->size()}, owner));
  return nb::cast(nb::ndarray<nb::numpy, const Number>(kept->data(), {kept->size() / columns, columns}, owner));
}

/// Texts of others may be no UTF-8.
nb::object text_object(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

wire::TransformForm form_named(const std::string& name) {
  if (name == "ros1") return wire::TransformForm::ros1;
  if (name == "cdr") return wire::TransformForm::cdr;
  if (name == "foxglove") return wire::TransformForm::foxglove;
  if (name == "foxglove_one") return wire::TransformForm::foxglove_one;
  raise("InvalidArgument", "Transforms are written as 'ros1', 'cdr', 'foxglove' or 'foxglove_one', and not as '" + name + "'.");
}

nb::tuple index_records(nb::handle data, wire::RecordIndex (*index)(wire::Bytes)) {
  const ByteView bytes(data);
  wire::RecordIndex found = without_gil([&] { return index(bytes.span()); });
  nb::list others;
  for (const auto& other : found.others) others.append(nb::make_tuple(other.kind, other.offset, other.size));
  return nb::make_tuple(array_of(std::move(found.channels)), array_of(std::move(found.log_times)),
                        array_of(std::move(found.offsets)), array_of(std::move(found.sizes)), others, found.end, found.wanted,
                        found.is_malformed);
}

nb::tuple index_mcap(nb::handle data) { return index_records(data, &wire::index_mcap); }
nb::tuple index_bag(nb::handle data) { return index_records(data, &wire::index_bag); }

// -- Transforms

using Places = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::size_t add_messages(wire::TransformTable& table, nb::handle data, const Places& offsets, const Places& sizes,
                         const Times& log_times, const std::string& form_name) {
  const ByteView bytes(data);
  const wire::TransformForm form = form_named(form_name);
  const std::size_t count = offsets.shape(0);
  if (sizes.shape(0) != count || log_times.shape(0) != count)
    raise("InvalidArgument", "offsets, sizes and log_times must have the same length.");
  const wire::Bytes all = bytes.span();
  return without_gil([&] {
    std::size_t malformed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t offset = offsets.data()[i], size = sizes.data()[i];
      const bool is_inside = offset <= all.size() && size <= all.size() - offset;
      if (!is_inside || !table.add(all.subspan(offset, size), form, log_times.data()[i])) ++malformed;
    }
    return malformed;
  });
}

nb::list take_edges(wire::TransformTable& table) {
  nb::list found;
  for (wire::TransformTable::Edge& edge : table.take())
    found.append(nb::make_tuple(text_object(edge.parent), text_object(edge.child), array_of(std::move(edge.stamps_ns)),
                                array_of(std::move(edge.poses), 7), array_of(std::move(edge.log_times_ns))));
  return found;
}

nb::tuple take_newest(wire::TransformTable& table) {
  return nb::make_tuple(array_of(std::exchange(table.log_times_ns(), {})), array_of(std::exchange(table.newest_ns(), {})));
}

/// Rows are as the core stores them: w x y z, then x y z, and maybe more behind.
std::vector<wire::StampedTransform> stored_transforms(const std::string& parent, const std::string& child, const Times& stamps,
                                                      const Rows& rows) {
  if (rows.shape(0) != stamps.shape(0) || rows.shape(1) < 7)
    raise("InvalidArgument", "rows have at least seven numbers, and there is one for each stamp.");
  std::vector<wire::StampedTransform> found(stamps.shape(0), {parent, child});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double* v = rows.data() + i * rows.shape(1);
    found[i].stamp_ns = stamps.data()[i];
    found[i].pose = {v[4], v[5], v[6], v[0], v[1], v[2], v[3]};
  }
  return found;
}

void add_transforms(wire::Chunk& chunk, std::uint16_t channel, std::int64_t log_time, const std::string& parent,
                    const std::string& child, const Times& stamps, const Rows& rows, const std::string& form) {
  const auto transforms = stored_transforms(parent, child, stamps, rows);
  chunk.add_transforms(channel, log_time, transforms, form_named(form));
}

/// Several edges in one message.
nb::bytes write_message(nb::handle transforms, const std::string& form) {
  std::vector<std::string> names;
  std::vector<wire::StampedTransform> all;
  names.reserve(2 * nb::len(transforms));
  for (const nb::handle one : transforms) {
    const auto [parent, child, stamp, pose] =
        nb::cast<std::tuple<std::string, std::string, std::int64_t, std::vector<double>>>(nb::tuple(one));
    if (pose.size() != 7) raise("InvalidArgument", "A pose has seven numbers: x y z, then w x y z.");
    names.push_back(parent);
    names.push_back(child);
    wire::StampedTransform& made = all.emplace_back();
    made.parent = names[names.size() - 2], made.child = names.back(), made.stamp_ns = stamp;
    std::copy_n(pose.begin(), 7, made.pose.begin());
  }
  const wire::TransformForm chosen = form_named(form);
  if (chosen == wire::TransformForm::foxglove_one && all.size() != 1)
    raise("InvalidArgument", "'foxglove_one' takes one transform.");
  std::vector<std::byte> bytes;
  wire::write_transforms(all, chosen, bytes);
  return nb::bytes(bytes.data(), bytes.size());
}

nb::object read_message(nb::handle data, const std::string& form) {
  const ByteView bytes(data);
  const auto found = wire::read_transforms(bytes.span(), form_named(form));
  if (!found) return nb::none();
  nb::list all;
  for (const wire::StampedTransform& one : *found)
    all.append(nb::make_tuple(text_object(one.parent), text_object(one.child), one.stamp_ns,
                              std::vector<double>(one.pose.begin(), one.pose.end())));
  return all;
}

// -- Chunks

nb::tuple take_chunk(wire::Chunk& chunk) {
  const auto [index, begins] = chunk.index();
  std::map<std::uint16_t, std::size_t> counts;
  for (const auto& [channel, places] : chunk.places()) counts[channel] = places.size();
  const std::int64_t first = chunk.first_ns(), last = chunk.last_ns();
  auto* kept = new std::vector<std::byte>(chunk.take());
  nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<std::byte>*>(memory); });
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(kept->data());
  const nb::object records = nb::cast(nb::ndarray<nb::numpy, const std::uint8_t>(bytes, {kept->size()}, owner));
  return nb::make_tuple(records, nb::bytes(index.data(), index.size()), begins, counts, first, last);
}

}  // namespace

void bind_wire(nb::module_& m) {
  constexpr const char* kIndexed =
      "Return where the messages of a part of such a file are: channels, log times, offsets and sizes as arrays, other\n"
      "records as (kind, offset, size), where the last whole record ends, how many bytes the next one has, and whether it "
      "is none.";
  m.def("index_mcap", &index_mcap, "data"_a,
        nb::sig("def index_mcap(data: Buffer) -> tuple[NDArray[uint32], NDArray[int64], NDArray[uint64], NDArray[uint64], "
                "list[tuple[int, int, int]], int, int, bool]"),
        kIndexed);
  m.def("index_bag", &index_bag, "data"_a,
        nb::sig("def index_bag(data: Buffer) -> tuple[NDArray[uint32], NDArray[int64], NDArray[uint64], NDArray[uint64], "
                "list[tuple[int, int, int]], int, int, bool]"),
        kIndexed);
  m.def(
      "crc32",
      [](nb::handle data) {
        const ByteView bytes(data);
        return without_gil([&] { return wire::crc32(bytes.span()); });
      },
      "data"_a, nb::sig("def crc32(data: Buffer) -> int"), "Return the CRC-32 of zip files and of MCAP.");
  m.def("write_transforms", &write_message, "transforms"_a, "form"_a,
        nb::sig("def write_transforms(transforms: Sequence[tuple[str, str, int, Sequence[float]]], form: str) -> bytes"),
        "Return a message with transforms: parent, child, stamp [ns], and x y z w x y z of each. `form` is 'ros1', 'cdr',\n"
        "'foxglove' or 'foxglove_one'.");
  m.def("read_transforms", &read_message, "data"_a, "form"_a,
        nb::sig("def read_transforms(data: Buffer, form: str) -> list[tuple[str, str, int, list[float]]] | None"),
        "Return the transforms of a message as `write_transforms` takes them; None where it is malformed.");
  nb::class_<wire::TransformTable>(m, "TransformTable", "Transforms of many messages, sorted by parent and child.")
      .def(nb::init<std::size_t>(), nb::kw_only(), "max_edges"_a = 100'000,
           nb::sig("def __init__(self, *, max_edges: int = 100000) -> None"))
      .def("add", &add_messages, "data"_a, "offsets"_a, "sizes"_a, "log_times"_a, "form"_a,
           nb::sig("def add(self, data: Buffer, offsets: NDArray[uint64], sizes: NDArray[uint64], log_times: NDArray[int64], "
                   "form: str) -> int"),
           "Add the transforms of messages, which are parts of `data`; return how many messages were malformed.")
      .def("take", &take_edges,
           nb::sig("def take(self) -> list[tuple[str, str, NDArray[int64], NDArray[float64], NDArray[int64]]]"),
           "Take out what there is: parent, child, stamps, poses as x y z w x y z, and log times.")
      .def("take_newest", &take_newest, nb::sig("def take_newest(self) -> tuple[NDArray[int64], NDArray[int64]]"),
           "Take out the log time and the newest stamp of each message.")
      .def_prop_ro("left_out", &wire::TransformTable::left_out,
                   "How many transforms were no poses, or had names that are empty or too long.")
      .def("__len__", &wire::TransformTable::rows);
  nb::class_<wire::Chunk>(m, "Chunk", "The messages of one chunk of an MCAP file while it is being filled.")
      .def(nb::init<>(), nb::sig("def __init__(self) -> None"))
      .def(
          "add",
          [](wire::Chunk& chunk, std::uint16_t channel, std::int64_t log_time, const nb::args& content) {
            std::vector<std::unique_ptr<ByteView>> views;
            std::vector<wire::Bytes> parts;
            for (const nb::handle part : content) parts.push_back(views.emplace_back(std::make_unique<ByteView>(part))->span());
            chunk.add(channel, log_time, parts);
          },
          "channel"_a, "log_time"_a, "content"_a, nb::sig("def add(self, channel: int, log_time: int, *content: Buffer) -> None"),
          "Append a message, which may be given in parts.")
      .def("add_transforms", &add_transforms, "channel"_a, "log_time"_a, "parent"_a, "child"_a, "stamps"_a, "rows"_a, "form"_a,
           nb::sig("def add_transforms(self, channel: int, log_time: int, parent: str, child: str, stamps: NDArray[int64], "
                   "rows: NDArray[float64], form: str) -> None"),
           "Append a message with transforms of one edge; rows as in `SampleBatch.rows`.")
      .def("take", &take_chunk,
           nb::sig("def take(self) -> tuple[NDArray[uint8], bytes, dict[int, int], dict[int, int], int, int]"),
           "Take out what there is: records, their index, where that of each channel begins, how many messages each has, and\n"
           "the first and the last log time.")
      .def("__len__", [](const wire::Chunk& chunk) { return chunk.records().size(); });
}

}  // namespace armillary::python
