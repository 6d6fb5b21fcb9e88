#pragma once

#include <cstdint>
#include <vector>

#include "armillary/wire/bytes.hpp"

namespace armillary::wire {

/// Where messages and other records are in a part of a log file.
struct RecordIndex {
  struct Other {
    std::uint8_t kind;
    std::uint64_t offset, size;
  };
  std::vector<std::uint32_t> channels{};
  std::vector<std::int64_t> log_times{};
  std::vector<std::uint64_t> offsets{}, sizes{};  ///< of the contents of messages
  std::vector<Other> others{};                    ///< their contents; of bags with the header of the record
  std::uint64_t end = 0;                          ///< so far there are whole records
  std::uint64_t wanted = 0;                       ///< the size of the record that is cut off there, its head included; 0: unknown
  bool is_malformed = false;                      ///< at `end` there is something else
};

/// The CRC-32 of zip files and of MCAP.
[[nodiscard]] std::uint32_t crc32(Bytes data);

/// Records of an MCAP file, or of a chunk of one. Others are everything but messages, by opcode.
[[nodiscard]] RecordIndex index_mcap(Bytes data);

/// Records of a ROS 1 bag, or of a chunk of one. Others are everything but messages, by `op`.
[[nodiscard]] RecordIndex index_bag(Bytes data);

}  // namespace armillary::wire
