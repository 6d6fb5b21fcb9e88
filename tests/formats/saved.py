"""Small worlds, scenes, models and extrinsics as the first version of the file formats wrote them, and their answers.

python tests/formats/saved.py --write    writes all files anew, with the build that runs it

The files here were written by commit 230c4c0 and stay as they are: users have such files. A later version gets a folder
of its own beside them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

HERE = Path(__file__).resolve().parent
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

from armillary import Box, Mesh, PointCloud, Sphere, Transform, VoxelGrid, World, seconds  # noqa: E402
from armillary.articulation import ArticulationModel, position  # noqa: E402
from armillary.articulation.mechanisms import four_bar, locking_compartment, piston  # noqa: E402
from armillary.scene import AddBody, Fix, NodeId, Prefer  # noqa: E402
from corpus.answers import number, transform, world_answers  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION_1 = HERE / "version_1"
ANSWERS = VERSION_1 / "answers.json"
NOW_NS = seconds(20)
ABOUT_STORIES = ("pairs", "twists", "past", "places", "find", "nodes")  # they ask for what is not in these files
DOOR = """
<robot name="door">
  <link name="frame"/>
  <link name="panel"><visual><geometry><box size="0.8 0.02 2"/></geometry></visual></link>
  <link name="bolt"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="hinge" type="revolute"><parent link="frame"/><child link="panel"/><origin xyz="0.1 0 0"/>
    <axis xyz="0 0 1"/><limit lower="0" upper="1.5" velocity="2" effort="1"/></joint>
  <joint name="push" type="prismatic"><parent link="panel"/><child link="bolt"/><origin xyz="0.8 0 1"/>
    <axis xyz="1 0 0"/><limit lower="-0.1" upper="0.1" velocity="1" effort="1"/>
    <mimic joint="hinge" multiplier="-0.1" offset="0.02"/></joint>
