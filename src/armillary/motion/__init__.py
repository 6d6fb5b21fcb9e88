"""Motion: velocities for robots and mechanisms from goals and the constraints of their models."""

from armillary.motion.articulation_estimate import (
    ArticulationEstimator,
    ArticulationGuess,
    estimate_articulation,
)
from armillary.motion.controller import Controller, MotionStep
from armillary.motion.goals import (
    ExpressionGoal,
    FunctionGoal,
    Goal,
    GoalRows,
    JointGoal,
    OrientationGoal,
    PointingGoal,
    PoseGoal,
    PositionGoal,
    PostureGoal,
)
from armillary.motion.locks import Subgoal, Unlocking
from armillary.motion.model_collision import ModelCollision
from armillary.motion.pushing import Handle, Push, PushStep, Tool
from armillary.motion.tracker import Estimate, Tracker
from armillary.motion.tracking_filter import TrackingFilter

__all__ = [
    "ArticulationEstimator",
    "ArticulationGuess",
    "Controller",
    "Estimate",
    "ExpressionGoal",
    "FunctionGoal",
    "Goal",
    "GoalRows",
    "Handle",
    "JointGoal",
    "ModelCollision",
    "MotionStep",
    "OrientationGoal",
    "PointingGoal",
    "PoseGoal",
    "PositionGoal",
    "PostureGoal",
    "Push",
    "PushStep",
    "Subgoal",
    "Tool",
    "Tracker",
    "TrackingFilter",
    "Unlocking",
    "estimate_articulation",
]
