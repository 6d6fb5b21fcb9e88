// Readers of a scene see whole versions while writers change it and its copies, and let go of them whenever they like.

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "armillary/scene/search.hpp"
#include "armillary/scene/store.hpp"
#include "worlds.hpp"

using namespace armillary;
using namespace armillary::scene;

namespace {

constexpr std::size_t kBatch = 5, kCrowd = 300;
constexpr std::size_t kKept = 7;  // versions that a reader holds on to
constexpr std::int64_t kEnough = 150;

ChangeRequest coming(std::int64_t number, const char* name) {
  ChangeRequest request;
  request.change.payload = log::AddNode{.node = NodeId::random(),
                                        .settings = {{"name", AttributeValue(name)}, {"number", AttributeValue(number)}},
                                        .edge = {.parent = kRootNode}};
  request.change.at = Stamp{number};
  return request;
}

NodeId added_by(const ChangeRequest& request) { return std::get<log::AddNode>(request.change.payload).node; }

ChangeRequest leaving(const NodeId& node, std::int64_t number) {
  ChangeRequest request;
  request.change.payload = log::RemoveEdges{.node = node};
  request.change.at = Stamp{number};
  return request;
}

std::shared_ptr<Forest> small_forest() { return std::make_shared<Forest>(ForestOptions{.retention = tests::keeping(50)}); }

/// Beside a crowd that stays there are always five guests, who bear the number of the change that brought them.
struct Party {
  std::shared_ptr<Forest> forest = small_forest();
  Store store{forest, {.history = {20}, .max_removed = 50}};
  std::vector<NodeId> guests{};
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> looks{0}, torn{0}, exchanges{0};

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
    for (std::size_t i = 0; i < kBatch; ++i) guests.push_back(added_by(requests.emplace_back(coming(number, "guest"))));
    if (store.apply(std::move(requests), number).refusal) ++torn;
  }

  void write() {
    for (std::int64_t number = 2; !stop; ++number, ++exchanges) exchange(number);
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
    return true;
  }

  void read() {
    struct Seen {
      VersionPtr version;
      Digest digest;
    };
    std::vector<Seen> kept(kKept);
    for (std::size_t look = 0; !stop; ++look) {
      const VersionPtr newest = store.version();
      kept[look % kKept] = {newest, digest(*newest, kRootNode)};
      const Seen& older = kept[(look + 1) % kKept];
      if (!is_whole(*newest)) ++torn;
      if (older.version != nullptr && (!is_whole(*older.version) || digest(*older.version, kRootNode) != older.digest)) ++torn;
      ++looks;
    }
  }
};

}  // namespace

TEST(scene_stress, "stress: versions of a scene are seen whole while it changes, whoever drops them") {
  Party party;
  std::thread writer([&] { party.write(); }), reader([&] { party.read(); }), another([&] { party.read(); });
  tests::until_each_is(kEnough, {&party.looks, &party.exchanges});
  party.stop = true;
  for (std::thread* thread : {&writer, &reader, &another}) thread->join();
  CHECK(party.torn == 0);
}

namespace {

/// A copy of a store, as long as nobody else copies or changes its forest.
struct Twin {
  std::shared_ptr<Forest> forest = small_forest();
  std::unique_ptr<Store> store{};

  Twin(const Store& other, const Forest& its_forest, std::uint64_t replica_id) {
    const Store::Hold hold(other);
    forest->become(its_forest);
    store = std::make_unique<Store>(other, forest, replica_id);
  }
};

/// Adds and removes nodes in `store`, and in copies of it that live for a few changes.
void change_and_copy(const Store& store, const Forest& forest, std::uint64_t seed, const std::atomic<bool>& stop,
                     std::atomic<std::int64_t>& copies, std::atomic<int>& torn) {
  for (std::uint64_t round = 0; !stop; ++round, ++copies) {
    Twin twin(store, forest, seed + round);
    const VersionPtr before = twin.store->version();
    std::vector<NodeId> added;
    for (std::int64_t i = 0; i < 6; ++i) {
      ChangeRequest request = coming(i, "visitor");
      added.push_back(added_by(request));
      if (twin.store->apply({std::move(request)}, i).refusal) ++torn;
    }
    for (std::size_t i = 0; i < 3; ++i)
      if (twin.store->apply({leaving(added[i], 7)}, 7).refusal) ++torn;
    if (twin.store->version()->alive.size() != before->alive.size() + 3) ++torn;
    if (!Party::is_whole(*before)) ++torn;
  }
}

}  // namespace

TEST(scene_stress_copies, "stress: copies of a store are changed and dropped while it changes, by several threads") {
  Party party;
  std::atomic<int> torn{0};
  std::atomic<std::int64_t> copies{0};
  {
    const Store& store = party.store;
    const Forest& forest = *party.forest;
    std::thread writer([&] { party.write(); }), reader([&] { party.read(); });
    std::thread one([&] { change_and_copy(store, forest, 1'000'000, party.stop, copies, torn); });
    std::thread another([&] { change_and_copy(store, forest, 2'000'000, party.stop, copies, torn); });
    tests::until_each_is(kEnough, {&party.looks, &party.exchanges, &copies});
    party.stop = true;
    for (std::thread* thread : {&writer, &reader, &one, &another}) thread->join();
  }
  CHECK(party.torn == 0);
  CHECK(torn == 0);
}

TEST(scene_stress_outlived, "stress: versions outlive the stores that share them") {
  std::vector<VersionPtr> versions;
  {
    Party party;
    for (std::uint64_t id = 1; id < 5; ++id) {
      const Twin twin(party.store, *party.forest, id);
      party.exchange(static_cast<std::int64_t>(id) + 1);
      if (twin.store->apply({coming(9, "visitor")}, 9).refusal) ++party.torn;
      versions.push_back(twin.store->version());
      versions.push_back(party.store.version());
    }
    CHECK(party.torn == 0);
  }
  for (std::size_t i = 0; i < versions.size(); ++i)
    CHECK(versions[i]->alive.size() == 2 + kCrowd + kBatch + (i % 2 == 0 ? 1 : 0));
  std::thread elsewhere([&] { versions.clear(); });
  elsewhere.join();
}
