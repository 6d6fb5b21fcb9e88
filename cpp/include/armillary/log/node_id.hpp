#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "armillary/detail/mix.hpp"

namespace armillary {

/// What names a node for ever: the 16 bytes of a UUID (RFC 9562).
struct NodeId {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const NodeId&) const = default;
  constexpr bool operator==(const NodeId& other) const {
    return first_half() == other.first_half() && last_half() == other.last_half();
  }

  /// A new one, version 4. Threads and forked processes draw from generators of their own.
  [[nodiscard]] static NodeId random();
  /// Always the same one for the same two texts, version 8.
  [[nodiscard]] static NodeId of_name(std::string_view space, std::string_view name);
  /// The 36 characters of `text()`, digits in either case; nothing for any other text.
  [[nodiscard]] static std::optional<NodeId> parse(std::string_view text);

  [[nodiscard]] std::string text() const;
  /// The first eight digits: enough for people, not for machines.
  [[nodiscard]] std::string short_text() const;

  /// As numbers, the same on every machine.
  [[nodiscard]] constexpr std::uint64_t first_half() const { return number_of(bytes.data()); }
  [[nodiscard]] constexpr std::uint64_t last_half() const { return number_of(bytes.data() + 8); }

 private:
  using Number = std::uint64_t;

  /// Not a loop: as one expression it is one load on most machines.
  [[nodiscard]] static constexpr Number number_of(const std::uint8_t* b) {
    return Number{b[0]} | Number{b[1]} << 8 | Number{b[2]} << 16 | Number{b[3]} << 24 | Number{b[4]} << 32 | Number{b[5]} << 40 |
           Number{b[6]} << 48 | Number{b[7]} << 56;
  }
};

// Version 8, and the first bytes spell the name.
inline constexpr NodeId kRootNode{{'r', 'o', 'o', 't', 0, 0, 0x80, 0, 0x80}};
inline constexpr NodeId kDetachedNode{{'l', 'i', 'm', 'b', 'o', 0, 0x80, 0, 0x80}};

struct NodeIdTraits {
  /// The same on every machine; spreads ids that people count up by hand, too.
  [[nodiscard]] static std::uint64_t hash(const NodeId& id) {
    return detail::mixed(id.first_half() + detail::mixed(id.last_half()));
  }
  [[nodiscard]] static bool equal(const NodeId& a, const NodeId& b) { return a == b; }
};

}  // namespace armillary

template <>
struct std::hash<armillary::NodeId> {
  std::size_t operator()(const armillary::NodeId& id) const { return armillary::NodeIdTraits::hash(id); }
};
