#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "armillary/math/fusion.hpp"
#include "armillary/math/fusion_vectors.hpp"
#include "convert.hpp"
#include "values.hpp"
#include "world.hpp"

namespace armillary::python {

using namespace nb::literals;

namespace {

nb::object matrices(const std::vector<Matrix6>& given) {
  std::vector<double> values;
  for (const Matrix6& matrix : given) values.insert(values.end(), matrix.begin(), matrix.end());
  return read_only_array(values.data(), {given.size(), 6, 6});
}

/// Rows of NaN where unknown.
nb::object covariances(const CandidateSet& set, const Candidate& path) {
  std::vector<Matrix6> values;
  for (const CandidateStep& step : path.steps) {
    const CandidateEdge& edge = set.edges[step.edge];
    values.push_back(edge.covariance.values);
    if (edge.certainty == Certainty::unknown) values.back().fill(std::numeric_limits<double>::quiet_NaN());
  }
  return matrices(values);
}

nb::object error_key(const CandidateEdge& edge) {
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(edge.provider), edge.at.ns);
}

/// relation, what names its error, its newest datum, whether it was contested, whether it was computed, its transform, whether
/// the path goes down along it, and on which side of a fixed frame it is.
nb::tuple steps(const nb::object& catalog, const CandidateSet& set, const Candidate& path) {
  nb::list rows;
  for (const auto& [number, is_downward] : path.steps) {
    const CandidateEdge& edge = set.edges[number];
    rows.append(nb::make_tuple(edge_in(catalog, edge.relation), error_key(edge), stamp_or_none(edge.sampled_at),
                               edge.is_contested, edge.is_derived, edge.value, is_downward, edge.segment));
  }
  return nb::tuple(rows);
}

void list_relations(StoreCore& world, const CandidateSet& set) {
  std::vector<RelationId> relations;
  for (const CandidateEdge& edge : set.edges) relations.push_back(edge.relation);
  (void)catalog_with(world, relations);
}

nb::list candidates(Self self, nb::handle of, nb::handle in_frame, nb::handle at, nb::handle of_at, nb::handle fixed_frame,
                    nb::handle outside, nb::handle interpolation, nb::handle hold_up_to_s, std::size_t max_paths) {
  StoreCore& world = core(self);
  Spelling spelling;
  const QueryContext context = as_context(world, outside, words().unique, interpolation, hold_up_to_s);
  const Question question = as_question(self, of, in_frame, at, of_at, fixed_frame, context, spelling);
  Result<CandidateSet> found = received(world, [&] { return world.forest->candidates(question, max_paths); });
  if (found.failure) raise_failure(world, found.failure, of, in_frame);
  const nb::handle of_name = spelling.of.is_valid() ? nb::handle(spelling.of) : of;
  const nb::handle in_name = spelling.in_frame.is_valid() ? nb::handle(spelling.in_frame) : in_frame;
  list_relations(world, found.value);
  nb::list paths;
  for (Candidate& path : found.value.paths) {
    const nb::object answer = path.failure ? error_of(world, path.failure, of_name, in_name, false)
                                           : new_pose([&] { return make_pose(world, std::move(path.answer), of_name, in_name); });
    paths.append(nb::make_tuple(answer, PathChoice{path.sources}, steps(world.catalog, found.value, path),
                                matrices(jacobians_of(found.value, path)), covariances(found.value, path)));
  }
  return paths;
}

// -- What a policy was given

PoseAnswer copied(const PoseAnswer& answer) {
  PoseAnswer copy;
  copy.transform = answer.transform;
  copy.stamp = answer.stamp;
  copy.certainty = answer.certainty;
  if (answer.held) copy.held = std::make_unique<HeldSamples>(*answer.held);
  copy.predicted = answer.predicted;
  copy.integrated = answer.integrated;
  copy.newest = answer.newest;
  copy.oldest = answer.oldest;
  copy.body = answer.body;
  copy.reference_body = answer.reference_body;
  if (answer.covariance) copy.covariance = std::make_unique<Covariance>(*answer.covariance);
  copy.relations.reserve(answer.relations.ids().size());
  for (const RelationId id : answer.relations.ids()) copy.relations.push_back(id);
  return copy;
}

/// The pose of one path, with the names of the whole answer.
nb::object pose_of_path(const Pose& whole, const Candidate& path) {
  return new_pose([&] {
    Pose pose;
    pose.answer = copied(path.answer);
    pose.of = whole.of;
    pose.in_frame = whole.in_frame;
    pose.body = whole.body;
    pose.reference_body = whole.reference_body;
    pose.catalog = whole.catalog;
    return pose;
  });
}

nb::tuple relations_of(const Pose& pose, const Candidate& path) {
  nb::list names;
  for (const CandidateStep& step : path.steps)
    names.append(edge_in(pose.catalog, pose.judgement->found.edges[step.edge].relation));
  return nb::tuple(names);
}

/// The chains that contradict each other, as relations, with what no error explains.
nb::list residuals(const Pose& pose) {
  nb::list rows;
  const Judgement& judgement = *pose.judgement;
  for (const auto& [chain, residual] : judgement.fusion.residuals) {
    nb::list names;
    for (const std::uint32_t edge : chain)
      names.append(edge_in(pose.catalog, judgement.found.edges[judgement.edges[edge]].relation));
    rows.append(nb::make_tuple(nb::tuple(names), read_only_array(residual.data(), {6})));
  }
  return rows;
}

const char* quality_text(FusionQuality quality) {
  switch (quality) {
    case FusionQuality::relaxed:
      return "relaxed";
    case FusionQuality::approximate:
      return "approximate";
    case FusionQuality::plain:
      break;
  }
  return "plain";
}

/// None where nobody contested anything.
nb::object judgement_record(const Pose& pose) {
  if (!pose.judgement) return nb::none();
  Judgement& judgement = *pose.judgement;
  if (!judgement.has_answers) complete_answers(judgement);
  nb::list answered, lost;
  for (const std::uint32_t i : judgement.answered) {
    const Candidate& path = judgement.found.paths[i];
    answered.append(nb::make_tuple(pose_of_path(pose, path), steps(pose.catalog, judgement.found, path),
                                   matrices(jacobians_of(judgement.found, path)), covariances(judgement.found, path)));
  }
  for (std::size_t k = 0; k < judgement.lost.size(); ++k)
    lost.append(nb::make_tuple(relations_of(pose, judgement.found.paths[judgement.lost[k]]), pose.lost[k]));
  const auto places = [&](const std::vector<std::uint32_t>& paths) {
    nb::list found;
    for (const std::uint32_t path : paths) found.append(std::ranges::find(judgement.answered, path) - judgement.answered.begin());
    return found;
  };
  const Fusion& fusion = judgement.fusion;
  return nb::make_tuple(answered, lost, places(judgement.used), places(judgement.left_out), judgement.is_fused,
                        quality_text(fusion.quality), fusion.contradiction, residuals(pose), fusion.is_beyond_first_order);
}

/// How the answer moves with each error: (relation, error) to (6, 6). Empty where it is not fused.
nb::dict fused_effects(const Pose& pose) {
  nb::dict effects;
  if (!pose.judgement || !pose.judgement->is_fused) return effects;
  Judgement& judgement = *pose.judgement;
  complete_paths(judgement);
  const Fusion fusion = fuse(judgement.graph, judgement.first, judgement.last, {.want_effects = true});
  for (std::size_t i = 0; i < judgement.graph.size(); ++i) {
    const CandidateEdge& edge = judgement.found.edges[judgement.edges[i]];
    effects[nb::make_tuple(edge_in(pose.catalog, edge.relation), error_key(edge))] =
        read_only_array(fusion.effects[i].data(), {6, 6});
  }
  return effects;
}

// -- A graph of edges, fused by itself

/// from, to, transform, covariance, what names its error, cluster and group (below zero: independent).
FusionEdge edge_from(const nb::tuple& row) {
  FusionEdge edge;
  edge.from = nb::cast<std::uint32_t>(row[0]);
  edge.to = nb::cast<std::uint32_t>(row[1]);
  edge.value = as_transform(row[2]);
  edge.covariance = as_covariance(row[3], "covariance");
  if (const auto cluster = nb::cast<std::int64_t>(row[5]); cluster >= 0) edge.cluster = static_cast<std::uint32_t>(cluster);
  edge.group = nb::cast<std::uint32_t>(row[6]);
  return edge;
}

nb::tuple fuse_edges(const nb::list& rows, std::uint32_t first, std::uint32_t last) {
  std::vector<FusionEdge> edges;
  std::vector<std::int64_t> errors;
  for (const nb::handle row : rows) {
    edges.push_back(edge_from(nb::cast<nb::tuple>(row)));
    errors.push_back(nb::cast<std::int64_t>(nb::cast<nb::tuple>(row)[4]));
  }
  share_errors(edges, errors);
  const Fusion fusion = fuse(edges, first, last, {.want_effects = true});
  if (fusion.is_too_large)
    raise_object(error_class("LimitReached")("junctions of paths that are fused at once", kMostFusionJunctions,
                                             "Choose rivals with world.prefer(of=, source=)."));
  nb::list left;
  for (const auto& [chain, residual] : fusion.residuals)
    left.append(nb::make_tuple(nb::cast(chain), read_only_array(residual.data(), {6})));
  return nb::make_tuple(fusion.value, read_only_array(fusion.covariance.values.data(), {6, 6}), quality_text(fusion.quality),
                        fusion.contradiction, left, matrices(fusion.effects), fusion.is_beyond_first_order);
}

using Rows = nb::ndarray<const double, nb::c_contig>;

nb::tuple fuse_twists(const Rows& values, const Rows& covariances, bool are_correlated) {
  std::vector<VectorEstimate> given(values.shape(0));
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::copy_n(values.data() + 6 * i, 6, given[i].value.begin());
    std::copy_n(covariances.data() + 36 * i, 36, given[i].covariance.values.begin());
  }
  const VectorEstimate best = fuse_vectors(given, are_correlated);
  return nb::make_tuple(read_only_array(best.value.data(), {6}), read_only_array(best.covariance.values.data(), {6, 6}));
}

}  // namespace