</robot>
"""


def placed(x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Transform:
    return Transform.from_xyz_rpy(xyz=(x, y, 0.25), rpy=(0.0, 0.1, yaw))


def node(number: int) -> NodeId:
    return NodeId(f"c{number:07d}-0000-4000-8000-000000000000")


class Clock:
    """Goes on by a step each time somebody looks at it."""

    def __init__(self, ns: int) -> None:
        self.ns = ns

    def __call__(self) -> int:
        self.ns += 1000
        return self.ns


# -- Worlds


def frames_world() -> World:
    """Fixed and sampled relations, since always and from an instant on, rivals, bodies, preferences, an attachment."""
    world = World("robot", history=seconds(5), clock=Clock(seconds(10)), thin_m=1e-3, thin_rad=1e-3)
    world.fix(of="base", in_frame="map", transform=placed(3, 4, 0.7))
    world.fix(of="camera", in_frame="base", transform=placed(0.1, 0, 0.4), covariance=1e-4 * np.eye(6))
    world.fix(of="lidar", in_frame="base", transform=placed(0.2), source="calibration")
    for t in (6, 7, 8):
        world.fix(of="cup", in_frame=("table", "shelf", "base")[t - 6], transform=placed(t), at=seconds(t))
    world.fix(of="table", in_frame="map", transform=placed(1, 1))
    world.add_body("head", frames=["eye_left", "eye_right"])
    world.fix(of="eye_right", in_frame="eye_left", transform=placed(0, 0.06))
    world.add_frame("lonely")
    for source in ("left", "right"):
        world.set_pose(of="ball", in_frame="base", transform=placed(1), at=seconds(8), source=source)
        world.fix(of="sign", in_frame="map", transform=placed(len(source)), source=source)
    world.prefer(of="ball", source="right")
    world.prefer(of="sign", source="left")
    world.keep(of="ball", in_frame="base", source="left", history=seconds(60), max_samples=7)
    still = {"linear": (0, 0, 0), "angular": (0, 0, 0), "expressed_in": "gyro"}
    world.set_twist(of="gyro", relative_to="base", **still, at=seconds(8), source="gyro")
    world.keep_twists(of="gyro", relative_to="base", source="gyro", max_samples=3)
    world.attach(of="ball", to="camera", at=seconds(8.5), source="right", outside="hold")
    world.attach(of="cup", to="camera", at=seconds(9))
    return world


def reset_world() -> World:
    """A time epoch began after some assertions."""
    world = World("again", clock=Clock(seconds(10)))
    world.fix(of="cup", in_frame="map", transform=placed(1), at=seconds(5))
    world.scene.add_transform(parent=world.scene.root, id=node(1), transform=placed(2), at=seconds(6))
    world.reset_time(to=seconds(1))
    world.fix(of="cup", in_frame="tray", transform=placed(3), at=seconds(12))
    return world


def mounted_world() -> World:
    """A model with shapes, one with a closed loop, and the values of their joints."""
    world = World("kitchen", clock=Clock(seconds(10)))
    door = ArticulationModel()
    door.load_urdf(DOOR, name="door")
    world.mount(door, in_frame="map", shapes="both")
    bar = ArticulationModel()
    bar.edit(four_bar("bar"))
    world.fix(of="stand", in_frame="map", transform=placed(2, 2, 0.3))
    world.mount(bar, in_frame="stand", prefix="stand/", shapes="none")
    world.set_joints({"door/hinge": 0.5}, velocities={"door/hinge": 0.1}, at=seconds(9))
    world.set_joints({"stand/crank": 0.8}, at=seconds(9))
    return world


def nodes_world() -> World:
    """All kinds of nodes, several parents, levels, arrays, what was removed, another agent's root."""
    world = World("scene", clock=Clock(seconds(10)))
    scene, at = world.scene, seconds(5)
    scene.add_transform(parent=scene.root, id=node(1), transform=placed(3), at=None, attributes={"name": "shelf"})
    scene.add_transform(parent=scene.root, id=node(2), transform=placed(1, 2, 0.5), at=at, attributes={"mass": 2.5})
    scene.add_uncertain_transform(
        parent=node(1), id=node(3), transform=placed(0.5), covariance=1e-3 * np.eye(6), at=at, attributes={"seen": True}
    )
    scene.add_group(parent=node(1), id=node(4), attributes={"tags": ["a", 1, False]}, at=at)
    scene.add_parent(node(4), node(2), at=seconds(6))
    scene.add_geometry(parent=node(4), id=node(5), shape=Box(size_m=(1.0, 0.3, 0.02)))
    points = PointCloud(np.arange(30.0).reshape(10, 3), intensity=np.arange(10.0))
    scene.add_geometry(parent=node(4), id=node(6), shape=points, levels=[Sphere(2.0)], at=at)
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    scene.add_geometry(parent=node(3), id=node(7), shape=Mesh(corners, triangles), at=at)
    grid = VoxelGrid(np.arange(8).reshape(2, 2, 2) % 3 == 0, 0.1, origin=(0.1, 0.2, 0.3))
    scene.add_geometry(parent=node(2), id=node(8), shape=grid, at=at)
    scene.add_connection(parent=scene.root, id=node(9), sources=[node(1)], targets=[node(2), node(3)], start=at)
    scene.add_remote_root(node(10), attributes={"name": "arm"})
    scene.add_group(parent=node(10), id=node(11), attributes={"name": "hand"})
    scene.add_remote_root(node(12))
    scene.add_parent(node(12), node(1))
    scene.add_group(parent=node(1), id=node(13))
    scene.remove(node(13))
    world.fix(of="table", in_frame="map", transform=placed(5))
    scene.add_transform(parent="table", id=node(14), transform=placed(0, 0.5), at=None, attributes={"name": "plate"})
    scene.set_attributes("table", {"material": "oak"})
    scene.set_attributes(node(2), {"mass": 3.5, "name": "cart"}, at=seconds(7))
    return world


def merged_world() -> World:
    """Conflicting assertions of two worlds, of which some are inactive."""
    clock = Clock(seconds(10))
    one, other = World("one", clock=clock), World("other", clock=clock, authority=1)
    one.fix(of="a", in_frame="b", transform=placed(1))
    other.fix(of="b", in_frame="a", transform=placed(2))
    one.apply([AddBody("gun", ["tip", "base"])])
    other.apply([AddBody("cart", ["tip", "wheel"])])
    one.fix(of="c", in_frame="a", transform=placed(3), source="x")
    other.fix(of="c", in_frame="map", transform=placed(4), source="y")
    other.apply([Fix(of="d", in_frame="map", transform=placed(5), at=seconds(6)), Prefer(of="c", source="y")])
    one.scene.add_group(parent=one.scene.root, id=node(1), attributes={"by": "one"})
    other.scene.add_group(parent=other.scene.root, id=node(2), attributes={"by": "other"})
    one.merge(other.scene.changes())
    return one


WORLDS: dict[str, Callable[[], World]] = {
    "frames": frames_world,
    "reset": reset_world,
    "mounted": mounted_world,
    "nodes": nodes_world,
    "merged": merged_world,
}


# -- Models


def door_model() -> ArticulationModel:
    model = ArticulationModel()
    model.load_urdf(DOOR, name="door")
    return model


