// The change log and what it resolves to. The strata are compared with the reference in tests/laws/test_resolver_laws.py;
// here is what only C++ sees: what a log keeps, evidence, and that cost stays flat.

#include "armillary/log/resolve.hpp"
#include "check.hpp"

using namespace armillary;
using namespace armillary::log;

namespace {

/// Signs changes one after the other.
class Signer {
 public:
  ChangePtr operator()(Payload payload, Stamp at = Stamp{0}) {
    Change change{.id = {7, ++sequence_}, .time = clock_.next(100), .at = at, .payload = std::move(payload)};
    if (auto* node = std::get_if<AddNode>(&change.payload)) node->incarnation = {change.time, change.authority, change.id};
    return std::make_shared<const Change>(std::move(change));
  }

 private:
  HybridClock clock_{};
  std::uint64_t sequence_ = 0;
};

Assert fixed(const std::string& of, const std::string& in_frame, Stamp since = Stamp::always()) {
  return {.track = {TrackKind::pose, of, "robot"}, .since = since, .value = Fixed{in_frame, {}}};
}

}  // namespace

TEST(log_drops_superseded, "a log keeps one record however often a pose is set again") {
  Signer sign;
  ChangeLog log;
  for (int i = 0; i < 10'000; ++i) log.append(sign(fixed("camera", "base", Stamp{5})));
  CHECK(log.size() == 1);
  CHECK(log.held().contains(Dot{7, 10'000}));
  CHECK(!log.append(log.records().front()));
}

TEST(log_keeps_removals, "a removal drops what it voids and stays") {
  Signer sign;
  ChangeLog log;
  const ChangePtr late = sign(fixed("camera", "base"));
  log.append(sign(fixed("camera", "base", Stamp{5})));
  log.append(sign(SetFrames{{"camera"}, true}));
  log.append(sign(RemoveFrames{{"camera"}}));
  CHECK(log.size() == 1);
  log.append(late);  // it was signed before the removal
  CHECK(log.size() == 1);
  CHECK(resolve_full(log, {}, "map").frames == std::set<std::string>{"map"});
}

TEST(attributes_do_not_grow, "an attribute that is set again and again at the same instant is one step") {
  Signer sign;
  ChangeLog log;
  const ChangePtr cup = sign(AddNode{.node = NodeId::of_name("test", "cup"), .edge = {.parent = kRootNode}});
  const AddNode& node = std::get<AddNode>(cup->payload);
  log.append(cup);
  for (std::int64_t i = 0; i < 1000; ++i)
    log.append(sign(SetAttributes{node.node, node.incarnation, {{"mass", AttributeValue(i)}}}));
  CHECK(log.size() == 2);
  CHECK(attributes_at(log, node.node, node.incarnation, Stamp{0}).at("mass") == AttributeValue(999));
}

TEST(cycle_has_evidence, "what closes a cycle is reported with the way and the time") {
  Signer sign;
  ChangeLog log;
  log.append(sign(fixed("a", "b")));
  log.append(sign(fixed("b", "c")));
  const ChangePtr closing = sign(fixed("c", "a", Stamp{5}));
  log.append(closing);
  const ResolvedTopology resolved = resolve_full(log, {}, "map");
  CHECK(resolved.inactive.size() == 1);
  const Inactive& row = resolved.inactive.front();
  CHECK(row.id == closing->id);
  CHECK(row.reason == Reason::cycle);
  CHECK(row.when == Intervals(Interval{Stamp{5}, Stamp::never()}));
  CHECK((row.path == std::vector<std::string>{"a", "b", "c"}));
}

TEST(body_has_evidence, "what breaks a body is reported with the body") {
  Signer sign;
  ChangeLog log;
  log.append(sign(SetBody{"gun", {"barrel", "grip"}, true}));
  log.append(sign(Assert{.track = {TrackKind::pose, "barrel", "eye"}, .since = Stamp{1}, .value = Sampled{"grip"}}));
  const ResolvedTopology resolved = resolve_full(log, {}, "map");
  CHECK(resolved.inactive.size() == 1);
  CHECK(resolved.inactive.front().reason == Reason::constant_in_body);
  CHECK(resolved.inactive.front().body == "gun");
}
