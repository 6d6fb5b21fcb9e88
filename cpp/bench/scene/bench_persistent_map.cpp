// Nanoseconds an operation for a persistent map of 100 000 nodes. CPU time, best of repeats.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "armillary/log/node_id.hpp"
#include "armillary/scene/persistent_map.hpp"

using namespace armillary;

namespace {

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

struct Traits : NodeIdTraits {
  static Digest digest(const NodeId& id, const std::uint64_t& value) {
    Sha256 hash;
    hash.add(std::as_bytes(std::span(id.bytes)));
    hash.add(value);
    return hash.finish();
  }
};

using Map = PersistentMap<NodeId, std::uint64_t, Traits>;

constexpr std::size_t kEntries = 100'000;
constexpr std::size_t kDigests = 1'000;
constexpr int kRounds = 15;

struct Ids {
  std::vector<NodeId> first;
  std::vector<NodeId> again;  // in another order
};

Ids random_ids() {
  Ids ids{std::vector<NodeId>(kEntries), {}};
  std::ranges::generate(ids.first, NodeId::random);
  ids.again = ids.first;
  std::ranges::shuffle(ids.again, std::mt19937_64(1));
  return ids;
}

/// A map that shares no node with `given`, nor with anybody.
Map unshared(const Map& given) {
  Map map;
  given.for_each([&](const NodeId& id, std::uint64_t value) { map.set(id, value); });
  return map;
}

/// `act(map, id)` for `count` ids on a map of its own; the time of `act` alone.
template <typename Act>
void measure(const char* what, const Ids& ids, const Map& given, std::size_t count, Act act) {
  double best_ns = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    Map map = unshared(given);
    const double start_ns = cpu_ns();
    for (std::size_t i = 0; i < count; ++i) act(map, ids.again[i]);
    best_ns = std::min(best_ns, (cpu_ns() - start_ns) / static_cast<double>(count));
  }
  std::printf("%-32s %9.0f ns\n", what, best_ns);
}

}  // namespace

int main() {
  const Ids ids = random_ids();
  const Map empty;
  Map full;
  for (const NodeId& id : ids.first) full.set(id, 1);
  std::uint64_t sum = full.digest()[0];
  Map kept;
  measure("set, a new key", ids, empty, kEntries, [](Map& map, const NodeId& id) { map.set(id, 2); });
  measure("set, a known key", ids, full, kEntries, [](Map& map, const NodeId& id) { map.set(id, 2); });
  measure("find", ids, full, kEntries, [&](Map& map, const NodeId& id) { sum += *map.find(id); });
  measure("erase", ids, full, kEntries, [](Map& map, const NodeId& id) { map.erase(id); });
  measure("set, with the last version kept", ids, full, kEntries, [&](Map& map, const NodeId& id) {
    kept = map;
    map.set(id, 2);
  });
  measure("erase, with the last version kept", ids, full, kEntries, [&](Map& map, const NodeId& id) {
    kept = map;
    map.erase(id);
  });
  measure("set and digest", ids, full, kDigests, [&](Map&, const NodeId& id) {
    full.set(id, sum);
    sum += full.digest()[0];
  });
  std::printf("(%llu)\n", static_cast<unsigned long long>(sum));
}
