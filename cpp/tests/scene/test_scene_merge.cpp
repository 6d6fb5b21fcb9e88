// Replicas of a scene that receive the same changes, in any order and any number of times, end equal.

#include <algorithm>
#include <deque>
#include <random>

#include "armillary/scene/draft.hpp"
#include "armillary/scene/past.hpp"
#include "check.hpp"

using namespace armillary;
using namespace armillary::scene;

namespace {

VersionPtr beginning() {
  auto version = std::make_shared<Version>();
  for (const NodeId& id : {kRootNode, kDetachedNode}) {
    auto record = NewRecord::make();
    record->id = id;
    record->kind = NodeKind::group;
    version->alive.set(id, std::move(record));
  }
  return version;
}

/// One replica of the scene, that makes changes of its own and receives those of others.
class Replica {
 public:
  explicit Replica(std::uint64_t author) : author_(author) {}

  [[nodiscard]] const Version& version() const { return *version_; }
  [[nodiscard]] const VersionPtr& share() const { return version_; }

  void note_seen(const Change& change) {
    if (held_.contains(change.id)) return;
    held_.add(change.id);
    clock_.observe(change.time);
    Draft draft(version_, keys_, log_);
    draft.take(change);
    version_ = draft.share();
  }

  /// Makes a change at random; none where it is not allowed.
  std::optional<Change> give(std::mt19937& random) {
    Draft draft(version_, keys_, log_);
    Change change;
    log::HybridClock clock = clock_;
    change.id = {author_, held_.newest(author_) + 1};
    change.time = clock.next(static_cast<std::int64_t>(random() % 50));
    change.authority = author_ % 2;
    change.at = Stamp{change.time.wall_ns};
    change.payload = thought(change.signature(), random);
    if (!std::visit([this](const auto& payload) { return is_allowed(payload); }, change.payload)) return std::nullopt;
    draft.take(change);
    version_ = draft.share();
    held_.add(change.id);
    clock_ = clock;
    return change;
  }

 private:
  log::Payload thought(const Signature& signature, std::mt19937& random) const {
    const NodeId id = NodeId::of_name("test", std::to_string(random() % 7));
    log::Edge edge{.parent = random() % 3 == 0 ? kRootNode : NodeId::of_name("test", std::to_string(random() % 7))};
    const NodeRecord* node = version_->find(id);
    if (const NodeRecord* parent = version_->find(edge.parent)) edge.parent_incarnation = parent->incarnation;
    if (node == nullptr) return log::AddNode{.node = id, .incarnation = signature, .edge = edge};
    const std::uint32_t kind = random() % 3;
    if (kind == 0) return log::AddEdge{.node = id, .incarnation = node->incarnation, .edge = edge};
    if (kind == 1) {
      log::RemoveEdges removal{.node = id, .incarnation = node->incarnation};
      for (const Edge& one : node->edges)
        if (!one.removed && random() % 2 == 0) removal.dots.push_back(one.signature.id);
      return removal;
    }
    const auto value = random() % 4 == 0 ? std::nullopt : std::optional<AttributeValue>(random() % 3 == 0);
    return log::SetAttributes{.node = id, .incarnation = node->incarnation, .settings = {{random() % 2 == 0 ? "a" : "b", value}}};
  }

  [[nodiscard]] bool is_allowed(const log::AddNode& payload) const { return version_->is_alive(payload.edge.parent); }
  [[nodiscard]] bool is_allowed(const log::AddEdge& payload) const {
    return version_->is_alive(payload.edge.parent) && !version_->leads_up(payload.edge.parent, payload.node);
  }
  [[nodiscard]] bool is_allowed(const auto&) const { return true; }

  std::uint64_t author_;
  VersionPtr version_ = beginning();
  log::VersionVector held_;
  log::HybridClock clock_;
  KeyPool keys_;
  log::ChangeLog log_;
};

/// Whether what is derived of a version is what its edges say.
bool is_consistent(const Version& version) {
  bool good = true;
  std::vector<NodeId> reached = subtree(version, kRootNode);
  good &= reached.size() + 1 == version.alive.size();  // the detached node is the other one
  version.alive.for_each([&](const NodeId& id, const RecordPtr& record) {
    for (const Edge& edge : record->edges) {
      const NodeRecord* parent = version.find(edge.parent);
      const bool lives = parent != nullptr && parent->incarnation == edge.parent_incarnation;
      if (!edge.removed) good &= edge.parent_is_alive == lives;
      if (edge.is_in_force()) good &= parent->children.contains(id);
    }
    record->for_each_attribute([&](const Attribute& given) {
      const KeyIndex* index = version.index.find(given.key);
      const NodeSet* nodes = index == nullptr ? nullptr : index->others.find(given.value);
      good &= nodes != nullptr && nodes->contains(id);
    });
  });
  return good;
}

/// Everything that a version answers about an instant.
std::string reported_about(const VersionPtr& version, Stamp at) {
  const Past past(version, at);
  std::vector<std::string> lines;
  for (const NodeId& id : past.subtree(kRootNode)) {
    std::string line = id.text() + ":";
    const NodeRecord& record = *past.find(id);
    for (const NodeId& parent : past.parents(record)) line += " in " + parent.short_text();
    past.for_each_attribute(record, [&](const Attribute& given) {
      line += " " + *given.key.text + (*given.value == AttributeValue(true) ? "1" : "0");
    });
    lines.push_back(line);
  }
  std::ranges::sort(lines);
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

bool agree_on_the_past(const std::deque<Replica>& copies) {
  for (std::int64_t at = 0; at <= 60; at += 4)
    for (const Replica& copy : copies)
      if (reported_about(copy.share(), {at}) != reported_about(copies[0].share(), {at})) return false;
  return true;
}

bool run(std::uint32_t seed, int replicas, int steps) {
  std::mt19937 random(seed);
  std::deque<Replica> copies;
  for (int i = 0; i < replicas; ++i) copies.emplace_back(static_cast<std::uint64_t>(i + 1));
  std::vector<Change> given;
  std::vector<std::vector<std::size_t>> lacks(copies.size());
  for (int step = 0; step < steps; ++step) {
    const std::size_t who = random() % copies.size();
    if (random() % 2 == 0) {
      if (std::optional<Change> change = copies[who].give(random)) {
        for (std::size_t i = 0; i < copies.size(); ++i)
          if (i != who) lacks[i].push_back(given.size());
        given.push_back(std::move(*change));
      }
    } else if (!lacks[who].empty()) {
      const std::size_t i = random() % lacks[who].size();
      copies[who].note_seen(given[lacks[who][i]]);
      if (random() % 4 != 0) lacks[who].erase(lacks[who].begin() + static_cast<std::ptrdiff_t>(i));  // else once more later
    }
    if (!is_consistent(copies[who].version())) return false;
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    std::shuffle(lacks[i].begin(), lacks[i].end(), random);
    for (const std::size_t k : lacks[i]) copies[i].note_seen(given[k]);
  }
  const Digest first = digest(copies[0].version(), kRootNode);
  return agree_on_the_past(copies) && std::ranges::all_of(copies, [&](const Replica& copy) {
           return digest(copy.version(), kRootNode) == first && is_consistent(copy.version()) &&
                  copy.version().cycles == copies[0].version().cycles;
         });
}

}  // namespace

TEST(copies_converge, "replicas of a scene converge whatever the order, with cycles, removals and re-used ids") {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    const bool converges = run(seed, 2 + static_cast<int>(seed % 4), 4 + static_cast<int>(seed % 60));
    if (!converges) std::fprintf(stderr, "seed %u\n", seed);
    CHECK(converges);
    if (!converges) return;
  }
}
