"""Models in the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from armillary._world._arguments import as_text
from armillary._world._scene import WorldWithScene
from armillary.errors import InvalidArgument, LoopError, MountOutdated, UndoneAtModel
from armillary.stamps import LATEST, Latest, as_stamp
from armillary.transforms import JointState, check_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import NodeId
    from armillary._world._following import Followers
    from armillary._world._mount import Mount
    from armillary.articulation import ArticulationModel

_ROLES = {"visual": ("visual",), "collision": ("collision",), "both": ("visual", "collision"), "none": ()}

_OF_A_WORLD = (
    "The scene of another world comes with its changes, merge(other.scene.changes()). What it keeps under a root of "
    "its own is mounted with scene.add_parent(root, node): see docs/scene_recipes.md."
)
_OF_ELSE = "Load one, or make one."


class MountingWorld(WorldWithScene):
    """A world in which models stand."""

    _mounts: tuple[Mount, ...] = ()
    _taken_down: tuple[Mount, ...] = ()  # by undo, for redo

    def mount(
        self,
        model: ArticulationModel,
        *,
        in_frame: str | None = None,
        prefix: str | None = None,
        under: str = "",
        at: int | None = None,
        shapes: Literal["visual", "collision", "both", "none"] = "visual",
        skip_missing: bool = False,
    ) -> Mount:
        """Let a model stand in this world: every link is a frame that its joints move, with its shapes in the scene.

        The link `robot/links/gripper` is the frame `robot/gripper`, the variable `robot/wrist` is the joint
        `robot/wrist`; `set_joints` says where joints are. Later edits of the model are followed, from the instant of
        the world's clock on at which they are made.

        Args:
            model: Stays yours, and can be edited.
            in_frame: Where the links stand that nothing carries. Left out, they hang nowhere until a pose of them is
                set.
            prefix: In place of the name of the thing and its slash; "" for the bare names of links and joints.
            under: Mount only what is at or under this path of the model.
            at: From this instant on [ns]; always, if left out.
            shapes: Which shapes of links become nodes of the scene.
            skip_missing: Leave out shapes whose files are not there, instead of refusing.

        It is one change of structure: `undo` takes it back as a whole. Edits are undone at the model.

        Raises:
            MissingMeshes: Names every file that is not there; nothing is mounted.
        """
        from armillary._world._mount import Mount, Standing  # noqa: PLC0415  (a world without models needs no casadi)
        from armillary.articulation import ArticulationModel  # noqa: PLC0415

        if not isinstance(model, ArticulationModel):
            is_world = isinstance(model, MountingWorld)
            raise InvalidArgument(
                f"An ArticulationModel is mounted, got {model!r}. {_OF_A_WORLD if is_world else _OF_ELSE}", model
            )
        if not isinstance(shapes, str) or shapes not in _ROLES:
            raise InvalidArgument(f"shapes must be one of {', '.join(_ROLES)}, got {shapes!r}.", shapes)
        if not isinstance(skip_missing, bool):
            raise InvalidArgument(f"skip_missing is True or False, got {skip_missing!r}.", skip_missing)
        standing = Standing(
            under=as_text(under, "under"),
            in_frame=None if in_frame is None else check_name(in_frame),
            prefix=None if prefix is None else as_text(prefix, "prefix"),
            since=as_stamp(at),
            roles=_ROLES[shapes],
            skip_missing=skip_missing,
        )
        return self._take(Mount(self, model, standing))

    def _mount_again(
        self, model: ArticulationModel, shapes: Mapping[str, list[NodeId]], standing: Mapping[str, Any]
    ) -> Mount:
        """A model whose shapes are in the scene already, or come there by themselves."""
        from armillary._world._mount import Mount, Standing  # noqa: PLC0415  (see `mount`)

        return self._take(Mount(self, model, Standing(**standing)), shapes)

    def _take(self, mount: Mount, shapes: Mapping[str, list[NodeId]] | None = None) -> Mount:
        self._refuse_taken(mount)
        mount.stand(shapes)
        self._mounts = (*self._mounts, mount)
        return mount

    def _edited(self, mount: Mount, at: int) -> None:
        """A model that stands here was edited, and the world has followed."""

    def _copy_mounts(self, other: MountingWorld) -> None:
        """Models that stand in another world stand here as copies, one for each."""
        both = (*other._mounts, *other._taken_down)
        models = {id(mount.model): mount.model.copy() for mount in both}
        twins = {mount: mount.copied(self, models[id(mount.model)]) for mount in both}
        self._mounts = tuple(twins[mount] for mount in other._mounts)
        self._taken_down = tuple(twins[mount] for mount in other._taken_down)
        self._has_loops = other._has_loops

    def _check_taking_back(self, tag: str, *, again: bool) -> None:
        edited = next((mount for mount in self._mounts if tag == mount.edit_tag), None)
        if edited is not None:
            raise UndoneAtModel(edited.standing.under)
        if again and any(tag == mount.tag and mount.is_outdated for mount in self._taken_down):
            raise MountOutdated(next(mount.standing.under for mount in self._taken_down if tag == mount.tag))

    def _took_back(self, tag: str, *, again: bool) -> None:
        """A mount that was undone waits for redo."""
        meant = next((mount for mount in (*self._mounts, *self._taken_down) if mount.tag == tag), None)
        if meant is None:
            return
        meant.is_standing = again
        both = [mount for mount in (*self._mounts, *self._taken_down) if mount is not meant] + [meant]
        self._mounts = tuple(mount for mount in both if mount.is_standing)
        self._taken_down = tuple(mount for mount in both if not mount.is_standing)

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The models that stand in this world, in the order they came."""
        return self._mounts

    def _with_dependents(
        self, joints: Mapping[str, float], at: int, covariance: ArrayLike | None
    ) -> tuple[dict[str, float], ArrayLike | None]:
        """What is said of joints, and of those that follow from them; what follows has no error of its own."""
        complete = self._completed(joints, at)
        said, added = len(joints), len(complete) - len(joints)
        if covariance is None or not added:
            return complete, covariance
        given = self._as_joint_covariance(covariance, said, with_velocities=True)
        behind_each = [place for start in range(said, len(given) + 1, said) for place in [start] * added]
        return complete, np.insert(np.insert(given, behind_each, 0.0, axis=0), behind_each, 0.0, axis=1)

    def _series_with_dependents(
        self, names: Sequence[str], positions: ArrayLike, at: ArrayLike, velocities: ArrayLike | None
    ) -> tuple[list[str], ArrayLike, ArrayLike | None]:
        """The same for many instants. What is no number, or of another shape, is left for the core to refuse."""
        stamps = np.asarray(at)
        given = _numbers(positions)
        if given.shape != (len(stamps), len(names)) or not np.isfinite(given).all():
            return list(names), positions, velocities
        order = np.argsort(stamps, kind="stable")
        columns = dict(zip(names, given[order].T, strict=True))
        try:
            for followers in self._followers_of_all(stamps):
                followers.complete_series(self, columns, stamps[order])
        except LoopError as error:
            error.row = None if error.row is None else int(order[error.row])
            raise
        filled = np.empty((len(stamps), len(columns)))
        filled[order] = np.reshape(list(columns.values()), (len(columns), len(stamps))).T
        added = len(columns) - len(names)
        if velocities is None or not added:
            return list(columns), filled, velocities
        return list(columns), filled, np.pad(np.asarray(velocities), ((0, 0), (0, added)), constant_values=np.nan)

    def _followers_of_all(self, stamps: NDArray[np.int64]) -> tuple[Followers, ...]:
        """What follows from what at many instants: the same at all of them."""
        found = self._all_followers(int(stamps[0]))
        if any(self._all_followers(int(at)) != found for at in stamps):
            raise InvalidArgument(
                "Some of these samples are said while a loop is closed, and others are not. Say them apart.", stamps
            )
        return found

    def _completed(self, joints: Mapping[str, float], at: int) -> dict[str, float]:
        complete = dict(joints)
        for followers in self._all_followers(at):
            followers.complete(self, complete, at)
        return complete

    def _all_followers(self, at: int) -> tuple[Followers, ...]:  # noqa: ARG002  (loops between models come and go)
        """What follows from what at an instant, each after those that determine its drivers."""
        return tuple(followers for mount in self._mounts for followers in mount.followers)

    def joint(self, name: str, *, at: int | Latest = LATEST, outside: str = "raise") -> JointState:
        state = super().joint(name, at=at, outside=outside)
        if self._has_loops:
            name = check_name(name)
            for followers in self._all_followers(state.stamp):
                state = followers.polished(self, name, state)
        return state

    def _wheels_turned(self, at: int, source: str | None) -> None:
        """Speeds of something that has no position came in: the bases they drive move on."""
        for mount in self._mounts:
            for base in mount.bases:
                base.roll(self, at, source)

    def _refuse_taken(self, mount: Mount) -> None:
        taken = {frame for other in self._mounts for frame in other.frames.values()}
        shared = next((frame for frame in mount.frames.values() if frame in taken), None)
        if shared is not None:
            raise InvalidArgument(
                f"'{shared}' is a link of a model that stands here already. Give another prefix=, or edit that model.",
                shared,
            )


def _numbers(values: ArrayLike) -> NDArray[np.float64]:
    """None, where they are of another kind."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.empty(0)
