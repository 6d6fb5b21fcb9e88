"""The strata of the resolver, one after the other, on the reference: each rule and each defect that it cures."""

from __future__ import annotations

import random

from log_records import ENDED, NO_INCARNATION, ROOT, Author, driven, fixed, node_id, sampled
from resolver_reference import DETACHED, PRESENT, Resolution, stand_in

CAMERA = ("pose", "camera", "robot")


def parent_of(resolved, track, t):
    piece = resolved.active(t)[0].get(track)
    return piece.parent if piece else None


class TestBarriers:
    """S0: removals of frames and beginnings of time."""

    def test_a_removal_ends_what_was_asserted_before_it(self):
        me = Author()
        log = [me.says("camera", fixed("base")), me.sign("remove_frames", names=["camera"])]
        resolved = Resolution(log)
        assert resolved.frames == {"map"}
        assert resolved.needed() == {tuple(log[1]["id"])}

    def test_a_removal_does_not_touch_what_is_newer_whatever_the_order(self):
        peer, me = Author(2, clock=10), Author(1, clock=1000)
        log = [me.says("cup", sampled("map"), 0), peer.sign("remove_frames", names=["cup"])]
        resolved = Resolution(log, [me.row("cup", "map", 3)])
        assert resolved.active(3)[0][("pose", "cup", "robot")].holds

    def test_a_removed_parent_severs_and_nothing_resurfaces(self):
        me = Author()
        log = [me.says("camera", fixed("base"), 5), me.says("camera", fixed("arm"), 5)]
        log.append(me.sign("remove_frames", names=["arm"]))
        resolved = Resolution(log)
        assert parent_of(resolved, CAMERA, 9) is None
        assert (tuple(log[1]["id"]), "parent_removed") in resolved.inactive(9)
        assert "camera" in resolved.frames
        assert "arm" not in resolved.frames

    def test_what_held_last_holds_since_always_after_a_reset(self):
        me = Author()
        log = [
            me.says("camera", fixed("base"), 5),
            me.says("camera", fixed("arm"), 7),
            me.sign("reset_time", clock=None),
        ]
        resolved = Resolution(log)
        assert parent_of(resolved, CAMERA, -100) == "arm"

    def test_what_had_ended_is_gone_after_a_reset(self):
        me = Author()
        log = [me.says("camera", fixed("base"), 5), me.says("camera", ENDED, 7), me.sign("reset_time", clock=None)]
        assert Resolution(log).frames == {"map"}

    def test_an_empty_write_in_an_epoch_that_is_over_brings_the_earlier_one_forward(self):
        me = Author()
        log = [me.says("camera", fixed("base"), 5), me.says("camera", fixed("arm"), 7), me.says("camera", None, 7)]
        log.append(me.sign("reset_time", clock=None))
        assert parent_of(Resolution(log), CAMERA, 0) == "base"

    def test_a_node_that_was_removed_before_a_reset_is_gone_and_others_have_always_been(self):
        me = Author()
        kept, gone = me.adds(node_id(1), at=5), me.adds(node_id(2), at=5)
        log = [kept, gone, me.removes(gone, gone, at=9), me.sign("reset_time", clock=None)]
        now = Resolution(log).containment(-100)
        assert now.alive == {ROOT, node_id(1)}

    def test_the_first_pose_of_a_node_survives_a_reset(self):
        me = Author()
        log = [me.sign("reset_time", clock=None)]
        log.append(me.adds(node_id(1), at=12, x=1.0))
        piece = Resolution(log).active(12)[0]["pose", node_id(1), "robot"]
        assert (piece.parent, piece.holds, piece.rank) == ("map", True, "fallback")


class TestSlots:
    """S1: of two writes of one slot the newer wins."""

    def test_the_newer_write_wins_in_every_order(self):
        early, late = Author(1, clock=10), Author(2, clock=20)
        log = [early.says("camera", fixed("base"), 5), late.says("camera", fixed("arm"), 5)]
        for records in (log, log[::-1]):
            assert parent_of(Resolution(records), CAMERA, 5) == "arm"

    def test_a_write_for_always_forgets_the_earlier_ones_of_its_track(self):
        me = Author()
        log = [me.says("camera", fixed("base"), 5), me.says("camera", fixed("arm"))]
        resolved = Resolution(log)
        assert parent_of(resolved, CAMERA, 9) == "arm"
        assert resolved.needed() == {tuple(log[1]["id"])}

    def test_taking_back_leaves_nothing(self):
        me = Author()
        log = [me.says("camera", fixed("base"), 5), me.says("camera", fixed("arm"), 5), me.says("camera", None, 5)]
        assert Resolution(log).frames == {"map"}

    def test_samples_that_are_older_than_a_write_for_always_do_not_count(self):
        me = Author()
        log = [me.says("cup", sampled("map"), 1)]
        stale = me.row("cup", "map", 50)
        log += [me.says("cup", None), me.says("cup", sampled("map"), 1)]
        assert not Resolution(log, [stale]).active(50)[0]["pose", "cup", "robot"].holds
        assert Resolution(log, [me.row("cup", "map", 50)]).active(50)[0]["pose", "cup", "robot"].holds

    def test_the_root_frame_always_exists(self):
        me = Author()
        log = [me.sign("remove_frames", names=["map"]), me.says("q", fixed("map")), me.says("q", None)]
        assert Resolution(log).frames == {"map"}


