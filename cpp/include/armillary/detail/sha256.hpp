#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace armillary {

using Digest = std::array<std::uint8_t, 32>;

/// The hash SHA-256 (FIPS 180-4) of the bytes added, in the order in which they were added.
class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text);
  void add(const Digest& digest);
  /// Eight bytes, the least significant first.
  void add(std::uint64_t number);

  /// Ends the message; nothing may be added afterwards.
  [[nodiscard]] Digest finish();

 private:
  static constexpr std::size_t kBlockBytes = 64;

  void take_block(const std::uint8_t* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlockBytes> waiting_;  // the first `added_bytes_ % kBlockBytes` are of the block begun
  std::uint64_t added_bytes_ = 0;
};

/// 64 lower-case digits.
[[nodiscard]] std::string hex(const Digest& digest);

}  // namespace armillary
