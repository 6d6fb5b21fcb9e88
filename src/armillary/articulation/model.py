"""Articulation models: mechanisms as expressions and constraints, made by operations that can be edited."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar

from armillary.articulation import saving
from armillary.articulation._callbacks import Callback, Callbacks, ConstraintsOf, Subscription, TagsLike, UnderPath
from armillary.articulation._describing import edits_of
from armillary.articulation._overlay import Overlay
from armillary.articulation._parts import value_at
from armillary.articulation._poses import PoseCache
from armillary.articulation._queries import Affected, affected_in, constraints_in
from armillary.articulation.constraints import Constraint
from armillary.articulation.edits import Apply, Edit, InsertAfter, InsertBefore, RemoveOperation
from armillary.articulation.expressions import PoseExpression
from armillary.articulation.history import History, ModelChange
from armillary.articulation.joints import Joint
from armillary.articulation.links import ArticulatedObject, Link, check_links
from armillary.articulation.loops import Closure, Loops, check_loops
from armillary.articulation.operations import Operation
from armillary.articulation.paths import as_path, is_under
from armillary.articulation.variables import Variable
from armillary.errors import InvalidArgument, TagTaken, WrongValue
from armillary.formats import RobotDescription, read_sdf, read_urdf
from armillary.formats.packages import PackageFolders
from armillary.transforms import print_error

__all__ = ["Affected", "ArticulationModel", "Subscription"]

V = TypeVar("V")


class ArticulationModel:
    """A tree of values by path: links, joints, expressions and constraints, made by operations in order.

    Each operation has a tag, and can be replaced, removed, and given others before and after it. What then runs again
    is what reads values that became different. An edit is done whole or not at all; one that is refused leaves the
    model exactly as it was.

    Safe to use from several threads: `_lock` is held while an edit is made, and callbacks run after it,
    in the order of the edits.

    Args:
        max_undo: How many edits can be taken back.
        on_error: Told what callbacks raise; stderr is, if left out.

    >>> from armillary.articulation import ArticulationModel, SetValue, position, sin
    >>> model = ArticulationModel()
    >>> q = position("door/hinge")
    >>> _ = model.apply(SetValue("door/gap", 2.0 * sin(q)), tag="gap of the door")
    >>> model.value("door/gap").evaluate({q: 0.0})
    0.0
    """

    def __init__(self, *, max_undo: int = 100, on_error: Callable[[BaseException], object] | None = None) -> None:
        self.on_error = on_error
        self._history = History(max_undo=max_undo, check=_check)
        self._poses = PoseCache(self._link)
        self._loops: Loops | None = None
        self._callbacks = Callbacks()
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        links, variables, operations = len(self.links()), len(self.variables()), len(self.tags)
        return f"ArticulationModel({links} links, {variables} variables, made by {operations} operations)"

    # Editing

    def apply(self, operation: Operation, *, tag: str) -> ModelChange:
        """Add an operation at the end, or put it in place of the one that has this tag."""
        return self.edit([Apply(tag, operation)])

    def insert_before(self, reference: str, operation: Operation, *, tag: str) -> ModelChange:
        """Add an operation right in front of the one tagged `reference`."""
        return self.edit([InsertBefore(tag, operation, reference)])

    def insert_after(self, reference: str, operation: Operation, *, tag: str) -> ModelChange:
        """Add an operation right behind the one tagged `reference`."""
        return self.edit([InsertAfter(tag, operation, reference)])

    def remove(self, *tags: str) -> ModelChange:
        """Take operations out, all of them or none."""
        return self.edit([RemoveOperation(tag) for tag in tags])

    def edit(self, edits: Sequence[Edit]) -> ModelChange:
        """Do several edits as one, in this order.

        Raises:
            MissingRead: An operation would read what nothing before it writes (thesis eq. 3.17).
            OperationFailed: An operation raised.
            LinkLoop: Links would carry each other.
        """
        return self._told(lambda: self._history.edit(edits))

    def undo(self) -> ModelChange:
        """Take the last edit back."""
        return self._told(self._history.undo)

    def redo(self) -> ModelChange:
        """Do again what was taken back last."""
        return self._told(self._history.redo)

    def copy(self) -> ArticulationModel:
        """A model of the same operations, to try edits in: nothing runs for it, and what is edited there stays there.

        Who is told of edits here is not told of those there, and what was edited before is not undone there.
        """
        twin = ArticulationModel(on_error=self.on_error)
        with self._lock:
            twin._history = self._history.copied()
        return twin

    @property
    def tags(self) -> tuple[str, ...]:
        """Of all operations, first to last."""
        with self._lock:
            return self._history.tags

    def tags_of(self, path: str) -> tuple[str, ...]:
        """Of the operations that write at or under a path: `model.remove(*model.tags_of("robot"))`."""
        with self._lock:
            return self._history.tags_writing(as_path(path))

    def operation(self, tag: str) -> Operation:
        """The operation with this tag."""
        with self._lock:
            return self._history.operation(tag)

    # Robots

    def load_urdf(
        self,
        path_or_text: str | PathLike[str],
        *,
        name: str | None = None,
        packages: PackageFolders = (),
        root: str | None = None,
        tips: Sequence[str] | None = None,
        arguments: Mapping[str, str] | None = None,
    ) -> ArticulatedObject:
        """Add the robot of a URDF file: `name/links/LINK`, `name/joints/JOINT`, variables `name/JOINT`.

        Args:
            path_or_text: The file, or its text.
            name: What it is called here; as in the file, if left out.
            packages: Where `package://` leads.
            root: Take only what hangs under this link.
            tips: Take only what lies between the root and these links.
            arguments: What xacro calls arguments.
        """
        robot = read_urdf(path_or_text, packages=packages, root=root, tips=tips, arguments=arguments)
        return self.add_robot(robot, name=name)

    def load_sdf(
        self, path_or_text: str | PathLike[str], *, packages: PackageFolders = ()
    ) -> tuple[ArticulatedObject, ...]:
        """Add every model of an SDFormat file, under the names they have there, in one edit.

        Args:
            path_or_text: The file, or its text.
            packages: Where `model://` and `package://` lead.
        """
        return self._added([(robot, robot.name) for robot in read_sdf(path_or_text, packages=packages)])

    def add_robot(self, robot: RobotDescription, *, name: str | None = None) -> ArticulatedObject:
        """Add what a file describes, in one edit; under the name it has there, if no other is given."""
        return self._added([(robot, robot.name if name is None else name)])[0]

    # Reading

    def value(self, path: str) -> Any:
        """What is at a path; further down, what the value there shows of itself, as in `door/joints/hinge/motion`."""
        with self._lock:
            return value_at(as_path(path), self._history.values)

    def paths(self, under: str = "") -> tuple[str, ...]:
        """Every path at which a value is stored, at or under this one, sorted."""
        return tuple(sorted(self.values(under)))

    def values(self, under: str = "") -> dict[str, Any]:
        """The values at or under a path."""
        above = as_path(under) if under else ""
        with self._lock:
            return {path: value for path, value in self._history.values.items() if is_under(path, above)}

    def links(self, under: str = "") -> dict[str, Link]:
        """The links at or under a path."""
        return _only(self.values(under), Link)

    def joints(self, under: str = "") -> dict[str, Joint]:
        """The joints at or under a path."""
        return _only(self.values(under), Joint)  # type: ignore[type-abstract]

    def pose(self, path: str, *, in_frame: str | None = None) -> PoseExpression:
        """Where a link is, as an expression: in the frame of the model, or in that of another link.

        Where it hangs in a loop, its gradient is along what drives the loop.

        Args:
            path: Of the link.
            in_frame: The path of another link.
        """
        with self._lock:
            if in_frame is None:
                found = self._poses.pose(as_path(path))
            else:
                found = self._poses.between(as_path(path), as_path(in_frame))
            closed: PoseExpression = self._closing().closed(found)
            return closed

    def closures(self, under: str = "") -> dict[str, Closure]:
        """The loops at or under a path."""
        return _only(self.values(under), Closure)

    @property
    def loops(self) -> Loops:
        """All loops together, and what follows from what."""
        with self._lock:
            return self._closing()

    def solve(
        self, values: Mapping[Variable, float], *, start: Mapping[Variable, float] | None = None
    ) -> dict[Variable, float]:
        """The given values, and those of the variables that follow from them because loops are closed.

        Args:
            values: Of all variables that drive loops, and of others if wanted.
            start: Of dependents, where they are looked for; where they were found last, if left out.

        Raises:
            UnreachableLoop: Parts of a loop do not reach each other.
            SingularLoop: A loop does not determine its dependents there.
        """
        with self._lock:
            return self._closing().solve(values, start)

    def variables(self, under: str = "") -> tuple[Variable, ...]:
        """The positions by which the links at or under a path move, sorted."""
        joints = [link.joint for link in self.links(under).values() if link.joint is not None]
        found = {variable for joint in joints for variable in joint.variables}
        return tuple(sorted(found, key=lambda variable: variable.name))

    def constraints(self, variables: Iterable[Variable] | None = None) -> dict[str, Constraint]:
        """Every constraint that speaks of one of these variables, in its expression or in a bound, by its path.

        A position and its velocity are two variables: ask for both to have both. Left out, it is all constraints.
        """
        found = constraints_in(self.values())
        if variables is None:
            return found
        wanted = _variables(variables)
        return {path: one for path, one in found.items() if one.free_variables & wanted}

    def affected_by(self, variables: Iterable[Variable]) -> Affected:
        """The links, shapes and other expressions that these variables move, whatever their order."""
        return affected_in(self.values(), {variable.name for variable in _variables(variables)})

    def violations(self, values: Mapping[Variable, float], *, tolerance: float = 1e-9) -> dict[str, Constraint]:
        """The constraints that these numbers break, by path (thesis eq. 3.15).

        Args:
            values: Of some or all variables; what still has free variables breaks nothing.
            tolerance: What is forgiven, in the unit of each constraint: numbers are rounded.
        """
        found = self.constraints()
        return {path: one for path, one in found.items() if not one.is_kept(values, tolerance=tolerance)}

    def is_valid(self, values: Mapping[Variable, float], *, tolerance: float = 1e-9) -> bool:
        """Whether these numbers break no constraint (thesis eq. 3.15)."""
        return not self.violations(values, tolerance=tolerance)

    # Being told

    def on_path(self, callback: Callback, path: str = "") -> Subscription:
        """Call when a value at or under a path came, went or became different."""
        return self._callbacks.add(callback, UnderPath(as_path(path) if path else ""))

    def on_constraints(self, callback: Callback, variables: Iterable[Variable]) -> Subscription:
        """Call when a constraint that speaks of one of these variables came, went or became different."""
        return self._callbacks.add(callback, ConstraintsOf(_variables(variables)))

    def on_tags(self, callback: Callback, pattern: str | re.Pattern[str]) -> Subscription:
        """Call when an operation was added, replaced or removed whose whole tag this is, or whose tag matches it."""
        exact = re.compile(re.escape(pattern)) if isinstance(pattern, str) else pattern
        return self._callbacks.add(callback, TagsLike(exact))

    # Files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the operations to a JSON file, from which `load` makes the same model."""
        saving.write_file(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """What `save` writes."""
        with self._lock:
            return saving.encoded([(tag, self._history.operation(tag)) for tag in self._history.tags])

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        kinds: Iterable[type[Any]] = (),
        max_bytes: int = saving.MAX_BYTES,
    ) -> ArticulationModel:
        """A model from a file.

        Args:
            path: What `save` wrote.
            kinds: Operations and joints of your own that the file may name; nothing else is ever looked up.
            max_bytes: A larger file is refused.

        Raises:
            InvalidModelFile: With the place in the file of what is wrong.
        """
        return cls.from_bytes(saving.read_file(path, max_bytes), kinds=kinds, file=str(path))

    @classmethod
    def from_bytes(
        cls, data: bytes, *, kinds: Iterable[type[Any]] = (), file: str = "the given bytes"
    ) -> ArticulationModel:
        """A model from what `to_bytes` gave; `file` is what errors call it."""
        model = cls()
        steps = saving.decoded(data, kinds, file)
        try:
            model.edit([Apply(tag, operation) for tag, operation in steps])
        except Exception as error:
            raise saving.refused_replay(file, steps, error) from error
        model._history.forget_edits()
        return model

    def digest(self) -> str:
        """The same for models of equal operations in equal order."""
        return saving.digest(self.to_bytes())

    def _repr_html_(self) -> str:
        from armillary.articulation._notebook import model_html  # noqa: PLC0415  (most programs are no notebooks)

        return model_html(self)

    def _added(self, robots: Sequence[tuple[RobotDescription, str]]) -> tuple[ArticulatedObject, ...]:
        named = [(robot, as_path(name)) for robot, name in robots]
        edits = [edit for robot, name in named for edit in edits_of(robot, name)]
        self._told(lambda: self._edited_anew(edits, [f"create {name}" for _, name in named]))
        return tuple(self._of_kind(name, ArticulatedObject) for _, name in named)

    def _edited_anew(self, edits: Sequence[Edit], tags: Sequence[str]) -> ModelChange:
        """Nothing that has one of these tags is replaced."""
        taken = next((tag for tag in tags if tag in self._history), None)
        if taken is not None:
            raise TagTaken(taken)
        return self._history.edit(edits)

    def _link(self, path: str) -> Link:
        return self._of_kind(path, Link)

    def _closing(self) -> Loops:
        if self._loops is None:
            self._loops = Loops(self.closures().values())
        return self._loops

    def _of_kind(self, path: str, kind: type[V]) -> V:
        value = value_at(path, self._history.values)
        if not isinstance(value, kind):
            raise WrongValue(path, kind.__name__, type(value).__name__)
        return value

    def _told(self, edit: Callable[[], ModelChange]) -> ModelChange:
        with self._lock:
            change = edit()
            self._poses.forget(frozenset(change.before) - frozenset(change.after))
            if any(isinstance(value, Closure) for value in (*change.before.values(), *change.after.values())):
                self._loops = None
            self._callbacks.put(change)
        self._callbacks.tell(print_error if self.on_error is None else self.on_error)
        return change


def _only(values: Mapping[str, Any], kind: type[V]) -> dict[str, V]:
    return {path: value for path, value in values.items() if isinstance(value, kind)}


def _variables(given: Iterable[Variable]) -> frozenset[Variable]:
    found = frozenset([given] if isinstance(given, Variable) else given)
    strange = next((one for one in found if not isinstance(one, Variable)), None)
    if strange is not None:
        raise InvalidArgument(f"Variables are wanted, got {strange!r}. Make one with position(name).", strange)
    return found


def _check(values: Overlay[str, Any], changed: Sequence[str]) -> None:
    check_links(values, changed)
    check_loops(values, changed)
