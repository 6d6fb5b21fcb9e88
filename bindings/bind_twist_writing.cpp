// Measured twists on their way in.

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>

#include "convert.hpp"
#include "frame_changes.hpp"
#include "raise.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

/// A twist as it was given: copied, checked, its names as they will be stored.
struct MeasuredTwist {
  nb::object of, relative_to, expressed_in, source;
  Velocity velocity;
  Stamp at;
  std::optional<Covariance> covariance;

  [[nodiscard]] TwistName name() const { return {text_of(of), text_of(relative_to), text_of(source)}; }
  [[nodiscard]] TwistSample sample() const {
    return {
        .at = at, .expressed_in = text_of(expressed_in), .velocity = velocity, .covariance = covariance ? &*covariance : nullptr};
  }
};

/// Whether a refused twist may be stored later, when poses have come.
bool may_still_come(Self self, const Failure& failure) { return failure && !core(self).forest->is_hopeless(failure); }

Failure write_new_twist(Self self, const MeasuredTwist& measured, const std::function<Failure()>& write) {
  const scene::RelationName relation{std::string(text_of(measured.of)), std::string(text_of(measured.relative_to)),
                                     std::string(text_of(measured.source))};
  if (with_changes(self, [&](scene::Store& store) { return store.knows_twist(relation); })) return write();
  scene::ChangeRequest request = request_for(log::Assert{.track = {log::TrackKind::twist, relation.of, relation.source},
                                                         .since = measured.at,
                                                         .value = log::Sampled{relation.in_frame}});
  request.first_samples.emplace_back(PlaceTwist{.of = relation.of,
                                                .relative_to = relation.in_frame,
                                                .source = relation.source,
                                                .at = measured.at,
                                                .expressed_in = std::string(text_of(measured.expressed_in)),
                                                .velocity = measured.velocity,
                                                .covariance = measured.covariance});
  return change_frames(self, std::move(request));
}

Failure write_twist(Self self, const MeasuredTwist& measured, bool is_new) {
  StoreCore& world = core(self);
  const auto write = [&] { return world.forest->set_twist(measured.name(), measured.sample()); };
  Failure failure = is_new ? write_new_twist(self, measured, write) : write();
  if (failure) return failure;
  for (const nb::object& name : {measured.of, measured.relative_to})
    if (known_id(world, name) == nullptr) remember(world, name);
  sync_catalog(world);
  return {};
}

/// A twist as Python keeps it: checked copies.
nb::object store_twist(Self self, const MeasuredTwist& measured, bool pending) {
  const auto numbers = [](const Vector3& v) { return nb::make_tuple(v.x, v.y, v.z); };
  return core(self).upcalls.store_twist(
      self, "of"_a = measured.of, "relative_to"_a = measured.relative_to, "expressed_in"_a = measured.expressed_in,
      "source"_a = measured.source, "at"_a = measured.at.ns, "linear"_a = numbers(measured.velocity.linear),
      "angular"_a = numbers(measured.velocity.angular),
      "covariance"_a = measured.covariance ? read_only_array(measured.covariance->values.data(), {6, 6}) : nb::none(),
      "pending"_a = pending);
}

/// The numbers of a twist and the axes they are along; coordinates that know either are read in Python.
struct GivenTwist {
  nb::object expressed_in, linear, angular, covariance;
};

GivenTwist read_coordinates(Self self, nb::handle of, nb::handle relative_to, const GivenTwist& given, nb::handle twist,
                            nb::handle at) {
  if (!given.linear.is_none() || !given.angular.is_none())
    raise("InvalidArgument", "set_twist takes either linear= and angular=, or twist=.", twist);
  const nb::object read = core(self).upcalls.read_twist(self, twist, "of"_a = of, "relative_to"_a = relative_to, "at"_a = at,
                                                        "expressed_in"_a = given.expressed_in, "covariance"_a = given.covariance);
  return {read[0], read[1], read[2], read[3]};
}

GivenTwist given_twist(Self self, nb::handle of, nb::handle relative_to, const GivenTwist& given, nb::handle twist,
                       nb::handle at) {
  if (!twist.is_none()) return read_coordinates(self, of, relative_to, given, twist, at);
  if (given.linear.is_none() || given.angular.is_none() || given.expressed_in.is_none())
    raise("InvalidArgument",
          "set_twist takes linear= and angular= along the axes of expressed_in=, or twist=: a Twist, BodyTwist, HybridTwist, "
          "SpatialTwist. An angular or a linear velocity alone goes to set_angular_velocity or set_linear_velocity.");
  return given;
}

