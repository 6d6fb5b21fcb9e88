#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "armillary/wire/bytes.hpp"
#include "armillary/wire/transforms.hpp"

namespace armillary::wire {

/// The messages of one chunk of an MCAP file while it is being filled.
class Chunk {
 public:
  /// Where the messages of a channel are: log time and offset.
  using Places = std::map<std::uint16_t, std::vector<std::pair<std::int64_t, std::uint64_t>>>;

  /// Appends a message, which is given in parts.
  void add(std::uint16_t channel, std::int64_t log_time_ns, std::span<const Bytes> parts);
  /// Appends transforms as a message of `form`.
  void add_transforms(std::uint16_t channel, std::int64_t log_time_ns, std::span<const StampedTransform> transforms,
                      TransformForm form);
  /// Takes out the records, and begins anew.
  [[nodiscard]] std::vector<std::byte> take();

  [[nodiscard]] const std::vector<std::byte>& records() const { return records_; }
  [[nodiscard]] const Places& places() const { return places_; }
  /// The records with `places`, one for each channel, and where each of them begins.
  [[nodiscard]] std::pair<std::vector<std::byte>, std::map<std::uint16_t, std::uint64_t>> index() const;
  [[nodiscard]] std::int64_t first_ns() const { return first_ns_; }
  [[nodiscard]] std::int64_t last_ns() const { return last_ns_; }

 private:
  std::size_t begin(std::uint16_t channel, std::int64_t log_time_ns);
  void end(std::size_t place);

  std::vector<std::byte> records_{};
  Places places_{};
  std::map<std::uint16_t, std::uint32_t> sequences_{};  ///< they go on from chunk to chunk
  std::int64_t first_ns_ = 0, last_ns_ = 0;
};

}  // namespace armillary::wire
