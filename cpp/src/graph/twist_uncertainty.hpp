#pragma once

// How uncertain a velocity is: first order in every error that it was computed from.

#include <bitset>

#include "graph/motion.hpp"

namespace armillary {

/// Gathers how each error moves the answer. The answer is a sum of chains of frames; an error that is in several places
/// of them is one error, not several. Working memory of one thread, reused from question to question.
class TwistUncertainty {
 public:
  void clear();

  /// All that the answer depends on; filled by whoever evaluates edges.
  ErrorList errors;

  // -- One chain, step by step: from the frame whose axes the answer is along to the one whose origin it is of.

  void begin_chain() { steps_.clear(); }
  /// An edge; `first_further`: from there on the list has further errors of its motion.
  void append(const Motion& motion, bool upwards, std::size_t first_further);

  /// An edge of which only the pose counts, its errors last in the list from `first_error`.
  void append_pose(const Transform& parent_T_child, bool upwards, std::size_t first_error);

  /// A motion that is known where the chain has come to, its errors last in the list from `first_error`; that of what
  /// is above relative to what is below, where `upwards`.
  void append_motion(const Velocity& body_form, bool upwards, std::size_t first_error);

  /// The sum of the chain's motions at its end, along the axes of its begin, is a part of the answer.
  void end_chain();

  [[nodiscard]] Covariance total() const;

 private:
  /// Walked from child to parent where `upwards`.
  struct Step {
    bool upwards;
    Transform parent_T_child;
    Velocity body_form;  // of child relative to parent
    std::size_t first_error, after_error;
  };
  /// Where a step's child is.
  struct Spot {
    Rotation begin_R_child;
    Vector3 lever;          // to the chain's end, along the child's axes
    Velocity below;         // of the chain's end relative to the error's place, at the chain's end, along the child's axes
    Vector3 angular_above;  // of the error's place relative to the chain's begin, along the child's axes
  };
  struct Name {
    RelationId relation;
    Stamp stamp;
    const void* row;
    std::size_t part;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct Part {
    std::size_t error;
    Upper6 effect;
  };

  void locate();
  void spread(const Step& step, const Spot& spot);
  void add_part(std::size_t error, const Upper6& effect);
  [[nodiscard]] std::size_t find(const Name& name);

  std::vector<Step> steps_;
  std::vector<Spot> spots_;
  std::bitset<1024> marks_;  // of names that may be there
  std::vector<Name> names_;  // of the errors that the parts are of, apart for the search
  std::vector<Part> parts_;
};

}  // namespace armillary