void set_twist(Self self, nb::handle of, nb::handle relative_to, nb::object expressed_in, nb::object linear, nb::object angular,
               nb::handle at, nb::handle source, nb::object covariance, bool pending, nb::handle twist) {
  StoreCore& world = core(self);
  const Stamp stamp{as_stamp(at, "at")};
  const GivenTwist given = given_twist(self, of, relative_to, {expressed_in, linear, angular, covariance}, twist, at);
  MeasuredTwist measured{.velocity = {checked_vector(given.linear, "linear"), checked_vector(given.angular, "angular")},
                         .at = stamp};
  check_ahead(self, measured.at.ns);
  if (!given.covariance.is_none()) measured.covariance = as_covariance(given.covariance, "covariance");
  measured.source = source_of(self, source);
  check_own_frame(self, of);
  measured.of = admitted(self, of);
  measured.relative_to = admitted(self, relative_to);
  const nb::handle axes = given.expressed_in;
  measured.expressed_in = nb::cast(frame_key(world, nb::isinstance<NodeId>(axes) ? nb::borrow(axes) : stored_name(axes)));
  if (!pending && !world.has_pending && world.forest->find_twist(measured.name()) != kNone) {
    if (const Failure failure = write_twist(self, measured, false))
      raise_failure(world, failure, nb::cast(frame_label(world, measured.of)), nb::cast(frame_label(world, measured.relative_to)),
                    failure->about_twist);
    return;
  }
  (void)store_twist(self, measured, pending);
}

void set_twists(Self self, nb::handle of, nb::handle relative_to, nb::handle at, nb::handle twists, nb::handle expressed_in,
                nb::handle source, nb::handle covariances) {
  constexpr std::size_t kNumbers = 6;
  StoreCore& world = core(self);
  const Stamps stamps(at, "at");
  const std::size_t count = stamps.span().size();
  const Doubles values(twists, "twists", {static_cast<Py_ssize_t>(count), static_cast<Py_ssize_t>(kNumbers)});
  const std::vector<double> sides = checked_sides(covariances, count);
  if (count == 0) return;
  const auto newest = std::ranges::max_element(stamps.span());
  check_ahead(self, *newest, newest - stamps.span().begin());
  const nb::handle axes = expressed_in.is_none() ? of : expressed_in;
  MeasuredTwist first{
      .of = admitted(self, of),
      .relative_to = admitted(self, relative_to),
      .expressed_in = nb::cast(frame_key(world, nb::isinstance<NodeId>(axes) ? nb::borrow(axes) : stored_name(axes))),
      .source = source_of(self, source),
      .at = {stamps.span().front()}};
  std::vector<std::optional<Covariance>> spreads(count);
  std::vector<TwistSample> samples;
  for (std::size_t row = 0; row < count; ++row) {
    const double* v = values.data() + row * kNumbers;
    if (!sides.empty() && !std::isnan(sides[row * Covariance::kPacked]))
      spreads[row] = Covariance::unpack(std::span(sides).subspan(row * Covariance::kPacked).first<Covariance::kPacked>());
    samples.push_back({.at = {stamps.span()[row]},
                       .expressed_in = text_of(first.expressed_in),
                       .velocity = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}},
                       .covariance = spreads[row] ? &*spreads[row] : nullptr});
  }
  first.velocity = samples.front().velocity;
  first.covariance = spreads.front();
  const nb::object moving = nb::cast(frame_label(world, first.of)), still = nb::cast(frame_label(world, first.relative_to));
  if (const Failure failure = world.forest->check_twists(first.name(), samples))
    raise_batch_failure(self, failure, moving, still, true);
  if (world.has_pending || world.forest->find_twist(first.name()) == kNone) (void)store_twist(self, first, false);
  const Failure failure = without_gil([&] { return world.forest->set_twists(first.name(), samples); });
  if (failure) raise_batch_failure(self, failure, moving, still, true);
  resolve_pending(self);
  warn_of_dropped(self, stamps.span(), world.forest->retention_of(world.forest->find_twist(first.name())),
                  "the twist of " + shown(moving) + " relative to " + shown(still));
}

/// Whether it was written; False, where `may_wait`: poses that turn it are missing, and may still come.
bool write_given_twist(Self self, nb::object of, nb::object relative_to, nb::object expressed_in, nb::handle linear,
                       nb::handle angular, nb::handle at, nb::object source, nb::handle covariance, bool may_wait,
                       bool may_be_contested) {
  const StoreCore& world = core(self);
  MeasuredTwist measured{.of = nb::cast(frame_key(world, of)),
                         .relative_to = nb::cast(frame_key(world, relative_to)),
                         .expressed_in = nb::cast(frame_key(world, expressed_in)),
                         .source = source,
                         .velocity = {checked_vector(linear, "linear"), checked_vector(angular, "angular")},
                         .at = {as_stamp(at, "at")}};
  if (!covariance.is_none()) measured.covariance = as_covariance(covariance, "covariance");
  const Failure failure = write_twist(self, measured, core(self).forest->find_twist(measured.name()) == kNone);
  const bool is_contested = failure && failure->kind == FailureKind::ambiguous_path;
  const bool waits = (may_wait && may_still_come(self, failure)) || (may_be_contested && is_contested);
  if (failure && !waits) raise_failure(core(self), failure, of, relative_to, failure->about_twist);
  return !failure;
}

}  // namespace

