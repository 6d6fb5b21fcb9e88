"""Articulation models: mechanisms as expressions and constraints, made by operations that can be edited."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from armillary.articulation import files
from armillary.articulation._callbacks import Callback, Callbacks, ConstraintsOf, Subscription, TagsLike, UnderPath
from armillary.articulation._closing import closing_edits
from armillary.articulation._describing import described
from armillary.articulation._overlay import Overlay
from armillary.articulation._peers import pinocchio_model
from armillary.articulation._queries import Affected, PoseCache, affected_in, constraints_in, value_at
from armillary.articulation._robots import edits_of, link_edits
from armillary.articulation.constraint_set import ConstraintSet
from armillary.articulation.constraints import Constraint
from armillary.articulation.controls import (
    Controls,
    Integrator,
    as_controls,
    as_step,
    controls_of,
)
from armillary.articulation.expressions import PoseExpression
from armillary.articulation.history import Apply, Edit, History, InsertAfter, InsertBefore, ModelChange, RemoveOperation
from armillary.articulation.joints import BallJoint, FloatingJoint, Joint
from armillary.articulation.links import ArticulatedObject, Link, check_links
from armillary.articulation.loops import Closure, Loops, check_loops
from armillary.articulation.operations import AddLink, AddObject, Operation
from armillary.articulation.paths import as_path, as_path_or_top, is_under
from armillary.articulation.variables import Numbers, Variable, VariableLike, as_numbers, as_variable
from armillary.errors import CannotDescribe, CannotSayInUrdf, InvalidModelFile, TagTaken, WrongValue
from armillary.forks import new_lock
from armillary.formats import RobotDescription, read_mjcf, read_sdf, read_urdf, urdf_losses, write_urdf
from armillary.formats.descriptions import Inertial, ShapeDescription
from armillary.formats.packages import PackageFolders
from armillary.formats.whole_files import as_file_path, read_bytes, write_whole
from armillary.notebook import card, facts, listing
from armillary.store.dispatcher import print_error

if TYPE_CHECKING:
    from armillary.articulation.compiled import Backend

__all__ = ["Affected", "ArticulationModel", "Subscription"]

V = TypeVar("V")


class ArticulationModel:
    """A tree of values by path: links, joints, expressions and constraints, made by operations in order.

    Each operation has a tag, and can be replaced, removed, and given others before and after it. Then the operations
    run again that read values that became different. An edit is applied whole or not at all; one that is refused
    leaves the model exactly as it was.

    Safe to use from several threads: `_lock` is held while an edit is made, and callbacks run after it,
    in the order of the edits.

    Args:
        max_undo: How many edits can be undone.
        on_error: Called with what callbacks raise; it is printed to stderr, if left out.

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
        self._integrator: Integrator | None = None
        self._callbacks = Callbacks()
        self._lock = new_lock()

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
        """Remove operations, all of them or none."""
        return self.edit([RemoveOperation(tag) for tag in tags])

    def add(
        self,
        path: str,
        joint: Joint | None = None,
        parent: str | None = None,
        *,
        visuals: Sequence[ShapeDescription] = (),
        collisions: Sequence[ShapeDescription] = (),
        inertial: Inertial | None = None,
    ) -> ModelChange:
        """Add a link, its joint and its connection to the link that carries it, in one edit.

        The joint of `robot/links/door` is at `robot/joints/door`, and `robot` becomes an object with this link as its
        root where it is none yet. Each part is an operation with its own tag: `create PATH`, `connect PARENT PATH`.

        Args:
            path: Of the link, as in `robot/links/door`.
            joint: How it moves in its parent; None: it is fixed to it, with the same frame.
            parent: The path of the link that carries it; None for the frame of the whole model.
            visuals: The shapes that are seen.
            collisions: The shapes that collide.
            inertial: Mass and inertia.

        Raises:
            TagTaken: There is such a link already.
        """
        made = AddLink(path=as_path(path), visuals=tuple(visuals), collisions=tuple(collisions), inertial=inertial)
        edits = link_edits(made, joint, None if parent is None else as_path(parent))
        name = made.path.partition("/links/")[0]
        with self._lock:
            if name != made.path and name not in self._history.values:
                edits.insert(0, Apply(f"create {name}", AddObject(name=name, root=made.path)))
        return self._notified(lambda: self._edited_anew(edits, [f"create {made.path}"]))

    def edit(self, edits: Sequence[Edit]) -> ModelChange:
        """Apply several edits as one, in this order.

        Raises:
            MissingRead: An operation would read a path that nothing before it writes (thesis eq. 3.17).
            OperationFailed: An operation raised.
            LinkLoop: Links would carry each other.
        """
        return self._notified(lambda: self._history.edit(edits))

    def undo(self) -> ModelChange:
        """Undo the last edit."""
        return self._notified(self._history.undo)

    def redo(self) -> ModelChange:
        """Redo the edit that was undone last."""
        return self._notified(self._history.redo)

    def copy(self) -> ArticulationModel:
        """Return an independent copy of the model; no operation runs for it.

        Subscriptions are not copied, and the edits made before cannot be undone in the copy.
        """
        twin = ArticulationModel(on_error=self.on_error)
        with self._lock:
            twin._history = self._history.copied()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return the operations; subscriptions, `on_error` and what could be undone are not pickled."""
        with self._lock:
            history = self._history
            return {"max_undo": history.max_undo, "steps": [(tag, history.operation(tag)) for tag in history.tags]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ArticulationModel.__init__(self, max_undo=state["max_undo"])
        self._history.edit([Apply(tag, operation) for tag, operation in state["steps"]])
        self._history.forget_edits()

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of all operations, first to last."""
        with self._lock:
            return self._history.tags

    def tags_of(self, path: str) -> tuple[str, ...]:
        """The tags of the operations that write at or under a path: `model.remove(*model.tags_of("robot"))`."""
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
            name: Its name in the model; as in the file, if left out.
            packages: The folders of `package://`.
            root: Take only this link and what it carries.
            tips: Take only the links between the root and these.
            arguments: The arguments of xacro.
        """
        robot = read_urdf(path_or_text, packages=packages, root=root, tips=tips, arguments=arguments)
        return self.add_robot(robot, name=name)

    def load_sdf(
        self, path_or_text: str | PathLike[str], *, packages: PackageFolders = ()
    ) -> tuple[ArticulatedObject, ...]:
        """Add every model of an SDFormat file, under the names they have there, in one edit.

        Args:
            path_or_text: The file, or its text.
            packages: The folders of `model://` and `package://`.
        """
        return self._added([(robot, robot.name) for robot in read_sdf(path_or_text, packages=packages)])

    def load_mjcf(
        self, path_or_text: str | PathLike[str], *, name: str | None = None, packages: PackageFolders = ()
    ) -> ArticulatedObject:
        """Add the model of an MJCF file: `name/links/BODY`, `name/joints/JOINT`, variables `name/JOINT`.

        Args:
            path_or_text: The file, or its text.
            name: Its name in the model; as in the file, if left out.
            packages: The folders of `package://`.
        """
        return self.add_robot(read_mjcf(path_or_text, packages=packages), name=name)

    def add_robot(self, robot: RobotDescription, *, name: str | None = None) -> ArticulatedObject:
        """Add the robot of a description, in one edit; under the name it has there, if no other is given."""
        return self._added([(robot, robot.name if name is None else name)])[0]

    # As others have it

    def description(self, name: str | None = None) -> RobotDescription:
        """Return an object of the model as a description: what `add_robot` takes, and a file says.

        Args:
            name: Of the object, as in `robot`; the only one of the model, if left out.

        Raises:
            CannotDescribe: Parts of it are more than links and joints: kinematic loops, constraints of their own,
                joints that move as an expression or by wheels. `to_urdf(lossy=True)` leaves them out.
        """
        found = described(self.values(), name)
        if found.losses:
            raise CannotDescribe(found.robot.name, found.losses)
        return found.robot

    def to_urdf(self, path: str | PathLike[str] | None = None, *, name: str | None = None, lossy: bool = False) -> str:
        """Write an object of the model as URDF, and return the text.

        Args:
            path: The file; if left out, the text is only returned.
            name: Of the object; the only one of the model, if left out.
            lossy: Leave out what URDF cannot express, as `formats.write_urdf` does. A joint of a kind that it does not
                know is fixed.

        Raises:
            CannotSayInUrdf: With everything that URDF cannot express.

        >>> from armillary.articulation import RevoluteJoint
        >>> model = ArticulationModel()
        >>> _ = model.add("lamp/links/foot")
        >>> print(model.to_urdf())
        <?xml version="1.0"?>
        <robot name="lamp">
          <link name="foot" />
        </robot>
        """
        found = described(self.values(), name)
        losses = (*found.losses, *urdf_losses(found.robot))
        if losses and not lossy:
            raise CannotSayInUrdf(found.robot.name, losses)
        return write_urdf(found.robot, path, lossy=lossy)

    def to_pinocchio(self, name: str | None = None) -> Any:
        """Return an object of the model as a `pinocchio.Model`, for dynamics.

        Its joints have their names in the file, without that of the object; each link is a frame of the type BODY.
        Joints that follow others are mimic joints, so that they have no configuration of their own.

        Args:
            name: Of the object; the only one of the model, if left out.

        Raises:
            CannotDescribe: As for `description`.
            InvalidArgument: A joint is of a kind that pinocchio does not have.
        """
        return pinocchio_model(self.description(name))

    # Reading

    def value(self, path: str) -> Any:
        """The value at a path, or the part of a value that the path leads to, as in `door/joints/hinge/motion`."""
        with self._lock:
            return value_at(as_path(path), self._history.values)

    def paths(self, under: str = "") -> tuple[str, ...]:
        """Every path at which a value is stored, at or under this one, sorted."""
        return tuple(sorted(self.values(under)))

    def values(self, under: str = "") -> dict[str, Any]:
        """The values at or under a path."""
        above = as_path_or_top(under)
        with self._lock:
            return {path: value for path, value in self._history.values.items() if is_under(path, above)}

    def links(self, under: str = "") -> dict[str, Link]:
        """The links at or under a path."""
        return _only(self.values(under), Link)

    def joints(self, under: str = "") -> dict[str, Joint]:
        """The joints at or under a path."""
        return _only(self.values(under), Joint)  # type: ignore[type-abstract]

    def pose(self, path: str, *, in_frame: str | None = None) -> PoseExpression:
        """The pose of a link as an expression: in the frame of the model, or in that of another link.

        Where it is part of a kinematic loop, its gradient is along the drivers of the loop.

        Args:
            path: Of the link.
            in_frame: The path of another link.
        """
        with self._lock:
            if in_frame is None:
                found = self._poses.pose(as_path(path))
            else:
                found = self._poses.between(as_path(path), as_path(in_frame))
            closed: PoseExpression = self._current_loops().closed(found)
            return closed

    def closures(self, under: str = "") -> dict[str, Closure]:
        """The closures of kinematic loops at or under a path."""
        return _only(self.values(under), Closure)

    @property
    def loops(self) -> Loops:
        """All kinematic loops together, in the order in which they are solved."""
        with self._lock:
            return self._current_loops()

    def solve(self, values: Numbers, *, start: Numbers | None = None) -> dict[Variable, float]:
        """Return the given values, and those of the variables that follow from them by kinematic loops.

        Args:
            values: Of all variables that drive kinematic loops, and of others if wanted.
            start: Of dependents, where the search begins; where they were found last, if left out.

        Raises:
            UnreachableLoop: Parts of a kinematic loop do not reach each other.
            SingularLoop: A kinematic loop does not determine its dependents there.
        """
        given, begin = as_numbers(values), None if start is None else as_numbers(start)
        with self._lock:
            return self._current_loops().solve(given, begin)

    def variables(self, under: str = "") -> tuple[Variable, ...]:
        """The positions by which the links at or under a path move, sorted."""
        joints = [link.joint for link in self.links(under).values() if link.joint is not None]
        found = {variable for joint in joints for variable in joint.variables}
        return tuple(sorted(found, key=lambda variable: variable.name))

    def constraints(self, variables: Iterable[VariableLike] | None = None) -> dict[str, Constraint]:
        """Every constraint that contains one of these variables, in its expression or in a bound, by its path.

        A position and its velocity are two variables: ask for both to have both. Left out, it is all constraints.
        """
        found = constraints_in(self.values())
        if variables is None:
            return found
        wanted = _variables(variables)
        return {path: one for path, one in found.items() if one.free_variables & wanted}

    def affected_by(self, variables: Iterable[VariableLike]) -> Affected:
        """The links, shapes and other expressions that these variables move, whatever their order."""
        return affected_in(self.values(), {variable.name for variable in _variables(variables)})

    def violations(self, values: Numbers, *, tolerance: float = 1e-9) -> dict[str, Constraint]:
        """The constraints that these numbers break, by path (thesis eq. 3.15).

        Args:
            values: Of some or all variables; what still has free variables breaks nothing.
            tolerance: In the unit of each constraint: numbers are rounded.
        """
        found, numbers = self.constraints(), as_numbers(values)
        return {path: one for path, one in found.items() if not one.is_kept(numbers, tolerance=tolerance)}

    # Motion

    def controls(self, name: str = "") -> tuple[Variable, ...]:
        """Return every velocity that can be commanded: of joints, wheels, balls, and of what constraints alone bound.

        Joints that follow others and what follows from kinematic loops have none.

        Args:
            name: Of an object, or a path: its joints alone.

        >>> from armillary.articulation import PrismaticJoint
        >>> model = ArticulationModel()
        >>> _ = model.add("desk/links/drawer", PrismaticJoint(variable="desk/drawer"))
        >>> model.controls("desk")
        (velocity('desk/drawer'),)
        """
        joints, loops = self.joints(name), self.loops
        own = {path: one for path, one in self.values().items() if isinstance(one, Constraint) and is_under(path, name)}
        everything = [*self.joints().values()]
        taken = {variable.name for joint in everything for variable in (*joint.variables, *joint.controls)}
        found = controls_of(joints.values(), own.values(), loops)
        of_joints = {control.name for joint in joints.values() for control in joint.controls}
        return tuple(one for one in found if one.name in of_joints or one.name not in taken)

    def along_controls(self, controls: Iterable[VariableLike]) -> Controls:
        """Return these controls in their order, by which expressions are differentiated."""
        known = self.controls()
        return Controls(as_controls(controls, known), self.joints().values(), self.loops)

    def constraint_set(
        self, controls: Iterable[VariableLike], *, dt_s: float, backend: Backend = "vm"
    ) -> ConstraintSet:
        """Compile the constraints that these controls can break, as bounds on rates.

        Args:
            controls: As `controls()` returns them, all or some.
            dt_s: The time until velocities are chosen anew: what bounds a position holds after it.
            backend: "vm", or "c" for machine code.

        Raises:
            UnknownControl: One of them is no control of this model.

        >>> from armillary.articulation import PrismaticJoint, Limits
        >>> model = ArticulationModel()
        >>> drawer = PrismaticJoint(variable="desk/drawer", limits=Limits(lower=0.0, upper=0.4))
        >>> _ = model.add("desk/links/drawer", drawer)
        >>> rows = model.constraint_set(model.controls(), dt_s=0.1).evaluate({"desk/drawer": 0.3})
        >>> rows.lower.round(9), rows.matrix, rows.upper.round(9)
        (array([-3.]), array([[1.]]), array([1.]))
        """
        ordered = self.along_controls(controls)
        return ConstraintSet(self._for_motion(), ordered, as_step(dt_s), backend)

    def integrate(
        self, configuration: Mapping[Any, float], velocities: Mapping[Any, float], *, dt_s: float
    ) -> dict[str, float]:
        """Return the configuration after a step at constant velocities.

        Unit quaternions keep their length, bases on wheels move along exact arcs, and kinematic loops are closed.
        Limits are those of whoever chooses the velocities: they are not looked at.

        Args:
            configuration: The value of every position, by name.
            velocities: Of controls, by name; those that are left out stand still.
            dt_s: For how long.

        Raises:
            UnknownControl: A velocity is that of no control.
            NotFinite: A number is not finite.
            NotGrounded: A position has no value.
        """
        with self._lock:
            if self._integrator is None:
                self._integrator = Integrator(self.joints().values(), self.loops, self.controls())
            integrator = self._integrator
        return integrator(configuration, velocities, as_step(dt_s))

    def _for_motion(self) -> dict[str, Constraint]:
        """Return the constraints without those that hold by themselves: closed loops, quaternions of length one."""
        held = {f"{path}/constraints/{name}" for path, one in self.closures().items() for name in one.constraints}
        balls = {path for path, joint in self.joints().items() if isinstance(joint, BallJoint | FloatingJoint)}
        held |= {f"{path}/constraints/unit_quaternion" for path in balls}
        return {path: one for path, one in self.constraints().items() if path not in held}

    def is_valid(self, values: Numbers, *, tolerance: float = 1e-9) -> bool:
        """Whether these numbers break no constraint (thesis eq. 3.15)."""
        return not self.violations(values, tolerance=tolerance)

    # Callbacks

    def on_path(self, callback: Callback, path: str = "") -> Subscription:
        """Call when a value at or under a path was added, removed or changed."""
        return self._callbacks.add(callback, UnderPath(as_path_or_top(path)))

    def on_constraints(self, callback: Callback, variables: Iterable[Variable]) -> Subscription:
        """Call when a constraint on one of these variables was added, removed or changed."""
        return self._callbacks.add(callback, ConstraintsOf(_variables(variables)))

    def on_tags(self, callback: Callback, pattern: str | re.Pattern[str]) -> Subscription:
        """Call when an operation was added, replaced or removed whose whole tag this is, or whose tag matches it."""
        exact = re.compile(re.escape(pattern)) if isinstance(pattern, str) else pattern
        return self._callbacks.add(callback, TagsLike(exact))

    # Files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the operations to a JSON file, from which `load` makes the same model."""
        write_whole(as_file_path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The bytes that `save` writes."""
        with self._lock:
            return files.encoded([(tag, self._history.operation(tag)) for tag in self._history.tags])

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        kinds: Iterable[type[Any]] = (),
        max_bytes: int = files.MAX_BYTES,
    ) -> ArticulationModel:
        """Load a model from a file.

        Args:
            path: The file that `save` wrote.
            kinds: Operations and joints of your own that the file may name; nothing else is ever looked up.
            max_bytes: A larger file is refused.

        Raises:
            InvalidModelFile: With the place in the file of what is wrong.
        """
        return cls.from_bytes(read_bytes(as_file_path(path), max_bytes, InvalidModelFile), kinds=kinds, file=str(path))

    @classmethod
    def from_bytes(
        cls, data: bytes, *, kinds: Iterable[type[Any]] = (), file: str = "the given bytes"
    ) -> ArticulationModel:
        """Load a model from the result of `to_bytes`; errors name it `file`."""
        model = cls()
        steps = files.decoded(data, kinds, file)
        try:
            model.edit([Apply(tag, operation) for tag, operation in steps])
        except Exception as error:
            raise files.refused_replay(file, steps, error) from error
        model._history.forget_edits()
        return model

    def digest(self) -> str:
        """A checksum, equal for models of equal operations in equal order."""
        return files.digest(self.to_bytes())

    def _repr_html_(self) -> str:
        joints = self.joints()
        rows = [
            ("links", len(self.links())),
            ("joints", len(joints)),
            ("variables", len(self.variables())),
            ("constraints", len(self.constraints())),
            ("operations", len(self.tags)),
        ]
        lines = (f"{path}  [{joint.kind or type(joint).__name__}]" for path, joint in joints.items())
        return card("Articulation model", facts(rows), listing(lines, len(joints), most=20))

    def _added(self, robots: Sequence[tuple[RobotDescription, str]]) -> tuple[ArticulatedObject, ...]:
        named = [(robot, as_path(name)) for robot, name in robots]
        edits = [edit for robot, name in named for edit in _robot_edits(robot, name)]
        self._notified(lambda: self._edited_anew(edits, [f"create {name}" for _, name in named]))
        return tuple(self._of_kind(name, ArticulatedObject) for _, name in named)

    def _edited_anew(self, edits: Sequence[Edit], tags: Sequence[str]) -> ModelChange:
        """Edit, unless an operation has one of these tags already."""
        taken = next((tag for tag in tags if tag in self._history), None)
        if taken is not None:
            raise TagTaken(taken)
        return self._history.edit(edits)

    def _link(self, path: str) -> Link:
        return self._of_kind(path, Link)

    def _current_loops(self) -> Loops:
        if self._loops is None:
            self._loops = Loops(self.closures().values())
        return self._loops

    def _of_kind(self, path: str, kind: type[V]) -> V:
        value = value_at(path, self._history.values)
        if not isinstance(value, kind):
            raise WrongValue(path, kind.__name__, type(value).__name__)
        return value

    def _notified(self, edit: Callable[[], ModelChange]) -> ModelChange:
        with self._lock:
            change = edit()
            self._integrator = None
            self._poses.forget(frozenset(change.before) - frozenset(change.after))
            if any(isinstance(value, Closure) for value in (*change.before.values(), *change.after.values())):
                self._loops = None
            self._callbacks.put(change)
        self._callbacks.notify(print_error if self.on_error is None else self.on_error)
        return change


def _robot_edits(robot: RobotDescription, name: str) -> list[Edit]:
    """Return the edits that add a robot, and close its kinematic loops."""
    edits = edits_of(robot, name)
    if not robot.closures:
        return edits
    alone = ArticulationModel()
    alone.edit(edits)
    return [*edits, *closing_edits(robot, name, PoseCache(alone.links().__getitem__).in_common)]


def _only(values: Mapping[str, Any], kind: type[V]) -> dict[str, V]:
    return {path: value for path, value in values.items() if isinstance(value, kind)}


def _variables(given: Iterable[VariableLike]) -> frozenset[Variable]:
    return frozenset(map(as_variable, [given] if isinstance(given, Variable | str) else given))


def _check(values: Overlay[str, Any], changed: Sequence[str]) -> None:
    check_links(values, changed)
    check_loops(values, changed)
