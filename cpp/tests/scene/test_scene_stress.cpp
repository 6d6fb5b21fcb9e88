// Readers of a scene see whole versions while a writer changes it, and let go of them whenever they like.

#include <atomic>
#include <chrono>
#include <thread>

#include "armillary/scene/search.hpp"
#include "armillary/scene/store.hpp"
#include "worlds.hpp"

using namespace armillary;
using namespace armillary::scene;

namespace {

constexpr std::size_t kBatch = 5, kCrowd = 300;
constexpr std::size_t kKept = 7;  // versions that a reader holds on to

ChangeRequest coming(std::int64_t number, const char* name) {
  ChangeRequest request;
  request.change.node_kind = NodeKind::group;
  request.change.node = NodeId::random();
  request.change.parent = kRootNode;
  request.change.settings = {{"name", AttributeValue(name)}, {"number", AttributeValue(number)}};
  request.change.at = Stamp{number};
  return request;
}

ChangeRequest leaving(const NodeId& node, std::int64_t number) {
  ChangeRequest request;
  request.change.kind = ChangeKind::remove_parents;
  request.change.node = node;
  request.change.at = Stamp{number};
  return request;
}

/// Beside a crowd that stays there are always five guests, who bear the number of the change that brought them.
struct Party {
  Store store{std::make_shared<Forest>(ForestOptions{.retention = tests::keeping(50)}), {.history = {20}, .max_journal = 50}};
  std::vector<NodeId> guests{};
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> looks{0}, torn{0};

  Party() {
    std::vector<ChangeRequest> crowd;
    for (std::size_t i = 0; i < kCrowd; ++i) crowd.push_back(coming(0, "one of many"));
    if (store.apply(std::move(crowd), 0).refusal) ++torn;
    exchange(1);
  }

  void exchange(std::int64_t number) {
    std::vector<ChangeRequest> requests;
    for (const NodeId& guest : guests) requests.push_back(leaving(guest, number));
    guests.clear();
    for (std::size_t i = 0; i < kBatch; ++i) guests.push_back(requests.emplace_back(coming(number, "guest")).change.node);
    if (store.apply(std::move(requests), number).refusal) ++torn;
  }

  void write() {
    for (std::int64_t number = 2; !stop; ++number) exchange(number);
  }

  static bool is_whole(const Version& version) {
    Condition is_guest;
    is_guest.key = "name";
    is_guest.kind = Condition::Kind::equals;
    is_guest.value = "guest";
    const std::vector<NodeId> found = find(version, {&is_guest, 1}, kRootNode);
    if (found.size() != kBatch || subtree(version, kRootNode).size() != 1 + kCrowd + kBatch) return false;
    const AttributeValue& number = *version.find(found.front())->attributes.back().value;
    for (const NodeId& guest : found)
      if (*version.find(guest)->attributes.back().value != number) return false;
    return digest(version, kRootNode) == digest(version, kRootNode);
  }

  void read() {
    std::vector<VersionPtr> kept(kKept);
    for (std::size_t look = 0; !stop; ++look) {
      kept[look % kKept] = store.version();
      const VersionPtr& older = kept[(look + 1) % kKept];
      if (!is_whole(*kept[look % kKept]) || (older != nullptr && !is_whole(*older))) ++torn;
      ++looks;
    }
  }
};

}  // namespace

TEST(scene_stress, "stress: versions of a scene are seen whole while it changes, whoever drops them") {
  Party party;
  std::thread writer([&] { party.write(); }), reader([&] { party.read(); }), another([&] { party.read(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  party.stop = true;
  for (std::thread* thread : {&writer, &reader, &another}) thread->join();
  CHECK(party.looks > 0);
  CHECK(party.torn == 0);
}
