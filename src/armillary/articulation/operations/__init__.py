"""Operations: the steps by which a model is made."""

from armillary.articulation.operations._function import FunctionOperation, operation
from armillary.articulation.operations._loops import CloseLoop, SetClosure
from armillary.articulation.operations._mechanisms import AddJoint, AddLink, AddMimicJoint, AddObject, Connect
from armillary.articulation.operations._operation import Operation, Reading
from armillary.articulation.operations._values import SetValue

__all__ = [
    "AddJoint",
    "AddLink",
    "AddMimicJoint",
    "AddObject",
    "CloseLoop",
    "Connect",
    "FunctionOperation",
    "Operation",
    "Reading",
    "SetClosure",
    "SetValue",
    "operation",
]