nb::handle policy_pose_type(Self self) {
  AnswerTypes& types = answer_types();
  if (!types.policy_pose.is_valid()) {
    if (nb::object(self.attr("policy_answers")).is_none()) return types.pose;
    types.policy_pose = by_policy(self, "pose_type");
  }
  return types.policy_pose;
}

Pose make_policy_pose(const StoreCore& world, PolicyAnswer answer, nb::handle of, nb::handle in_frame) {
  Pose pose = make_pose(world, std::move(answer.pose), of, in_frame);
  if (!answer.judgement) return pose;
  const bool are_listed = answer.judgement->contest != nullptr;  // the answer rests on all of them
  if (!are_listed) list_relations(const_cast<StoreCore&>(world), answer.judgement->found);
  pose.judgement = std::move(answer.judgement);
  if (pose.judgement->lost.empty()) return pose;
  nb::list errors;
  for (const std::uint32_t i : pose.judgement->lost)
    errors.append(error_of(world, pose.judgement->found.paths[i].failure, of, in_frame, false));
  pose.lost = errors;
  return pose;
}

void bind_judgement(nb::class_<Pose>& pose) {
  pose.def("judgement_record", &judgement_record, nb::sig("def judgement_record(self) -> tuple[Any, ...] | None"),
           "The paths that a policy was given, as rows; None where nobody contested anything.")
      .def("fused_effects", &fused_effects, nb::sig("def fused_effects(self) -> dict[Any, NDArray[float64]]"),
           "How a fused pose moves with the error of each relation.")
      .def(
          "data_stamps",
          [](const Pose& p) { return nb::make_tuple(stamp_or_none(p.answer.newest), stamp_or_none(p.answer.oldest)); },
          nb::sig("def data_stamps(self) -> tuple[int | None, int | None]"),
          "The newest and the oldest of the data that a policy's answer rests on, each not after its instant [ns].");
}

