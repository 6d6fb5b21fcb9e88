"""The things of a scene are printed as one short line, with their values and no addresses."""

from __future__ import annotations

import pytest

from armillary import World, seconds
from armillary.fusion.policies import by_attribute, by_source
from armillary.scene import (
    PathCollector,
    SpatialDomain,
    SubgraphChecker,
    Visitor,
    absent,
    between,
    contains,
    exists,
    greater,
    greater_equal,
    less,
    less_equal,
)
from armillary.view import tree_svg
from unit.kit import FakeClock, moved

CONDITIONS = (
    "exists()",
    "absent()",
    "less(2)",
    "less_equal(2)",
    "greater(0.5)",
    "greater_equal(0)",
    "between(1, 2)",
    "contains('red')",
)
MADE = (exists(), absent(), less(2), less_equal(2), greater(0.5), greater_equal(0), between(1, 2), contains("red"))


@pytest.fixture
def scene():
    return World(clock=FakeClock(seconds(2))).scene


@pytest.fixture
def cup(scene):
    return scene.add_group(parent=scene.root, attributes={"name": "cup"})


@pytest.mark.parametrize(("condition", "text"), list(zip(MADE, CONDITIONS, strict=True)), ids=CONDITIONS)
def test_a_condition_is_shown_as_it_is_made(condition, text):
    assert repr(condition) == text


class TestAVisitedNode:
    def test_is_shown_with_its_kind_and_attributes(self, scene, cup):
        seen = []
        scene.traverse(lambda node: seen.append(repr(node)))
        assert seen == ["VisitedNode(group 'map')", f"VisitedNode(group {str(cup)[:8]}, {{'name': 'cup'}})"]

    def test_is_as_short_deep_down(self, scene, cup):
        lengths = set()

        class Lengths(Visitor):
            def visit(self, node):
                lengths.add(len(repr(node)))

        for _ in range(50):
            cup = scene.add_group(parent=cup)
        scene.traverse(Lengths(), under=scene.parents(cup)[0])
        assert len(lengths) == 1


class TestAVisitor:
    def test_is_shown_with_how_much_it_found(self, scene, cup):
        shown = [repr(scene.traverse(visitor, under=cup)) for visitor in (SpatialDomain(), PathCollector())]
        assert shown == ["SpatialDomain(at=LATEST, 1 paths)", "PathCollector(1 paths)"]

    def test_is_shown_with_what_it_looks_for(self):
        assert repr(SubgraphChecker("map")) == "SubgraphChecker(of='map', number_of_paths=0)"

    def test_of_ones_own_is_shown_alike(self):
        class Masses(Visitor):
            def __init__(self):
                self.total_kg, self._last = 0.3, None

        assert repr(Masses()) == "Masses(total_kg=0.3)"


class TestAPolicy:
    def test_is_shown_with_what_it_uses(self, scene):
        assert repr(by_source("left", "right")) == "<policy: paths by the source 'left' or 'right', then unique>"
        tele = by_attribute(scene, {"lens": "tele"}, then="latest")
        assert repr(tele) == "<policy: paths by relations with {'lens': 'tele'}, then latest>"

    def test_within_a_policy_too(self):
        nested = by_source("left", then=by_source("right", then="fuse"))
        assert repr(nested).endswith("then <policy: paths by the source 'right', then fuse>>")

    def test_answers_with_a_judgement_that_counts(self):
        world = World()
        for source in ("left", "right"):
            world.set_pose(of="cup", in_frame="map", transform=moved(1), at=seconds(1), source=source)
        pose = world.pose(of="cup", in_frame="map", policy="latest")
        assert repr(pose.judgement) == "Judgement(sampled: 1 of 2 paths used, 0 lost)"


class TestTheRest:
    def test_of_a_past_scene_is_its_size_and_instant(self, scene, cup):
        assert repr(scene.as_of(seconds(2.5))) == "PastScene(2 nodes, at 2.500 s)"

    def test_of_a_rule_is_its_window(self, scene, cup):
        rule = scene.expire_always(older_than=seconds(5), under=cup)
        assert repr(rule) == f"ExpiryRule(older than 5 s, under {cup!r})"

    def test_of_a_block_is_its_scene_and_settings(self, scene):
        block = scene.load_block("voxel_subsample")
        block.configure(voxel_size_m=0.5)
        assert repr(block).startswith("VoxelSubsample(Scene(1 nodes), ")
        assert "voxel_size_m=0.5" in repr(block)


class TestATree:
    @pytest.fixture
    def world(self):
        return World(clock=FakeClock(seconds(2)))

    @pytest.fixture
    def table(self, world):
        attributes = {"name": "table"}
        return world.scene.add_transform(parent=world.scene.root, transform=moved(1), at=None, attributes=attributes)

    def test_names_the_nodes(self, world, table):
        assert str(world.tree()) == f"map\n└── table ({str(table)[:8]})  [fixed]"

    def test_is_drawn_with_their_names(self, world, table):
        svg = tree_svg(world, nodes=True)
        assert f">table ({str(table)[:8]})<" in svg
        assert str(table) not in svg

    def test_knows_that_a_name_may_be_a_number_or_missing(self, world, table):
        world.scene.set_attributes(table, {"name": 7})
        assert str(world.tree()) == f"map\n└── {table}  [fixed]"

    def test_knows_the_names_of_nodes_that_are_gone(self, world, table):
        world.scene.remove(table, at=seconds(2))
        assert str(world.tree(seconds(1))) == f"map\n└── table ({str(table)[:8]})  [fixed]"


def test_a_change_record_shows_its_kind_node_and_author():
    with World("one") as world:
        cup = world.scene.add_group(parent=world.scene.root)
        world.fix(of="lens", in_frame="map", transform=moved(1))
        world.reset_time()
        assert [repr(record) for record in world.scene.changes()] == [
            f"ChangeRecord(add_node {str(cup)[:8]} by 'one', 1)",
            "ChangeRecord(assert 'lens' by 'one', 2)",
            "ChangeRecord(reset_time by 'one', 3)",
        ]
