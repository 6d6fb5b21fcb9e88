"""Models in the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from armillary._world._arguments import as_text
from armillary._world._scene import WorldWithScene
from armillary.errors import InvalidArgument, LoopError
from armillary.relations._storage import as_stamp
from armillary.transforms import check_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from armillary._core import NodeId
    from armillary._world._following import Followers
    from armillary._world._mount import Mount
    from armillary.articulation import ArticulationModel

_ROLES = {"visual": ("visual",), "collision": ("collision",), "both": ("visual", "collision"), "none": ()}


class MountingWorld(WorldWithScene):
    """A world in which models stand."""

    _mounts: tuple[Mount, ...] = ()

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

        Raises:
            MissingMeshes: Names every file that is not there; nothing is mounted.
        """
        from armillary._world._mount import Mount, Standing  # noqa: PLC0415  (a world without models needs no casadi)
        from armillary.articulation import ArticulationModel  # noqa: PLC0415

        if not isinstance(model, ArticulationModel):
            raise InvalidArgument(f"An ArticulationModel is mounted, got {model!r}. Load one, or make one.", model)
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

    def _copy_mounts(self, other: MountingWorld) -> None:
        """Models that stand in another world stand here as copies, one for each."""
        models = {id(mount.model): mount.model.copy() for mount in other._mounts}
        self._mounts = tuple(mount.copied(self, models[id(mount.model)]) for mount in other._mounts)
        self._has_loops = other._has_loops

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The models that stand in this world, in the order they came."""
        return self._mounts

    def _with_dependents(
        self, joints: Mapping[str, float], at: int, covariance: ArrayLike | None
    ) -> tuple[dict[str, float], ArrayLike | None]:
        """What is said of joints, and of those that follow from them; what follows has no error of its own."""
        complete = self._completed(joints, at)
        added = len(complete) - len(joints)
        if covariance is None or not added:
            return complete, covariance
        return complete, np.pad(self._as_joint_covariance(covariance, len(joints)), (0, added))

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
            for followers in self._all_followers():
                followers.complete_series(self, columns, stamps[order])
        except LoopError as error:
            error.row = None if error.row is None else int(order[error.row])
            raise
        filled = np.empty((len(stamps), len(columns)))
        filled[order] = np.column_stack(list(columns.values()))
        added = len(columns) - len(names)
        if velocities is None or not added:
            return list(columns), filled, velocities
        return list(columns), filled, np.pad(np.asarray(velocities), ((0, 0), (0, added)), constant_values=np.nan)

    def _completed(self, joints: Mapping[str, float], at: int) -> dict[str, float]:
        complete = dict(joints)
        for followers in self._all_followers():
            followers.complete(self, complete, at)
        return complete

    def _all_followers(self) -> list[Followers]:
        return [followers for mount in self._mounts for followers in mount.followers]

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
