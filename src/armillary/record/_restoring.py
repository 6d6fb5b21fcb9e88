"""What a saved world says, said again to a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

from armillary.errors import ArmillaryError
from armillary.record._format import SETTINGS
from armillary.record._reading import SavedFixed, SavedJoint, SavedMount, SavedWords, SavedWorld
from armillary.record._relations import Saying
from armillary.scene import Fix, RemoveFrame
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
        yield mount.field, partial(_mount, world, mount)
    for body in saved.words.bodies:
        yield body.field, partial(body.say, world)
    yield from _placing(saved.words, world)
    for word in (*saved.words.measured, *saved.words.preferences):
        yield word.field, partial(word.say, world)
    if saved.scene is not None:
        yield saved.top.at("scene"), partial(_load_scene, world, saved.scene)
    for last in saved.said_last:
        yield last.field, partial(_insist, world, last)
    for kept in saved.kept:
        yield kept.field, partial(kept.say, world)
    for together in _said_together(saved.joints):
        yield together[0].field, partial(_set_joints, world, together)


def _placing(words: SavedWords, world: Any) -> Iterator[tuple[Field, Callable[[], Any]]]:
    """In the order of their instants: a frame leaves one parent before something else may hang there.

    What is fixed comes first: where there are no samples yet, it would take the place of what awaits them.
    """
    for fixed in sorted(words.fixed, key=lambda said: (said.pose.at is not None, said.pose.at or 0)):
        yield fixed.field, partial(_fix, world, fixed)
    for sampled in sorted(words.sampled, key=lambda said: said.change.at):  # type: ignore[attr-defined]  # AddRelation
        yield sampled.field, partial(sampled.say, world)


def _insist(world: Any, word: Saying | SavedFixed) -> None:
    """Where it contradicts what counts, it is left out, as what copies said without one another."""
    change = _fix_of(word) if isinstance(word, SavedFixed) else word.change
    world.store.add_unchecked([change])


def _load_scene(world: Any, scene: LoadedScene) -> None:
    """A node may stand for a frame that was removed: it comes with the node, and goes."""
    known = {*world.frames(), world.root_frame}
    load_into(world.store, world.scene.apply, scene)
    named = [name for name in world.frames() if name not in known and world.store.is_named(name)]
    if named:
        world.store.add_unchecked([RemoveFrame(named)])


def _begin_anew(world: Any, times: int) -> None:
    for _ in range(times):
        world.reset_time()


def _fix(world: Any, said: SavedFixed) -> None:
    fix = _fix_of(said)
    if said.is_unsure:
        world.apply([fix])
    else:
        world.fix(**_edge(said), transform=fix.transform, covariance=fix.covariance, recalibrate=fix.recalibrate)


def _fix_of(said: SavedFixed) -> Fix:
    here, spread = said.pose.transform, said.pose.covariance
    how: dict[str, Any] = {"is_unsure": said.is_unsure, "recalibrate": said.recalibrate}
    return Fix(**_edge(said), transform=here, covariance=spread, **how)


def _edge(said: SavedFixed) -> dict[str, Any]:
    return {"of": said.of, "in_frame": said.in_frame, "source": said.source, "at": said.pose.at}


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


def _mount(world: Any, mount: SavedMount) -> None:
    from armillary.articulation.mount import MountOptions  # noqa: PLC0415  (a world without models needs no casadi)

    world.models.restore(mount.model, MountOptions(**mount.standing), mount.shapes)
