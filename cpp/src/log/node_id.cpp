#include "armillary/log/node_id.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <random>

#include "armillary/detail/sha256.hpp"

namespace armillary {

namespace {

constexpr std::size_t kTextLength = 36;
constexpr std::size_t kShortTextLength = 8;

constexpr bool is_dash_at(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

/// How often this process is a fork's child: generators seeded before would repeat the parent's ids.
std::uint64_t fork_count() {
  static std::atomic<std::uint64_t> count{0};
  [[maybe_unused]] static const int counting = pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1); });
  return count.load(std::memory_order_relaxed);
}

std::mt19937_64 seeded_generator() {
  std::random_device device;
  std::array<std::uint32_t, 16> words;
  std::ranges::generate(words, std::ref(device));
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

std::mt19937_64& generator() {
  thread_local std::uint64_t seeded_at = fork_count();
  thread_local std::mt19937_64 generator = seeded_generator();
  if (const std::uint64_t now = fork_count(); now != seeded_at) {
    generator = seeded_generator();
    seeded_at = now;
  }
  return generator;
}

void write_bytes(std::uint64_t bits, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

NodeId with_version(NodeId id, std::uint8_t version) {
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | version << 4);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
  return id;
}

std::optional<std::uint8_t> digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<std::uint8_t>(digit - 'A' + 10);
  return std::nullopt;
}

}  // namespace

NodeId NodeId::random() {
  std::mt19937_64& draw = generator();
  NodeId id;
  write_bytes(draw(), id.bytes.data());
  write_bytes(draw(), id.bytes.data() + 8);
  return with_version(id, 4);
}

NodeId NodeId::of_name(std::string_view space, std::string_view name) {
  Sha256 hash;
  hash.add(std::uint64_t{space.size()});  // so that ("a", "bc") and ("ab", "c") differ
  hash.add(space);
  hash.add(name);
  const Digest digest = hash.finish();
  NodeId id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return with_version(id, 8);
}

std::optional<NodeId> NodeId::parse(std::string_view text) {
  if (text.size() != kTextLength) return std::nullopt;
  NodeId id;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_at(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const std::optional<std::uint8_t> value = digit_value(text[i]);
    if (!value) return std::nullopt;
    std::uint8_t& byte = id.bytes[digits++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | *value);
  }
  return id;
}

std::string NodeId::text() const {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(kTextLength, '-');
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_at(i)) continue;
    const std::uint8_t byte = bytes[digits / 2];
    text[i] = kDigits[digits++ % 2 == 0 ? byte >> 4 : byte & 15];
  }
  return text;
}

std::string NodeId::short_text() const { return text().substr(0, kShortTextLength); }

}  // namespace armillary
