#include "armillary/wire/records.hpp"

#include <optional>
#include <utility>

namespace armillary::wire {

namespace {

constexpr std::uint8_t kMcapMessage = 0x05, kBagMessage = 0x02;
constexpr std::uint64_t kMcapHead = 9, kMcapMessageHead = 22, kBagLength = 4;

void add_message(RecordIndex& found, std::uint32_t channel, std::int64_t log_time, std::uint64_t offset, std::uint64_t size) {
  found.channels.push_back(channel);
  found.log_times.push_back(log_time);
  found.offsets.push_back(offset);
  found.sizes.push_back(size);
}

/// What is used of the header of a record of a bag.
struct BagHeader {
  std::optional<std::uint8_t> op{};
  std::optional<std::uint32_t> connection{};
  std::optional<std::int64_t> time_ns{};
};

std::optional<BagHeader> read_bag_header(Bytes data) {
  BagHeader header;
  Reader reader(data);
  while (reader.left() > 0) {
    const auto size = reader.number<std::uint32_t>();
    const std::string_view field = reader.text(size);
    const std::size_t equals = field.find('=');
    if (reader.failed() || equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = field.substr(0, equals), value = field.substr(equals + 1);
    const auto* raw = reinterpret_cast<const std::byte*>(value.data());
    if (name == "op" && value.size() == 1) header.op = static_cast<std::uint8_t>(raw[0]);
    if (name == "conn" && value.size() == 4) header.connection = load<std::uint32_t>(raw);
    if (name == "time" && value.size() == 8)
      header.time_ns = std::int64_t{load<std::uint32_t>(raw)} * 1'000'000'000 + load<std::uint32_t>(raw + 4);
  }
  return header;
}

/// Sixteen bytes at once: `tables[k]` is for a byte with k more behind it.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 16>;

CrcTables crc_tables() {
  constexpr std::uint32_t kPolynomial = 0xEDB88320U;
  CrcTables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? kPolynomial : 0U);
    tables[0][i] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t i = 0; i < 256; ++i) tables[k][i] = (tables[k - 1][i] >> 8U) ^ tables[0][tables[k - 1][i] & 0xFFU];
  return tables;
}

}  // namespace

std::uint32_t crc32(Bytes data) {
  static const CrcTables tables = crc_tables();
  std::uint32_t crc = ~0U;
  const std::byte* at = data.data();
  std::size_t left = data.size();
  for (; left >= 16; left -= 16, at += 16) {
    const std::array<std::uint32_t, 4> words{load<std::uint32_t>(at) ^ crc, load<std::uint32_t>(at + 4),
                                             load<std::uint32_t>(at + 8), load<std::uint32_t>(at + 12)};
    crc = 0;
    for (std::size_t w = 0; w < 4; ++w)
      for (std::size_t b = 0; b < 4; ++b) crc ^= tables[15 - 4 * w - b][(words[w] >> (8 * b)) & 0xFFU];
  }
  for (; left > 0; --left, ++at) crc = (crc >> 8U) ^ tables[0][(crc ^ static_cast<std::uint32_t>(*at)) & 0xFFU];
  return ~crc;
}

RecordIndex index_mcap(Bytes data) {
  RecordIndex found;
  Reader reader(data);
  while (reader.left() > 0) {
    const auto kind = reader.number<std::uint8_t>();
    const auto size = reader.number<std::uint64_t>();
    const std::uint64_t offset = reader.place();
    if (!reader.failed() && (kind == 0 || size > (std::uint64_t{1} << 62))) {
      found.is_malformed = true;
      return found;
    }
    if (reader.failed()) return found;
    const Bytes content = reader.bytes(size);
    if (reader.failed()) {
      found.wanted = kMcapHead + size;
      return found;
    }
    if (kind != kMcapMessage) {
      found.others.push_back({kind, offset, size});
    } else if (size < kMcapMessageHead) {
      found.is_malformed = true;
      return found;
    } else {
      add_message(found, load<std::uint16_t>(content.data()), load<std::int64_t>(content.data() + 6), offset + kMcapMessageHead,
                  size - kMcapMessageHead);
    }
    found.end = reader.place();
  }
  return found;
}

RecordIndex index_bag(Bytes data) {
  RecordIndex found;
  Reader reader(data);
  while (reader.left() > 0) {
    const std::uint64_t begin = reader.place();
    const auto header_size = reader.number<std::uint32_t>();
    const Bytes head = reader.bytes(header_size);
    const auto size = reader.number<std::uint32_t>();
    if (reader.failed()) {
      if (data.size() - begin >= kBagLength) found.wanted = 2 * kBagLength + header_size;
      return found;
    }
    const std::uint64_t offset = reader.place();
    reader.skip(size);
    const std::optional<BagHeader> header = read_bag_header(head);
    if (!header || !header->op) {
      found.is_malformed = true;
      return found;
    }
    if (reader.failed()) {
      found.wanted = 2 * kBagLength + header_size + size;
      return found;
    }
    if (*header->op == kBagMessage && header->connection && header->time_ns)
      add_message(found, *header->connection, *header->time_ns, offset, size);
    else
      found.others.push_back({*header->op, begin, reader.place() - begin});
    found.end = reader.place();
  }
  return found;
}

}  // namespace armillary::wire
