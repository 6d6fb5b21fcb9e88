"""The errors of each subject; the tests of a subject raise every one of its errors by a real call."""

from __future__ import annotations

from armillary import errors
from armillary.errors import files, models, motion, relations, scene

TAPES = {errors.InvalidTape, errors.UnloadableTape}
BLOCKS = {errors.BlockFailed, errors.PortMismatch, errors.UnknownBlock, errors.UnusableBlock}
SAVED = {errors.InvalidSceneFile, errors.InvalidWorldFile, errors.InvalidExtrinsicsFile}
MODEL_FILES = {errors.CannotDescribe, errors.InvalidModelFile, errors.UnsavableModel}
EXPRESSIONS = {
    errors.CannotCompile,
    errors.InvalidExpression,
    errors.NoSuchEntry,
    errors.NoSuchOrder,
    errors.NotGrounded,
}
LOOPS = {errors.LoopBranchUncertain, errors.LoopError, errors.OpenLoop, errors.SingularLoop, errors.UnreachableLoop}


def _kinds(names: list[str]) -> set[type[errors.ArmillaryError]]:
    return {getattr(errors, name) for name in names}


NODES = _kinds(scene.__all__) - BLOCKS
FORMATS = _kinds(files.__all__) - SAVED - MODEL_FILES - {errors.MeshesSkipped}
MODELS = (_kinds(models.__all__) | MODEL_FILES) - EXPRESSIONS - TAPES - LOOPS - {errors.MachineCodeFailed}
RELATIONS = _kinds(relations.__all__)
MOTION = _kinds(motion.__all__) - {errors.GoalsUnmet}
