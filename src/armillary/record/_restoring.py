"""What a saved world says, said again to a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

from armillary.errors import ArmillaryError
from armillary.record._format import SETTINGS
from armillary.record._reading import SavedFixed, SavedJoint, SavedWorld
from armillary.scene import Fix
from armillary.scene.files import Field, LoadedScene, checked, load_into

__all__ = ["restore"]


def restore(saved: SavedWorld, make: Callable[..., Any]) -> Any:
    """The world; `make` takes the arguments of `World`. What it refuses is refused with the place in the file."""
    world = _made(saved, make)
    try:
        for field, step in _steps(saved, world):
            checked(field, step)
    except BaseException:
        world.close()
        raise
    return world


def _made(saved: SavedWorld, make: Callable[..., Any]) -> Any:
    settings = saved.top.at("settings")
    try:
        return make(**saved.settings)
    except (ArmillaryError, TypeError, ValueError, OverflowError) as error:
        alone = [key for key, argument in SETTINGS.items() if _is_refused(make, {argument: saved.settings[argument]})]
        blamed = settings.at(alone[0]) if alone else settings
        raise blamed.refused(str(error).rstrip(".")) from None


def _is_refused(make: Callable[..., Any], setting: dict[str, Any]) -> bool:
    try:
        make(**setting).close()
    except (ArmillaryError, TypeError, ValueError, OverflowError):
        return True
    return False


def _steps(saved: SavedWorld, world: Any) -> Iterator[tuple[Field, Callable[[], Any]]]:
    yield saved.top.at("time_epoch"), partial(_begin_anew, world, saved.time_epoch)
    yield saved.top.at("frames"), partial(world.add_frame, *saved.frames)
    for mount in saved.mounts:
        yield mount.field, partial(world._mount_again, mount.model, mount.shapes, mount.standing)  # noqa: SLF001
    for body in saved.bodies:
        yield body.field, partial(world.add_body, body.name, frames=body.frames)
    yield from _placing(saved, world)
    for relation in saved.relations:
        yield relation.field, partial(relation.say, world)
    if saved.scene is not None:
        yield saved.top.at("scene"), partial(_load_scene, world, saved.scene)
    for together in _said_together(saved.joints):
        yield together[0].field, partial(_set_joints, world, together)


def _placing(saved: SavedWorld, world: Any) -> Iterator[tuple[Field, Callable[[], Any]]]:
    """In the order of their instants: a frame leaves one parent before something else may hang there.

    What is fixed comes first: where there are no samples yet, it would take the place of what awaits them.
    """
    for fixed in sorted(saved.fixed, key=lambda said: (said.pose.at is not None, said.pose.at or 0)):
        yield fixed.field, partial(_fix, world, fixed)
    for sampled in sorted(saved.sampled, key=lambda said: said.since):
        yield sampled.field, partial(sampled.say, world)


def _load_scene(world: Any, scene: LoadedScene) -> None:
    """A node may stand for a frame that was removed: it comes with the node, and goes."""
    known = {*world.frames(), world.root_frame}
    load_into(world, world.scene.apply, scene)
    named = [name for name in world.frames() if name not in known and world._is_named(name)]  # noqa: SLF001
    for name in named:
        world.remove_frame(name)


def _begin_anew(world: Any, times: int) -> None:
    for _ in range(times):
        world.reset_time()


def _fix(world: Any, said: SavedFixed) -> None:
    names: dict[str, Any] = {"of": said.of, "in_frame": said.in_frame, "source": said.source, "at": said.pose.at}
    if said.is_unsure:
        world.apply([Fix(**names, transform=said.pose.transform, is_unsure=True)])
    else:
        world.fix(**names, transform=said.pose.transform, covariance=said.pose.covariance)


def _said_together(joints: tuple[SavedJoint, ...]) -> Iterator[list[SavedJoint]]:
    def moment(joint: SavedJoint) -> tuple[str, int]:
        return joint.source, joint.at

    for _, together in groupby(sorted(joints, key=moment), key=moment):
        yield list(together)


def _set_joints(world: Any, together: list[SavedJoint]) -> None:
    world.set_joints(
        {joint.name: joint.position for joint in together},
        velocities={joint.name: joint.velocity for joint in together if joint.velocity is not None},
        at=together[0].at,
        source=together[0].source,
    )
