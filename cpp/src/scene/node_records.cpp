#include "armillary/scene/node_records.hpp"

#include <algorithm>
#include <map>

namespace armillary::scene {

namespace {

/// The changes of one incarnation of a node.
class IncarnationRecords {
 public:
  IncarnationRecords(const NodeRecord& record, std::vector<Change>& out) : record_(record), out_(out) {}

  void collect() {
    for (const Attribute& attribute : record_.attributes) {
      Settings& settings = settings_[attribute.signature];
      settings.at = attribute.at;
      settings.all.push_back(
          {*attribute.key.text, attribute.value ? std::optional<AttributeValue>(*attribute.value) : std::nullopt});
    }
    for (const Edge& edge : record_.edges) {
      if (edge.parent != NodeId{}) add_edge(edge);
      if (edge.removal != nullptr) note_removal(edge);
    }
    for (auto& [signature, settings] : settings_)
      add(signature, settings.at, log::SetAttributes{record_.id, record_.incarnation, std::move(settings.all)});
    for (auto& [removal, removed] : removals_) {
      add(removal.by, removal.at, log::RemoveEdges{record_.id, record_.incarnation, std::move(removed.dots), removed.parent});
      out_.back().epoch = removal.epoch;
    }
  }

 private:
  struct Settings {
    Stamp at{};
    std::vector<Setting> all{};
  };
  struct Removed {
    std::vector<Dot> dots{};
    std::optional<NodeId> parent{};  // where one alone was meant
  };

  void add(const Signature& signature, Stamp at, log::Payload payload) {
    out_.push_back(
        {.id = signature.id, .time = signature.time, .authority = signature.authority, .at = at, .payload = std::move(payload)});
  }

  void add_edge(const Edge& edge) {
    const log::Edge given{.parent = edge.parent, .parent_incarnation = edge.parent_incarnation};
    if (!edge.begins || !record_.has_known_beginning())
      return add(edge.signature, edge.from, log::AddEdge{.node = record_.id, .incarnation = record_.incarnation, .edge = given});
    log::AddNode payload{.node = record_.id,
                         .incarnation = record_.incarnation,
                         .kind = record_.kind,
                         .content = record_.content,
                         .placement = record_.placement,
                         .frame_name = record_.frame_name ? *record_.frame_name : std::string(),
                         .edge = given};
    if (const auto own = settings_.find(edge.signature); own != settings_.end()) {
      payload.settings = std::move(own->second.all);
      settings_.erase(own);
    }
    add(edge.signature, edge.from, std::move(payload));
  }

  void note_removal(const Edge& edge) {
    const Signature& by = edge.removal->by;
    Removed& removed = removals_[*edge.removal];
    removed.dots.push_back(edge.signature.id);
    const auto was_left = [&](const Edge& one) {
      return one.signature < by && (!one.removed || (one.removal != nullptr && one.removal->by > by));
    };
    const bool is_one_of_several = removed.dots.size() == 1 && std::ranges::any_of(record_.edges, was_left);
    removed.parent = is_one_of_several && edge.parent != NodeId{} ? std::optional(edge.parent) : std::nullopt;
  }

  const NodeRecord& record_;
  std::vector<Change>& out_;
  std::map<Signature, Settings> settings_;
  std::map<EdgeRemoval, Removed> removals_;
};

}  // namespace

std::vector<Change> node_records(const Version& version) {
  std::vector<Change> records;
  const auto add = [&](const NodeId&, const RecordPtr& newest) {
    for (const NodeRecord* record = newest.get(); record != nullptr; record = record->previous.get())
      IncarnationRecords(*record, records).collect();
  };
  version.alive.for_each(add);
  version.gone.for_each(add);
  return records;
}

}  // namespace armillary::scene
