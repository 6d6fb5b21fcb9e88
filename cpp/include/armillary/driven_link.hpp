#pragma once

#include <vector>

#include "armillary/joint_motion.hpp"
#include "armillary/variable_reading.hpp"

namespace armillary {

/// A pose that variables drive.
class DrivenLink : public DrivenProvider {
 public:
  explicit DrivenLink(std::vector<VariablePtr> variables);

  [[nodiscard]] std::span<const VariablePtr> variables() const { return kept_; }

  [[nodiscard]] Coverage coverage() const override;
  void explain(Evidence& failure) const override;
  [[nodiscard]] bool has_forgotten(Stamp at) const override;

 protected:
  [[nodiscard]] std::span<const Variable* const> read() const { return read_; }
  [[nodiscard]] std::vector<VariablePtr> counterparts(const Variables& variables) const;
  [[nodiscard]] std::string variable_names() const;

 private:
  std::vector<VariablePtr> kept_;
  std::vector<const Variable*> read_;
};

/// A joint with a closed form.
class JointLink final : public DrivenLink {
 public:
  /// As many variables as the motion has.
  JointLink(const JointMotion& motion, std::vector<VariablePtr> variables);

  [[nodiscard]] FailureKind evaluate(Stamp at, const QueryContext& context, Evaluation& out) const override;
  [[nodiscard]] FailureKind velocity(Stamp at, const QueryContext& context, Velocity& out) const override;
  [[nodiscard]] std::shared_ptr<DrivenProvider> driven_by(const Variables& variables) const override;
  [[nodiscard]] std::string description() const override;

 private:
  JointMotion motion_;
};

}  // namespace armillary