def compartment_model() -> ArticulationModel:
    model = ArticulationModel()
    model.edit(locking_compartment("locker"))
    return model


def loops_model() -> ArticulationModel:
    """Two closed loops."""
    model = ArticulationModel()
    model.edit(four_bar("bar"))
    model.edit(piston("pump"))
    return model


MODELS: dict[str, tuple[Callable[[], ArticulationModel], tuple[str, ...]]] = {
    "door": (door_model, ("door/hinge",)),
    "compartment": (compartment_model, ("locker/door", "locker/handle")),
    "loops": (loops_model, ("bar/crank", "pump/crank")),
}
"""How to make it, and its driving joints."""


def model_answers(name: str, model: ArticulationModel) -> dict[str, Any]:
    """Its parts, and where they are in two configurations."""
    found: dict[str, Any] = {"digest": model.digest(), "tags": list(model.tags), "paths": list(model.paths())}
    found |= {"links": list(model.links()), "joints": list(model.joints())}
    found["variables"] = sorted(map(str, model.variables()))
    return found | {f"poses {value}": _link_poses(model, MODELS[name][1], value) for value in (0.1, 0.3)}


def _link_poses(model: ArticulationModel, drivers: tuple[str, ...], value: float) -> dict[str, Any]:
    solved = model.solve({position(driver): value for driver in drivers})
    poses = {path: model.pose(path) for path in model.links()}
    return {
        path: transform(pose.evaluate({each: solved[each] for each in pose.free_variables}))
        for path, pose in poses.items()
    }


# -- Files and what they answer


def loaded_world(path: Path) -> World:
    return World.load(path, clock=lambda: NOW_NS)


def world_with_scene(path: Path) -> World:
    world = World("reader", clock=lambda: NOW_NS)
    world.scene.load(path)
    return world


def world_with_extrinsics(path: Path) -> tuple[World, list[str]]:
    world = World("reader", clock=lambda: NOW_NS)
    return world, list(world.load_extrinsics(path))


def answers_of(folder: Path) -> dict[str, Any]:
    """Of every file of a folder."""
    found: dict[str, Any] = {}
    for name in WORLDS:
        with loaded_world(folder / f"{name}.world.json") as world:
            found[f"{name}.world.json"] = everything(world)
    with world_with_scene(folder / "nodes.scene.json") as world:
        found["nodes.scene.json"] = everything(world)
    world, names = world_with_extrinsics(folder / "frames.extrinsics.json")
    with world:
        found["frames.extrinsics.json"] = everything(world) | {"names": names}
    for name in MODELS:
        found[f"{name}.model.json"] = model_answers(name, ArticulationModel.load(folder / f"{name}.model.json"))
    return json.loads(json.dumps(found))


def everything(world: World) -> dict[str, Any]:
    """What a world answers at instants of these files."""
    asked_s = (4, 6.5, 8.7, 9, 13)
    groups = world_answers(world, "saved", [seconds(t) for t in asked_s])
    content = {name: group for name, group in groups.items() if name not in ABOUT_STORIES}
    scene = world.scene
    nodes = [node(i) for i in range(20) if node(i) in scene]
    content["known nodes"] = {str(each): _of_node(scene, each) for each in nodes}
    content["spheres"] = {str(each): _sphere(scene, each) for each in nodes}
    return content


def _of_node(scene: Any, each: NodeId) -> dict[str, Any]:
    facts: dict[str, Any] = {"kind": scene.kind(each), "parents": sorted(map(str, scene.parents(each)))}
    facts |= {"attributes": dict(scene.attributes(each)), "stamp": scene.stamp(each), "frame": scene.frame(each)}
    if facts["kind"] == "geometry":
        facts["shapes"] = [repr(shape) for shape in scene.levels(each).shapes]
    return facts


def _sphere(scene: Any, each: NodeId) -> list[float] | None:
    found = scene.bounding_sphere(each, at=NOW_NS) if scene.kind(each) == "geometry" else None
    return None if found is None else [number(value) for value in (*found.center, found.radius_m)]


def write(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, make in WORLDS.items():
        with make() as world:
            world.save(folder / f"{name}.world.json")
    with nodes_world() as world:
        world.scene.save(folder / "nodes.scene.json")
    with frames_world() as world:
        world.save_extrinsics(folder / "frames.extrinsics.json")
    for name, (make_model, _) in MODELS.items():
        make_model().save(folder / f"{name}.model.json")
    (folder / "answers.json").write_text(json.dumps(answers_of(folder), indent=0, sort_keys=True) + "\n")


if __name__ == "__main__" and "--write" in sys.argv:
    write(VERSION_1)