class TestContainment:
    """S2: which nodes are alive at an instant."""

    def test_an_edge_that_was_not_seen_survives_a_removal(self):
        me, peer = Author(1), Author(2)
        a, b, cup = me.adds(node_id(1)), me.adds(node_id(2)), me.adds(node_id(3), at=1)
        moved = peer.adds_edge(cup, b, at=4)
        now = Resolution([a, b, cup, moved, me.removes(cup, cup, at=5)]).containment(PRESENT)
        assert now.parents(node_id(3)) == [node_id(2)]

    def test_a_cycle_leaves_the_weaker_edge_out_at_the_instants_of_the_cycle_alone(self):
        me = Author()
        a, b = me.adds(node_id(1), at=0), me.adds(node_id(2), at=0)
        down, up = me.adds_edge(b, a, at=2), me.adds_edge(a, b, at=4)
        resolved = Resolution([a, b, down, up, me.removes(b, down, at=8)])
        assert (tuple(up["id"]), "cycle") in resolved.inactive(5)
        assert (tuple(up["id"]), "cycle") not in resolved.inactive(9)
        assert resolved.containment(9).parents(node_id(1)) == [ROOT, node_id(2)]

    def test_an_id_used_again_is_a_new_incarnation(self):
        me = Author()
        first = me.adds(node_id(1), at=1)
        child = me.adds(node_id(2), node_id(1), at=2, parent_incarnation=first["incarnation"])
        again = me.adds(node_id(1), at=6)
        resolved = Resolution([first, child, me.removes(first, first, at=4), again])
        assert resolved.containment(3).alive >= {node_id(1), node_id(2)}
        assert resolved.containment(PRESENT).alive == {ROOT, node_id(1)}
        assert (tuple(child["id"]), "unreachable") in resolved.inactive(PRESENT)

    def test_two_authors_of_one_remote_root_agree_on_its_kind_and_attributes(self):
        one, two = Author(1, clock=10), Author(2, clock=20)
        shared = [1, 0, 0, "0" * 16, 0]
        roots = [
            a.adds(node_id(1), DETACHED, incarnation=shared, settings=[["k", i]]) for i, a in enumerate((one, two))
        ]
        for records in (roots, roots[::-1]):
            resolved = Resolution(records)
            assert resolved.head(node_id(1), tuple(shared)) == roots[0]
            assert resolved.attributes(node_id(1), tuple(shared), PRESENT) == {"k": 1}
            assert resolved.containment(PRESENT).parents(node_id(1)) == [DETACHED]

    def test_a_stand_in_dies_with_its_frame_and_what_is_in_it(self):
        me = Author()
        table = me.adds_stand_in("table")
        cup = me.adds(node_id(1), stand_in("table"), x=1.0)
        removal = me.sign("remove_frames", names=["table"])
        resolved = Resolution([table, cup, removal])
        assert resolved.containment(PRESENT).alive == {ROOT}
        assert (tuple(cup["id"]), "parent_removed") in resolved.inactive(PRESENT)
        anew = [me.adds_stand_in("table", removal)]
        assert stand_in("table") in Resolution([table, cup, removal, *anew]).containment(PRESENT).alive

    def test_attributes_are_read_as_of_an_instant(self):
        me = Author()
        cup = me.adds(node_id(1), at=0)
        resolved = Resolution([cup, me.sets(cup, at=2, full=True), me.sets(cup, at=6, full=None)])
        seen = [resolved.attributes(node_id(1), tuple(cup["incarnation"]), t) for t in (1, 3, 6)]
        assert seen == [{}, {"full": True}, {}]


