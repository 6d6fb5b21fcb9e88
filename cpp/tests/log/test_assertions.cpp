// The change log: what it keeps, and the rule of bodies. What worlds make of a log is compared with the reference in
// tests/laws/test_resolver_laws.py.

#include "armillary/log/bodies.hpp"
#include "check.hpp"

using namespace armillary;
using namespace armillary::log;

namespace {

/// Signs changes one after the other.
class Signer {
 public:
  ChangePtr operator()(Payload payload, Stamp at = Stamp{0}) {
    Change change{.id = {7, ++sequence_}, .time = clock_.next(100), .at = at, .payload = std::move(payload)};
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
  CHECK(!is_named(log, "camera"));
}

TEST(log_notes_nodes, "of a node a log notes that its change is held, and what removed its frame") {
  Signer sign;
  ChangeLog log;
  CHECK(log.append(sign(AddNode{.node = stand_in_of("table"), .edge = {.parent = kRootNode}})));
  CHECK(log.size() == 0);
  CHECK(log.held().contains(Dot{7, 1}));
  const ChangePtr removal = sign(RemoveFrames{{"table"}});
  CHECK(!log.removal_of(stand_in_of("table")));
  log.append(removal);
  CHECK(log.removal_of(stand_in_of("table")) == removal->signature());
}

TEST(log_knows_named_epochs, "a time epoch begins with the first change that names it") {
  Signer sign;
  ChangeLog log;
  const ChangePtr reset = sign(ResetTime{});
  Change later = *sign(SetFrames{{"camera"}, true});
  later.epoch = reset->signature();
  log.append(std::make_shared<const Change>(later));
  CHECK(log.epoch() == Epoch(reset->signature()));
  log.append(reset);
  CHECK(log.epoch() == Epoch(reset->signature()));
}

TEST(body_has_evidence, "what breaks a body is reported with the body") {
  Signer sign;
  ChangeLog log;
  log.append(sign(SetBody{"gun", {"barrel", "grip"}, true}));
  log.append(sign(Assert{.track = {TrackKind::pose, "barrel", "eye"}, .since = Stamp{1}, .value = Sampled{"grip"}}));
  const ResolvedBodies resolved = resolve_bodies(log);
  CHECK(resolved.inactive.size() == 1);
  CHECK(resolved.inactive.front().reason == Reason::constant_in_body);
  CHECK(resolved.inactive.front().body == "gun");
}
