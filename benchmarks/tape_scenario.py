"""A chain of 26 joints as casadi functions, and the same functions as tapes."""

from dataclasses import dataclass
from math import cos, sin

import numpy as np

from armillary._core import TAPE_OPS, Tape

JOINTS = 26


@dataclass(frozen=True, slots=True)
class Pair:
    """One function, here and there."""

    name: str
    tape: Tape
    function: "casadi.Function"  # noqa: F821  (casadi is a peer, and may be absent)


def pairs() -> list[Pair]:
    """The poses of all links, and the derivative of the last by the joints; none where casadi is not installed."""
    try:
        import casadi
    except ImportError:
        return []
    joints = casadi.SX.sym("q", JOINTS)
    links = _links(casadi, joints)
    poses = casadi.vertcat(*[casadi.vec(link[:3, :].T) for link in links])
    jacobian = casadi.vec(casadi.jacobian(casadi.vec(links[-1][:3, :].T), joints).T)
    return [
        _pair(casadi, "poses of 26 links", joints, poses),
        _pair(casadi, "Jacobian of the last", joints, jacobian),
    ]


def _links(casadi, joints) -> list:
    chance = np.random.default_rng(5)
    map_T_link, links = casadi.SX.eye(4), []
    for i in range(JOINTS):
        turn, (a, b) = casadi.SX.eye(4), ((i + 1) % 3, (i + 2) % 3)
        turn[a, a] = turn[b, b] = casadi.cos(joints[i])
        turn[b, a] = casadi.sin(joints[i])
        turn[a, b] = -turn[b, a]
        map_T_link = map_T_link @ _mounting(chance) @ turn
        links.append(map_T_link)
    return links


def _mounting(chance: np.random.Generator) -> np.ndarray:
    angle, mounting = chance.uniform(-3.0, 3.0), np.eye(4)
    mounting[:2, :2] = [[cos(angle), -sin(angle)], [sin(angle), cos(angle)]]
    mounting[:3, 3] = chance.uniform(-1.0, 1.0, 3)
    return mounting


def _pair(casadi, name: str, joints, value) -> Pair:
    function = casadi.Function("f", [joints], [casadi.densify(value)])
    return Pair(name, _tape(casadi, function), function)


def _tape(casadi, function) -> Tape:
    numbers = {getattr(casadi, f"OP_{name.upper()}", None): number for name, number in TAPE_OPS.items()}
    code, constants = [], []
    for k in range(function.n_instructions()):
        op, to, of = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if op == casadi.OP_CONST:
            code.append((TAPE_OPS["constant"], to[0], len(constants), 0))
            constants.append(function.instruction_constant(k))
        elif op == casadi.OP_INPUT:
            code.append((TAPE_OPS["input"], to[0], of[1], 0))
        elif op == casadi.OP_OUTPUT:
            code.append((TAPE_OPS["output"], to[1], of[0], 0))
        else:
            code.append((numbers[op], to[0], of[0], of[1] if len(of) > 1 else 0))
    return Tape(np.array(code, np.uint32), constants, inputs=function.nnz_in(0), outputs=function.nnz_out(0))
