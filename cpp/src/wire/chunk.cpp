#include "armillary/wire/chunk.hpp"

#include <algorithm>

namespace armillary::wire {

namespace {

constexpr std::uint8_t kMessage = 0x05, kMessageIndex = 0x07;
constexpr std::size_t kHead = 9;

template <typename Number>
void put(std::vector<std::byte>& to, Number value) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(Number)>>(value);
  to.insert(to.end(), raw.begin(), raw.end());
}

}  // namespace

std::size_t Chunk::begin(std::uint16_t channel, std::int64_t log_time_ns) {
  if (records_.empty()) first_ns_ = last_ns_ = log_time_ns;
  first_ns_ = std::min(first_ns_, log_time_ns), last_ns_ = std::max(last_ns_, log_time_ns);
  const std::size_t place = records_.size();
  places_[channel].emplace_back(log_time_ns, place);
  put(records_, kMessage);
  put(records_, std::uint64_t{0});
  put(records_, channel);
  put(records_, sequences_[channel]++);
  put(records_, log_time_ns);
  put(records_, log_time_ns);
  return place;
}

void Chunk::end(std::size_t place) {
  const std::uint64_t size = records_.size() - place - kHead;
  std::memcpy(records_.data() + place + 1, &size, sizeof size);
}

void Chunk::add(std::uint16_t channel, std::int64_t log_time_ns, std::span<const Bytes> parts) {
  const std::size_t place = begin(channel, log_time_ns);
  for (const Bytes part : parts) records_.insert(records_.end(), part.begin(), part.end());
  end(place);
}

void Chunk::add_transforms(std::uint16_t channel, std::int64_t log_time_ns, std::span<const StampedTransform> transforms,
                           TransformForm form) {
  const std::size_t place = begin(channel, log_time_ns);
  write_transforms(transforms, form, records_);
  end(place);
}

std::vector<std::byte> Chunk::take() {
  std::vector<std::byte> records = std::exchange(records_, {});
  records_.reserve(records.size());
  places_.clear();
  return records;
}

std::pair<std::vector<std::byte>, std::map<std::uint16_t, std::uint64_t>> Chunk::index() const {
  std::vector<std::byte> bytes;
  std::map<std::uint16_t, std::uint64_t> begins;
  for (const auto& [channel, places] : places_) {
    begins[channel] = bytes.size();
    const std::uint32_t size = static_cast<std::uint32_t>(16 * places.size());
    put(bytes, kMessageIndex);
    put(bytes, std::uint64_t{size} + 6);
    put(bytes, channel);
    put(bytes, size);
    for (const auto& [log_time_ns, offset] : places) {
      put(bytes, log_time_ns);
      put(bytes, offset);
    }
  }
  return {std::move(bytes), std::move(begins)};
}

}  // namespace armillary::wire