class TestRelationsOfNodes:
    """S3: every node has a frame of its own."""

    def test_where_a_group_was_before_it_was_moved_is_answered_from_its_history(self):
        me = Author()
        table, shelf = me.adds(node_id(1), at=0, x=1.0), me.adds(node_id(2), at=0, x=5.0)
        box = me.adds(node_id(3), node_id(1), at=0, parent_incarnation=table["incarnation"])
        moved = [me.adds_edge(box, shelf, at=310, rank="statement"), me.removes(box, box, at=310)]
        resolved = Resolution([table, shelf, box, *moved])
        assert parent_of(resolved, ("pose", node_id(3), f"in:{node_id(1)}"), 305) == node_id(1)
        assert parent_of(resolved, ("pose", node_id(3), f"in:{node_id(2)}"), 310) == node_id(2)

    def test_the_first_parents_hold_since_always(self):
        me = Author()
        cup = me.adds(node_id(1), at=50, frame_name="cup")
        assert parent_of(Resolution([cup]), ("pose", "cup", f"in:{ROOT}"), -5) == "map"

    def test_what_others_say_of_a_frame_does_not_hold_while_its_node_is_gone(self):
        me = Author()
        cup = me.adds(node_id(1), at=0)
        log = [cup, me.says(node_id(1), fixed("hand"), source="camera"), me.removes(cup, cup, at=5)]
        track = ("pose", node_id(1), "camera")
        assert parent_of(Resolution(log), track, 4) == "hand"
        assert parent_of(Resolution(log), track, 5) is None


class TestBodies:
    """S4: within a body nothing moves."""

    def test_a_frame_is_on_one_body(self):
        me = Author()
        log = [me.sign("set_body", body=b, frames=["barrel"], present=True) for b in ("gun", "tank")]
        resolved = Resolution(log)
        assert resolved.on["barrel"] == "gun"
        assert (tuple(log[1]["id"]), "on_other_body") in resolved.inactive(0)

    def test_a_body_that_is_declared_again_keeps_its_frames(self):
        me = Author()
        log = [me.sign("set_body", body="gun", frames=[frame], present=True) for frame in ("grip", "barrel")]
        assert Resolution(log).on == {"gun": "gun", "grip": "gun", "barrel": "gun"}

    def test_what_moves_is_not_adopted_and_what_is_adopted_does_not_move(self):
        me, peer = Author(1, clock=10), Author(2, clock=20)
        joined = peer.sign("set_body", body="gun", frames=["barrel", "grip"], present=True)
        moving = me.says("barrel", sampled("grip"), 1)
        resolved = Resolution([joined, moving])
        assert resolved.on == {"gun": "gun", "barrel": "gun"}
        assert (tuple(joined["id"]), "moves_in_body") in resolved.inactive(0)
        stronger = {**joined, "authority": 1}
        assert (tuple(moving["id"]), "constant_in_body") in Resolution([stronger, moving]).inactive(0)

    def test_another_pose_needs_recalibrate(self):
        me = Author()
        log = [me.sign("set_body", body="gun", frames=["barrel", "grip"], present=True)]
        log += [me.says("barrel", fixed("grip")), me.says("barrel", fixed("grip", 0.1), 5)]
        assert (tuple(log[-1]["id"]), "constant_in_body") in Resolution(log).inactive(5)
        log.append(me.says("barrel", fixed("grip", 0.1), 5, recalibrate=True))
        assert not Resolution(log).inactive(5)

    def test_a_claim_of_a_body_that_was_taken_back_is_inactive(self):
        me = Author()
        log = [me.sign("set_body", body="gun", frames=["grip"], present=True)]
        log.append(me.sign("set_body", body="gun", frames=[], present=False))
        assert Resolution(log).inactive(0) == {(tuple(log[0]["id"]), "no_body")}


class TestTracks:
    """S5: structure and samples of one source make one history."""

    def test_a_late_sample_under_another_parent_splits_the_run(self):
        me = Author()
        log = [me.says("cup", sampled("map"), 1), me.says("cup", sampled("hand"), 5)]
        rows = [me.row("cup", "map", 1), me.row("cup", "map", 9), me.row("cup", "hand", 5)]
        for shuffled in (rows, rows[::-1]):
            resolved = Resolution(log, shuffled)
            assert [parent_of(resolved, ("pose", "cup", "robot"), t) for t in (1, 5, 8, 9)] == [
                "map",
                "hand",
                "hand",
                "map",
            ]
            assert not resolved.active(3)[0]["pose", "cup", "robot"].holds

    def test_structure_goes_before_a_sample_of_the_same_instant(self):
        me = Author()
        log = [me.says("cup", sampled("map"), 1), me.says("cup", fixed("hand"), 5)]
        resolved = Resolution(log, [me.row("cup", "map", 1), me.row("cup", "map", 5), me.row("cup", "map", 6)])
        assert [parent_of(resolved, ("pose", "cup", "robot"), t) for t in (1, 5, 6)] == ["map", "hand", "map"]

    def test_forgotten_samples_do_not_count_and_later_ones_do(self):
        me = Author()
        log = [me.says("cup", sampled("map"), 1)]
        rows = [me.row("cup", "map", t) for t in (1, 5, 9)]
        log.append(me.sign("forget", of="cup", track_kind=None, in_frame=None, source=None, start=4, end=10))
        rows.append(me.row("cup", "map", 7))
        resolved = Resolution(log, rows)
        assert [resolved.active(t)[0]["pose", "cup", "robot"].holds for t in (1, 5, 7, 8)] == [True, True, True, False]


