// What a store lacks of samples that others give, and who sees to it.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>

#include "armillary/graph/demands.hpp"
#include "gil.hpp"
#include "joint_channels.hpp"
#include "modules.hpp"
#include "raise.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

bool is_served(const StoreCore& world, std::uint64_t demand, double& left_s) {
  const auto begin = std::chrono::steady_clock::now();
  const bool served = without_gil([&] { return world.forest->demands().wait_served(demand, left_s); });
  left_s -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return served && left_s > 0.0;
}

namespace {

/// The demands of a store, which stay while somebody sees to them.
struct StoreDemands {
  std::shared_ptr<Forest> forest;
  [[nodiscard]] Demands& all() const { return forest->demands(); }
};

const char* word_for(SampleKind kind) {
  return kind == SampleKind::pose ? "pose" : kind == SampleKind::twist ? "twist" : "joints";
}

SampleKind demanded_kind(const std::string& name) {
  if (name == "pose") return SampleKind::pose;
  if (name == "joints") return SampleKind::joints;
  raise("InvalidArgument", "kind must be 'pose' or 'joints', got '" + name + "'.");
}

nb::tuple drain_demands(const StoreDemands& demands) {
  const auto [noted, number] = demands.all().drain();
  nb::list found;
  for (const Demand& one : noted) found.append(nb::make_tuple(word_for(one.kind), one.id, one.is_waited_for));
  return nb::make_tuple(found, number);
}

std::optional<Stamp> stamp_if_any(std::optional<std::int64_t> at) { return at ? std::optional(Stamp{*at}) : std::nullopt; }

/// The number of the joints that a source gives together; None where one of them is not known.
std::optional<ChannelId> joints_number(Self self, const std::vector<std::string>& joints, const std::string& source,
                                       bool has_velocities, bool has_covariance, bool has_velocity_covariance,
                                       bool is_integrated) {
  for (const std::string& name : joints)
    if (core(self).forest->find_variable(name) == nullptr) return std::nullopt;
  std::vector<nb::object> names;
  for (const std::string& name : joints) names.push_back(nb::cast(name));
  const RowForm form{has_velocities, has_covariance, has_velocity_covariance, is_integrated};
  return joint_channel(self, {names.begin(), names.end()}, 0, nb::cast(source), form)->id;
}

}  // namespace

