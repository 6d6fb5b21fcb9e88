#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "expr/tape_program.hpp"

namespace armillary {

namespace {

static_assert(std::endian::native == std::endian::little, "The numbers of a tape are copied as they are.");
static_assert(sizeof(TapeInstruction) == 16);

constexpr std::string_view kMagic = "ARMTAPE\n";
constexpr std::uint32_t kVersion = 1;

/// What comes first, after the magic.
struct Head {
  std::uint32_t version, inputs, outputs, constants, instructions;

  [[nodiscard]] std::size_t bytes() const {
    return kMagic.size() + sizeof(Head) + std::size_t{constants} * sizeof(double) +
           std::size_t{instructions} * sizeof(TapeInstruction) + sizeof(Digest);
  }
};

template <typename T>
std::byte* put(std::byte* to, const T* values, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (bytes > 0) std::memcpy(to, values, bytes);
  return to + bytes;
}

template <typename T>
const std::byte* take(const std::byte* from, T* values, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (bytes > 0) std::memcpy(values, from, bytes);
  return from + bytes;
}

Digest checksum(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes.first(bytes.size() - sizeof(Digest)));
  return hash.finish();
}

Digest written_checksum(std::span<const std::byte> bytes) {
  Digest digest;
  take(bytes.data() + bytes.size() - sizeof(Digest), digest.data(), digest.size());
  return digest;
}

std::optional<TapeFault> fault_in(std::span<const std::byte> bytes, const Head& head) {
  if (head.version != kVersion) return TapeFault{TapeFaultKind::unknown_version, std::nullopt, head.version, kVersion};
  if (bytes.size() != head.bytes()) return TapeFault{TapeFaultKind::wrong_length, std::nullopt, bytes.size(), head.bytes()};
  if (checksum(bytes) != written_checksum(bytes)) return TapeFault{TapeFaultKind::wrong_checksum};
  return std::nullopt;
}

}  // namespace

std::vector<std::byte> Tape::encode() const {
  const TapeParts& parts = program_->parts();
  const auto count = [](std::size_t number) { return static_cast<std::uint32_t>(number); };
  const Head head{kVersion, count(parts.inputs), count(parts.outputs), count(parts.constants.size()), count(parts.code.size())};
  std::vector<std::byte> bytes(head.bytes());
  std::byte* end = put(bytes.data(), kMagic.data(), kMagic.size());
  end = put(end, &head, 1);
  end = put(end, parts.constants.data(), parts.constants.size());
  end = put(end, parts.code.data(), parts.code.size());
  const Digest digest = checksum(bytes);
  put(end, digest.data(), digest.size());
  return bytes;
}

Digest Tape::digest() const { return written_checksum(encode()); }

std::variant<Tape, TapeFault> Tape::decode(std::span<const std::byte> bytes) {
  const bool begins = bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  if (!begins) return TapeFault{TapeFaultKind::not_a_tape};
  constexpr std::size_t shortest = kMagic.size() + sizeof(Head) + sizeof(Digest);
  if (bytes.size() < shortest) return TapeFault{TapeFaultKind::wrong_length, std::nullopt, bytes.size(), shortest};
  Head head;
  const std::byte* from = take(bytes.data() + kMagic.size(), &head, 1);
  if (const auto fault = fault_in(bytes, head)) return *fault;
  TapeParts parts{std::vector<TapeInstruction>(head.instructions), std::vector<double>(head.constants), head.inputs,
                  head.outputs};
  from = take(from, parts.constants.data(), parts.constants.size());
  take(from, parts.code.data(), parts.code.size());
  return make(std::move(parts));
}

}  // namespace armillary
