#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace armillary::log {

/// Identity of a change record: who signed it, and as which of his records. Never used twice.
struct Dot {
  std::uint64_t author = 0;  ///< an `author_key`
  std::uint64_t sequence = 0;
  friend constexpr auto operator<=>(const Dot&, const Dot&) = default;
};

/// A value of a hybrid logical clock: the machine's clock, and a count where that stands still or is behind.
/// It orders changes; it is no instant of the world.
struct HybridTimestamp {
  std::int64_t wall_ns = 0;
  std::uint32_t count = 0;
  friend constexpr auto operator<=>(const HybridTimestamp&, const HybridTimestamp&) = default;
};

/// What orders change records. Its own order is *newer*: of two writes of one slot the greater one wins.
struct Signature {
  HybridTimestamp time{};
  std::uint8_t authority = 0;
  Dot id{};
  friend constexpr auto operator<=>(const Signature&, const Signature&) = default;
};

[[nodiscard]] constexpr bool newer(const Signature& a, const Signature& b) { return a > b; }

/// The order of *stronger*: of two different things that cannot hold together the lesser one stays active, which has the
/// higher authority, or else the earlier time.
[[nodiscard]] constexpr auto strength(const Signature& signature) {
  return std::tuple(-static_cast<int>(signature.authority), signature.time, signature.id);
}

[[nodiscard]] constexpr bool stronger(const Signature& a, const Signature& b) { return strength(a) < strength(b); }

/// A time epoch: the signature of its ResetTime, or none for the first one.
using Epoch = std::optional<Signature>;

/// Which period of an id between its creation and its removal is meant. A private node has that of its `AddNode`.
/// One that several authors make has one they agree on: the stand-in of a frame that of the newest removal of the frame
/// (zero where there was none), a remote root a generation without an id. Their order is *newer*, as that of changes.
using Incarnation = Signature;

/// Which records a replica holds, or has held: per author ranges of sequences. O(log ranges) for one record.
class VersionVector {
 public:
  /// First and last of each range, in order; two ranges never touch.
  using Ranges = std::map<std::uint64_t, std::uint64_t>;

  [[nodiscard]] bool contains(const Dot& dot) const;
  [[nodiscard]] bool contains(const VersionVector& other) const;
  void add(const Dot& dot) { add(dot.author, dot.sequence, dot.sequence); }
  void add(const VersionVector& other);
  void add(std::uint64_t author, std::uint64_t first, std::uint64_t last);
  /// Joins the lowest ranges of each author where there are far more than `most`. What lies between them is then contained
  /// as well: of what was dropped, who lacks something so old counts as lacking all of it.
  void join_oldest(std::size_t most);
  /// What is held of one author alone.
  [[nodiscard]] VersionVector of(std::uint64_t author) const;
  /// The highest sequence of an author; zero where none is held.
  [[nodiscard]] std::uint64_t newest(std::uint64_t author) const;
  [[nodiscard]] const std::map<std::uint64_t, Ranges>& entries() const { return entries_; }
  friend bool operator==(const VersionVector&, const VersionVector&) = default;

 private:
  std::map<std::uint64_t, Ranges> entries_{};
};

/// Source of timestamps: each one is later than all that were given out or seen.
class HybridClock {
 public:
  [[nodiscard]] HybridTimestamp next(std::int64_t wall_ns);
  void observe(const HybridTimestamp& time) { newest_ = std::max(newest_, time); }
  [[nodiscard]] const HybridTimestamp& newest() const { return newest_; }

 private:
  HybridTimestamp newest_{};
};

/// Key of an author: of its name and a number that tells its processes and copies apart.
[[nodiscard]] std::uint64_t author_key(std::string_view name, std::uint64_t bearer);

}  // namespace armillary::log