class TestCycles:
    """S6: at each instant the stronger of what closes a cycle stays."""

    def test_each_in_the_other_at_different_times_is_fine(self):
        me = Author()
        log = [me.says("a", fixed("b"), 0), me.says("a", ENDED, 5), me.says("b", fixed("a"), 5)]
        assert not any(Resolution(log).inactive(t) for t in (0, 4, 5, 9))

    def test_an_assertion_is_inactive_at_the_instants_of_the_cycle_alone(self):
        me, boss = Author(1, clock=10), Author(2, authority=1, clock=20)
        log = [me.says("a", fixed("b")), boss.says("b", fixed("a"), 3), boss.says("b", ENDED, 6)]
        resolved = Resolution(log)
        cut = [(tuple(log[0]["id"]), "cycle") in resolved.inactive(t) for t in (2, 3, 5, 6)]
        assert cut == [False, True, True, False]

    def test_containment_comes_first(self):
        me, boss = Author(1, clock=10), Author(2, authority=1, clock=20)
        cup = me.adds(node_id(1), frame_name="cup")
        log = [cup, boss.says("map", fixed("cup"))]
        assert (tuple(log[1]["id"]), "cycle") in Resolution(log).inactive(0)

    def test_sampled_relations_contend_between_their_first_and_last_sample(self):
        me = Author()
        log = [me.says("a", sampled("b"), 1), me.says("b", fixed("a"))]
        resolved = Resolution(log, [me.row("a", "b", 3), me.row("a", "b", 6)])
        cut = [(tuple(log[1]["id"]), "cycle") in resolved.inactive(t) for t in (2, 3, 6, 7)]
        assert cut == [False, True, True, False]


class TestPreferencesAndVariables:
    """S7 and S8."""

    def test_the_newest_preference_that_covers_an_instant_counts(self):
        me = Author()
        log = [me.prefers("cup", "camera"), me.prefers("cup", "lidar", 3, 6)]
        assert [Resolution(log).preference({"frame": "cup"}, t) for t in (2, 3, 6)] == ["camera", "lidar", "camera"]

    def test_a_preference_that_newer_ones_cover_is_not_needed(self):
        me = Author()
        log = [me.prefers("cup", "camera", 2, 8), me.prefers("cup", "lidar", None, 5), me.prefers("cup", None, 5, None)]
        assert tuple(log[0]["id"]) not in Resolution(log).needed()

    def test_a_joint_waits_for_its_variables(self):
        me = Author()
        log = [me.says("door", driven("frame", "hinge"))]
        assert Resolution(log).inactive(0) == {(tuple(log[0]["id"]), "awaits_variable")}
        log.append(me.sign("set_variables", variables=[["hinge", "velocity"]]))
        assert Resolution(log).inactive(0) == {(tuple(log[0]["id"]), "kind_mismatch")}
        log.append(me.sign("set_variables", variables=[["hinge", "linear"]]))
        assert not Resolution(log).inactive(0)


def test_the_order_of_records_does_not_matter():
    me, peer = Author(1), Author(2, authority=1, clock=900)
    log = [
        me.adds_stand_in("table"),
        me.says("a", fixed("b")),
        peer.says("b", fixed("a")),
        peer.sign("reset_time", clock=None),
    ]
    log += [
        peer.adds(node_id(1), stand_in("table"), x=1.0),
        me.says("a", ENDED, 4),
        me.sign("remove_frames", names=["b"]),
    ]
    answers = []
    for seed in range(10):
        random.Random(seed).shuffle(log)
        resolved = Resolution(log)
        pieces = [{k: p.key for k, p in resolved.active(t)[0].items()} for t in resolved.change_points()]
        answers.append((resolved.frames, pieces, resolved.inactive(4), resolved.needed()))
    assert all(answer == answers[0] for answer in answers)
    assert NO_INCARNATION in [r.get("incarnation") for r in log]
