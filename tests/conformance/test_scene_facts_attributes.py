"""Attributes and searching them, held against the facts of the paper's library."""

import re

import pytest

from armillary import seconds
from armillary.errors import InvalidArgument, InvalidAttribute
from armillary.scene import exists
from conformance.things import RecordedChanges


@pytest.fixture
def cup(scene):
    return scene.add_group(parent=scene.root, attributes={"name": "cup", "color": "red"})


@pytest.fixture
def plate(scene):
    return scene.add_group(parent=scene.root, attributes={"name": "plate", "color": "red"})


class TestMatching:
    def test_is_by_key_and_value(self, scene, cup, plate):
        assert scene.find({"name": "cup"}) == [cup]
        assert scene.find({"color": "cup"}) == []

    def test_wants_everything_at_once(self, scene, cup, plate):
        assert scene.find({"color": "red"}) == [cup, plate]
        assert scene.find({"color": "red", "name": "plate"}) == [plate]
        assert scene.find({"color": "red", "name": "fork"}) == []

    def test_of_patterns_is_of_the_whole_text(self, scene, cup, plate):
        assert scene.find({"name": re.compile("^.*")}) == [cup, plate]
        assert scene.find({"name": re.compile("cu")}) == []

    def test_does_not_take_a_key_for_a_longer_one(self, scene):
        scene.add_group(parent=scene.root, attributes={"name123": "cup"})
        assert scene.find({"name": "cup"}) == []

    def test_of_lists_minds_their_order(self, scene):
        node = scene.add_group(parent=scene.root, attributes={"colors": ["red", "blue"]})
        assert scene.find({"colors": ["red", "blue"]}) == [node]
        assert scene.find({"colors": ["blue", "red"]}) == []

    def test_is_of_the_node_alone(self, scene, cup):
        scene.add_group(parent=cup)
        assert scene.find({"name": "cup"}) == [cup]

    def test_finds_a_node_once_however_it_is_reached(self, scene, cup, plate):
        spoon = scene.add_group(parent=cup, attributes={"name": "spoon"})
        scene.add_parent(spoon, plate)
        assert scene.find({"name": "spoon"}) == [spoon]

    def test_under_a_node_counts_the_node_itself(self, scene, cup, plate):
        assert scene.find({"color": "red"}, under=cup) == [cup]


class TestMatchingDiffers:
    def test_by_taking_texts_as_they_are_a1(self, scene, cup):
        starred = scene.add_group(parent=scene.root, attributes={"name": "*"})
        assert scene.find({"name": "*"}) == [starred]
        assert scene.find({"name": exists()}) == [cup, starred]

    def test_by_exact_keys_a2(self, scene, cup):
        assert scene.find({".*": "cup"}) == []

    def test_by_pairs_without_an_order_a3(self, scene, cup):
        assert scene.find({"color": "red", "name": "cup"}) == scene.find({"name": "cup", "color": "red"}) == [cup]

    def test_by_one_value_for_a_key_which_may_be_a_list_a4(self, scene, cup):
        scene.set_attributes(cup, {"seen by": ["left", "right"]})
        assert scene.attributes(cup)["seen by"] == ["left", "right"]

    def test_by_finding_everything_where_nothing_is_asked_a5(self, scene, cup, plate):
        assert scene.find({}) == [scene.root, cup, plate]

    def test_by_patterns_that_python_has_read_a6(self, scene, cup):
        with pytest.raises(re.error):
            scene.find({"name": re.compile("(")})

    @pytest.mark.parametrize("value", ["three", 3, 3.5, True, ["a", 1, 2.5, False]])
    def test_by_values_of_several_types_a7(self, scene, cup, value):
        scene.set_attributes(cup, {"value": value})
        assert scene.find({"value": value}) == [cup]
        assert scene.attributes(cup)["value"] == value

    def test_by_refusing_values_that_hold_others_by_name_a7(self, scene, cup):
        with pytest.raises(InvalidAttribute, match="a text, a number, a truth value, or a list"):
            scene.set_attributes(cup, {"size": {"x": 1}})

    def test_by_giving_the_oldest_first_a8(self, scene, cup, plate):
        """The library went depth first: 1, 3, 2, 4 below 42."""
        late = scene.add_group(parent=cup, attributes={"color": "red"})
        assert scene.find({"color": "red"}) == [cup, plate, late]


class TestSettingDiffers:
    def test_by_leaving_other_keys_alone_a9(self, scene, cup):
        scene.set_attributes(cup, {"color": "blue"})
        assert scene.attributes(cup) == {"name": "cup", "color": "blue"}

    def test_by_removing_what_is_set_to_nothing_a9(self, scene, cup):
        scene.set_attributes(cup, {"color": None})
        assert scene.attributes(cup) == {"name": "cup"}

    def test_by_taking_the_same_again_as_a_change_a10(self, scene, cup):
        before, recorded = scene.digest(), RecordedChanges(scene)
        scene.set_attributes(cup, {"color": "red"})
        assert recorded.counts() == {"SetAttributes": 1}
        assert scene.digest() == before

    def test_by_the_order_of_assertions_a11(self, scene, cup):
        """`at` is since when something is true, and no version number: a late correction of the past is one."""
        scene.set_attributes(cup, {"color": "green"}, at=seconds(1.0))
        scene.set_attributes(cup, {"color": "blue"}, at=seconds(0.5))
        assert scene.attributes(cup)["color"] == "blue"

    def test_by_remembering_earlier_values_a11(self, scene, cup):
        scene.set_attributes(cup, {"color": "green"}, at=seconds(1))
        scene.set_attributes(cup, {"color": "blue"}, at=seconds(2))
        assert scene.as_of(seconds(1.5)).attributes(cup)["color"] == "green"

    def test_by_wanting_a_mapping_in_a_search_a3(self, scene):
        with pytest.raises(InvalidArgument, match="A search takes a mapping"):
            scene.find([("name", "cup")])
