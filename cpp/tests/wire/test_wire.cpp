// Messages of logs: what was written is read again, and nothing that is cut off or made up leads beyond its bytes.

#include <algorithm>
#include <random>

#include "armillary/wire/chunk.hpp"
#include "armillary/wire/records.hpp"
#include "armillary/wire/transforms.hpp"
#include "check.hpp"

using namespace armillary::wire;

namespace {

const std::vector<StampedTransform> kTwo{{"map", "base", -5, {1, 2, 3, 1, 0, 0, 0}},
                                         {"base", "hand", 1'700'000'000'000'000'001, {4, 5, 6, 0.5, 0.5, 0.5, 0.5}}};

std::vector<std::byte> written(TransformForm form, std::span<const StampedTransform> what = kTwo) {
  std::vector<std::byte> bytes;
  write_transforms(what, form, bytes);
  return bytes;
}

}  // namespace

TEST(transforms_are_read_as_they_were_written, "transforms are read as they were written") {
  for (const TransformForm form : {TransformForm::cdr, TransformForm::foxglove}) {
    const auto bytes = written(form);
    const auto found = read_transforms(bytes, form);
    CHECK(found && found->size() == 2);
    for (std::size_t i = 0; found && i < found->size(); ++i) {
      CHECK((*found)[i].parent == kTwo[i].parent && (*found)[i].child == kTwo[i].child);
      CHECK((*found)[i].stamp_ns == kTwo[i].stamp_ns && (*found)[i].pose == kTwo[i].pose);
    }
  }
}

TEST(transforms_of_ros_1_count_seconds_from_zero_on, "transforms of ros 1 count seconds from zero on") {
  const auto bytes = written(TransformForm::ros1, std::span(kTwo).subspan(1));
  const auto found = read_transforms(bytes, TransformForm::ros1);
  CHECK(found && found->size() == 1 && found->front().stamp_ns == kTwo[1].stamp_ns);
}

TEST(transforms_of_any_bytes_stay_within_them, "transforms of any bytes stay within them") {
  std::mt19937 random(1);
  for (const TransformForm form :
       {TransformForm::ros1, TransformForm::cdr, TransformForm::foxglove, TransformForm::foxglove_one}) {
    const std::vector<std::byte> whole = written(form, std::span(kTwo).first(1));
    for (int round = 0; round < 20'000; ++round) {
      std::vector<std::byte> bytes = whole;
      bytes.resize(random() % (whole.size() + 1));
      for (unsigned k = random() % 4; k > 0 && !bytes.empty(); --k) bytes[random() % bytes.size()] = std::byte(random());
      TransformTable table(10);
      (void)table.add(bytes, form, 0);
      CHECK(table.rows() <= bytes.size());
    }
  }
}

TEST(a_table_sorts_transforms_by_edge_and_leaves_out_what_is_none,
     "a table sorts transforms by edge and leaves out what is none") {
  TransformTable table(2);
  CHECK(table.add(written(TransformForm::cdr), TransformForm::cdr, 7));
  CHECK(table.add(written(TransformForm::cdr), TransformForm::cdr, 8));
  const std::vector<StampedTransform> odd{{"map", "base", 0, {0, 0, 0, 0, 0, 0, 0}},
                                          {"", "base", 0, {0, 0, 0, 1, 0, 0, 0}},
                                          {"too", "many", 0, {0, 0, 0, 1, 0, 0, 0}}};
  CHECK(table.add(written(TransformForm::cdr, odd), TransformForm::cdr, 9));
  CHECK(table.rows() == 4 && table.left_out() == 3);
  const auto edges = table.take();
  CHECK(edges.size() == 2 && edges[0].stamps_ns.size() == 2 && edges[1].log_times_ns == (std::vector<std::int64_t>{7, 8}));
  CHECK(table.rows() == 0 && table.take().empty());
}

TEST(a_chunk_has_an_index_of_its_messages, "a chunk has an index of its messages") {
  Chunk chunk;
  const auto content = written(TransformForm::cdr);
  const Bytes part(content);
  chunk.add(3, 10, std::span(&part, 1));
  chunk.add_transforms(4, 5, kTwo, TransformForm::foxglove);
  const RecordIndex found = index_mcap(chunk.records());
  CHECK(found.channels == (std::vector<std::uint32_t>{3, 4}) && found.log_times == (std::vector<std::int64_t>{10, 5}));
  CHECK(found.sizes[0] == content.size() && found.end == chunk.records().size() && !found.is_malformed);
  CHECK(chunk.first_ns() == 5 && chunk.last_ns() == 10 && chunk.index().second.size() == 2);
}

TEST(records_of_any_bytes_stay_within_them, "records of any bytes stay within them") {
  std::mt19937 random(2);
  Chunk chunk;
  for (int i = 0; i < 3; ++i) chunk.add_transforms(1, i, kTwo, TransformForm::cdr);
  const std::vector<std::byte> whole = chunk.records();
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = whole;
    bytes.resize(random() % (whole.size() + 1));
    for (unsigned k = random() % 4; k > 0 && !bytes.empty(); --k) bytes[random() % bytes.size()] = std::byte(random());
    for (const RecordIndex& found : {index_mcap(bytes), index_bag(bytes)}) {
      CHECK(found.end <= bytes.size());
      for (std::size_t i = 0; i < found.sizes.size(); ++i)
        CHECK(found.offsets[i] <= bytes.size() && found.sizes[i] <= bytes.size() - found.offsets[i]);
      for (const auto& other : found.others) CHECK(other.offset <= bytes.size() && other.size <= bytes.size() - other.offset);
    }
  }
}

TEST(a_checksum_is_that_of_zip_files, "a checksum is that of zip files") {
  const std::string text = "123456789";
  CHECK(crc32({reinterpret_cast<const std::byte*>(text.data()), text.size()}) == 0xCBF43926U);
  CHECK(crc32({}) == 0U);
}