void bind_world_candidates(nb::module_& m, nb::class_<StoreCore>& world) {
  nb::class_<PathChoice>(m, "PathChoice", "One of several paths: a policy that the C++ core takes.")
      .def(
          "joined", [](const PathChoice& a, const PathChoice& b) { return PathChoice{a.sources.joined(b.sources)}; }, "other"_a,
          "Both; where both decide, this one.");
  m.def("fuse_edges", &fuse_edges, "edges"_a, "first"_a, "last"_a,
        nb::sig("def fuse_edges(edges: list[tuple[int, int, Transform, NDArray[float64], int, int, int]], first: int, last: int) "
                "-> tuple[Transform, NDArray[float64], str, float, list[tuple[list[int], NDArray[float64]]], NDArray[float64], "
                "bool]"),
        "The best estimate of `first_T_last` from a graph of uncertain edges, by generalised least squares.");
  m.def("fuse_twists", &fuse_twists, "values"_a, "covariances"_a, "are_correlated"_a,
        nb::sig("def fuse_twists(values: NDArray[float64], covariances: NDArray[float64], are_correlated: bool) -> "
                "tuple[NDArray[float64], NDArray[float64]]"),
        "The best estimate of (6,) from (N, 6) with (N, 6, 6), by generalised least squares.");
  world.def("candidates", &candidates, nb::kw_only(), "of"_a, "in_frame"_a, "at"_a, "of_at"_a.none(), "fixed_frame"_a.none(),
            "outside"_a.none(), "interpolation"_a.none(), "hold_up_to_s"_a.none(), "max_paths"_a,
            nb::sig("def candidates(self, *, of: str | NodeId, in_frame: str | NodeId, at: int | Latest, of_at: int | Latest | "
                    "None, fixed_frame: "
                    "str | NodeId | None, outside: str, interpolation: str | None, hold_up_to_s: float | None, max_paths: int) "
                    "-> list[tuple[PoseAnswer | "
                    "ArmillaryError, PathChoice, tuple[tuple[tuple[str, str, str], tuple[int, int], int | None, bool, bool, "
                    "Transform, bool, int], ...], NDArray[float64], NDArray[float64]]]"));
}

}  // namespace armillary::python
