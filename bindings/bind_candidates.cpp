#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>

#include "convert.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

using Edges = std::vector<CandidateEdge>;

nb::object jacobians(const Edges& edges) {
  std::vector<double> values;
  for (const CandidateEdge& edge : edges) values.insert(values.end(), edge.jacobian.begin(), edge.jacobian.end());
  return read_only_array(values.data(), {edges.size(), 6, 6});
}

/// Rows of NaN where unknown.
nb::object covariances(const Edges& edges) {
  std::vector<double> values;
  for (const CandidateEdge& edge : edges) {
    Covariance covariance = edge.covariance;
    if (edge.certainty == Certainty::unknown) covariance.values.fill(std::numeric_limits<double>::quiet_NaN());
    values.insert(values.end(), covariance.values.begin(), covariance.values.end());
  }
  return read_only_array(values.data(), {edges.size(), 6, 6});
}

/// relation, what names its error, its newest datum, whether it was contested, whether it was computed.
nb::tuple steps(StoreCore& world, const Edges& edges) {
  nb::list rows;
  for (const CandidateEdge& edge : edges) {
    const nb::tuple error = nb::make_tuple(reinterpret_cast<std::uintptr_t>(edge.provider), edge.at.ns);
    const nb::object names = edge_in(catalog_with(world, std::span(&edge.relation, 1)), edge.relation);
    rows.append(nb::make_tuple(names, error, stamp_or_none(edge.sampled_at), edge.is_contested, edge.is_derived));
  }
  return nb::tuple(rows);
}

nb::object pose_or_error(const StoreCore& world, Candidate& candidate, nb::handle of, nb::handle in_frame) {
  if (candidate.failure) return error_of(world, candidate.failure, of, in_frame, false);
  return new_pose([&] { return make_pose(world, std::move(candidate.answer), of, in_frame); });
}

nb::list candidates(Self self, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at, nb::handle fixed_frame,
                    nb::handle outside, nb::handle interpolation, nb::handle hold_up_to_s, std::size_t max_paths) {
  StoreCore& world = core(self);
  Spelling spelling;
  const QueryContext context = as_context(world, outside, words().unique, interpolation, hold_up_to_s);
  const Question question = as_question(self, of, in_frame, at, of_at, fixed_frame, context, spelling);
  Result<std::vector<Candidate>> found = world.forest->candidates(question, max_paths);
  if (found.failure) raise_failure(world, found.failure, of, in_frame);
  const nb::handle of_name = spelling.of.is_valid() ? nb::handle(spelling.of) : of;
  const nb::handle in_name = spelling.in_frame.is_valid() ? nb::handle(spelling.in_frame) : in_frame;
  nb::list paths;
  for (Candidate& path : found.value)
    paths.append(nb::make_tuple(pose_or_error(world, path, of_name, in_name), PathChoice{path.sources}, steps(world, path.edges),
                                jacobians(path.edges), covariances(path.edges)));
  return paths;
}

}  // namespace

void bind_world_candidates(nb::module_& m, nb::class_<StoreCore>& world) {
  nb::class_<PathChoice>(m, "PathChoice", "Whom to believe on one of several paths: a policy of the native half.")
      .def(
          "joined", [](const PathChoice& a, const PathChoice& b) { return PathChoice{a.sources.joined(b.sources)}; }, "other"_a,
          "Both; where both decide, this one.");
  world.def("candidates", &candidates, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a, "of_at"_a.none(), "fixed_frame"_a.none(),
            "outside"_a.none(), "interpolation"_a.none(), "hold_up_to_s"_a.none(), "max_paths"_a,
            nb::sig("def candidates(self, *, of: str | NodeId, in_frame: str | NodeId, at: int | Latest, of_at: int | Latest | "
                    "None, fixed_frame: "
                    "str | NodeId | None, outside: str, interpolation: str | None, hold_up_to_s: float | None, max_paths: int) "
                    "-> list[tuple[PoseAnswer | "
                    "ArmillaryError, PathChoice, tuple[tuple[tuple[str, str, str], tuple[int, int], int | None, bool, bool], "
                    "...], NDArray[float64], NDArray[float64]]]"));
}

}  // namespace armillary::python