void bind_demands(nb::module_& m, nb::class_<StoreCore>& store) {
  nb::class_<StoreDemands>(m, "Demands", "What questions lack because it is not received: for who can have it sent.")
      .def(
          "wait",
          [](const StoreDemands& demands, double timeout_s) {
            return without_gil([&] { return demands.all().wait(timeout_s); });
          },
          "timeout_s"_a, "Block until something is demanded, or it is closed, or the time is over; whether something is.")
      .def("drain", &drain_demands, nb::sig("def drain(self) -> tuple[list[tuple[str, int, bool]], int]"),
           "Take out what is demanded: kind, number, whether somebody waits for it; and the number of the last demand.")
      .def(
          "serve", [](const StoreDemands& demands, std::uint64_t number) { demands.all().serve(number); }, "number"_a,
          "All demands up to a number were seen to, whether or not that helped: who asked asks again.")
      .def(
          "nudge", [](const StoreDemands& demands) { demands.all().nudge(); }, "End a wait: there is something else to do.")
      .def(
          "refuse",
          [](const StoreDemands& demands, const std::string& kind, std::uint32_t number) {
            demands.all().refuse({demanded_kind(kind), number, false});
          },
          "kind"_a, "number"_a, "Nobody can see to it, until `allow_all`: who asks gets an error at once.")
      .def(
          "allow_all",
          [](const StoreDemands& demands) {
            demands.all().allow_all();
            demands.forest->wake_waits();
          },
          "What was refused may be possible now: waits are asked again.")
      .def(
          "close", [](const StoreDemands& demands) { demands.all().set_open(false, 0.0); },
          "Nobody sees to demands any more: who asks gets an error at once.");
  store
      .def(
          "open_demands",
          [](Self self, double timeout_s) {
            core(self).forest->demands().set_open(true, timeout_s);
            return StoreDemands{core(self).forest};
          },
          "timeout_s"_a, nb::sig("def open_demands(self, timeout_s: float) -> Demands"),
          "See to what questions lack from now on; a question waits at most so long [s].")
      .def("joints_number", &joints_number, nb::kw_only(), "joints"_a, "source"_a, "has_velocities"_a, "has_covariance"_a,
           "has_velocity_covariance"_a, "is_integrated"_a,
           "The number of joints that a source gives together, as\n"
           "`SampleBatch.number`; None where one of them is not known.")
      .def(
          "end_coverage",
          [](Self self, const std::string& kind, std::uint32_t number) {
            return core(self).forest->end_coverage(demanded_kind(kind), number);
          },
          "kind"_a, "number"_a,
          "Samples after those that are here are not received: nothing after them is answered until it is resumed.\n"
          "False where there is no such relation.")
      .def(
          "resume_coverage",
          [](Self self, const std::string& kind, std::uint32_t number, std::optional<std::int64_t> start) {
            return core(self).forest->resume_coverage(demanded_kind(kind), number, stamp_if_any(start));
          },
          "kind"_a, "number"_a, "start"_a.none() = nb::none(),
          "Samples are received again: all of them, or those from `start` on; before it there is a gap then.")
      .def(
          "receive",
          [](Self self, const std::string& kind, std::uint32_t number) {
            const StoreCore& world = core(self);
            Demands& demands = world.forest->demands();
            const Demand wanted{demanded_kind(kind), number, false};
            double left_s = demands.timeout_s();
            while (world.forest->has_ended(wanted.kind, number)) {
              const std::uint64_t demand = demands.add(wanted);
              if (demand == 0 || !is_served(world, demand, left_s)) return !world.forest->has_ended(wanted.kind, number);
            }
            return true;
          },
          "kind"_a, "number"_a, "Demand samples, and wait until they are received; whether they are.")
      .def(
          "received_relation",
          [](nb::object self, RelationId relation) {
            (void)self.attr("receive")("pose", relation);
            return relation;
          },
          "relation"_a, "The same of a pose relation, which is returned.")
      .def(
          "received_joint",
          [](nb::object self, const std::string& name) {
            (void)self.attr("receive_joint")(name);
            return name;
          },
          "name"_a, "The same of a joint, whose name is returned.")
      .def(
          "receive_joint",
          [](Self self, const std::string& name) {
            const StoreCore& world = core(self);
            const VariablePtr joint = world.forest->find_variable(name);
            double left_s = world.forest->demands().timeout_s();
            while (joint != nullptr && joint->has_ended_before(Stamp::never())) {
              std::uint64_t demand = 0;
              joint->add_demands(Stamp::never(), world.defaults, demand);
              if (demand == 0 || !is_served(world, demand, left_s)) return !joint->has_ended_before(Stamp::never());
            }
            return true;
          },
          "name"_a, "The same of a joint.")
      .def(
          "has_ended",
          [](Self self, const std::string& kind, std::uint32_t number) {
            return core(self).forest->has_ended(demanded_kind(kind), number);
          },
          "kind"_a, "number"_a, "Whether samples after those that are here are not received.")
      .def(
          "add_gap",
          [](Self self, const std::string& kind, std::uint32_t number, std::int64_t start, std::int64_t end) {
            return core(self).forest->add_gap(demanded_kind(kind), number, {{start}, {end}});
          },
          "kind"_a, "number"_a, "start"_a, "end"_a, "Samples were lost between two instants: nothing is interpolated there.")
      .def(
          "close_gaps",
          [](Self self, const std::string& kind, std::uint32_t number, std::int64_t start, std::int64_t end) {
            return core(self).forest->close_gaps(demanded_kind(kind), number, {{start}, {end}});
          },
          "kind"_a, "number"_a, "start"_a, "end"_a, "All samples between two instants are here: there are no gaps within.")
      .def(
          "newest_sample",
          [](Self self, const std::string& kind, std::uint32_t number) -> std::optional<std::int64_t> {
            const Stamp newest = core(self).forest->newest_stored(demanded_kind(kind), number);
            return newest == Stamp::always() ? std::nullopt : std::optional(newest.ns);
          },
          "kind"_a, "number"_a, "The stamp of the newest sample [ns]; None where there is none.");
}

}  // namespace armillary::python