void bind_world_twist_writing(nb::class_<StoreCore>& store, nb::class_<WorldFace>& face) {
  const auto define = [&](auto& world) {
    world.def(
        "set_twist", &set_twist, nb::kw_only(), "of"_a, "relative_to"_a, "expressed_in"_a = nb::none(), "linear"_a = nb::none(),
        "angular"_a = nb::none(), "at"_a, "source"_a = nb::none(), "covariance"_a = nb::none(), "pending"_a = false,
        "twist"_a = nb::none(),
        nb::sig("def set_twist(self, *, of: str | NodeId, relative_to: str | NodeId, at: int, expressed_in: str | NodeId | None "
                "= None, linear: ArrayLike "
                "| None = None, angular: ArrayLike | None = None, twist: TwistAnswer | TwistCoordinates | None = None, source: "
                "str | "
                "None = None, covariance: ArrayLike | None = None, pending: bool = False) -> None"),
        "Say how a frame moves at one instant.\n\n"
        "It is kept at the origin and along the axes of `of`: other axes are turned with the poses known for that\n"
        "instant, and what those poses become later does not change it.\n\n"
        "Args:\n"
        "    of: Frame whose origin the linear velocity is of, and whose body moves; made if it is new.\n"
        "    relative_to: The body it moves relative to, or any frame on it; made if it is new.\n"
        "    expressed_in: Frame along whose axes the numbers are; `of` for what the body itself measures.\n"
        "        Left out where `twist` says it.\n"
        "    linear: (3,) [m/s].\n"
        "    angular: (3,) [rad/s].\n"
        "    twist: In place of the two: a `Twist` with these names, or coordinates. `BodyTwist` is along the axes of `of`,\n"
        "        `HybridTwist` along those of `relative_to`; `SpatialTwist` is also at the origin of `relative_to`, and "
        "brought\n"
        "        to that of `of` with the pose known at that instant; free ones (`LinearAngular`) need `expressed_in`.\n"
        "    at: Instant [ns].\n"
        "    source: Who asserts it; the world's own name if not given.\n"
        "    covariance: (6, 6), linear then angular, along the same axes; unknown if not given.\n"
        "    pending: Keep it until the poses that turn it arrive, instead of refusing it: the call that brings them stores\n"
        "        it too. A later twist of the same instant replaces it.\n\n"
        "Raises:\n"
        "    StampOutOfRange, NotConnected, UnknownFrame: The axes cannot be turned at that instant.\n"
        "    ConstraintViolation: A body does not move relative to itself, or this source asserts that motion already: of\n"
        "        another frame, the other way round, or by a chain of twists. Another source may.\n"
        "    LimitReached: As many twists wait as `max_waits` allows.");
    world.def(
        "set_twists", &set_twists, nb::kw_only(), "of"_a, "relative_to"_a, "at"_a, "twists"_a, "expressed_in"_a = nb::none(),
        "source"_a = nb::none(), "covariances"_a = nb::none(),
        nb::sig("def set_twists(self, *, of: str | NodeId, relative_to: str | NodeId, at: ArrayLike, twists: ArrayLike, "
                "expressed_in: str | NodeId | None = None, source: str | None = None, covariances: ArrayLike | None = None) "
                "-> None"),
        "Say how a frame moves at many instants: all of it is stored, or none.\n\n"
        "Args:\n"
        "    of: As for `set_twist`.\n"
        "    relative_to: As for `set_twist`.\n"
        "    at: (N,) int64 [ns], in any order.\n"
        "    twists: (N, 6): the linear velocity [m/s], then the angular one [rad/s].\n"
        "    expressed_in: As for `set_twist`; the axes of `of` if not given.\n"
        "    source: As for `set_twist`.\n"
        "    covariances: (N, 6, 6), or variances (N, 6), NaN where unknown; unknown if not given.\n\n"
        "Raises:\n"
        "    What `set_twist` raises, with the number of the row.");
  };
  define(store);
  define(face);
  store.def(
      "write_twist", &write_given_twist, nb::kw_only(), "of"_a, "relative_to"_a, "expressed_in"_a, "linear"_a, "angular"_a,
      "at"_a, "source"_a, "covariance"_a.none(), "may_wait"_a, "may_be_contested"_a = false,
      nb::sig("def write_twist(self, *, of: str | NodeId, relative_to: str | NodeId, expressed_in: str | NodeId, linear: "
              "ArrayLike, angular: ArrayLike, "
              "at: int, source: str, covariance: ArrayLike | None, may_wait: bool, may_be_contested: bool = False) -> bool"),
      "Store a measured twist whose names are admitted; False where poses that turn it are missing and may still come.\n\n"
      "Args:\n"
      "    may_wait: Return False for missing poses, in place of raising.\n"
      "    may_be_contested: Return False also where several sources place a frame on the way.");
}

}  // namespace armillary::python
