"""Who may connect; and what messages of strangers do: nothing."""

from __future__ import annotations

import json
import random
import secrets
import warnings
from socket import socket

import pytest

import randomness
from armillary import Transform, World, seconds
from armillary.errors import InvalidArgument, ShareFailed
from armillary.share.session import world_key
from armillary.wire.messages import pack, pack_samples
from unit.share.kit import PATIENCE_S, eventually, shared_worlds
from unit.wire.test_messages import mutated

zenoh = pytest.importorskip("zenoh")


def endpoint():
    with socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return f"tcp/127.0.0.1:{trial.getsockname()[1]}"


@pytest.fixture
def guarded():
    """A world that lets in who knows a password: its endpoint."""
    with World("robot") as robot:
        where = endpoint()
        robot.fix(of="camera", in_frame="base", transform=Transform.identity())
        robot.share("guarded", listen=[where], users={"planner": "right"})
        yield where


class TestAPassword:
    def test_lets_in_who_knows_it(self, guarded):
        with World("planner") as planner:
            share = planner.share("guarded", connect=[guarded], user="planner", password="right")
            assert share.wait_for_peers(1, PATIENCE_S)
            assert "camera" in planner.frames()

    @pytest.mark.parametrize("given", [{}, {"user": "planner", "password": "wrong"}], ids=["none", "wrong"])
    def test_keeps_out_who_does_not_and_says_so(self, guarded, given):
        reported = []
        with World("stranger") as stranger:
            stranger.on_error = reported.append
            stranger.share("guarded", connect=[guarded], **given)
            assert eventually(lambda: reported)
            assert isinstance(reported[0], ShareFailed)
            assert "user, password or certificates" in str(reported[0])
            assert "camera" not in stranger.frames()

    def test_goes_with_a_user(self, world):
        with pytest.raises(InvalidArgument, match="go together"):
            world.share("guarded", user="planner")


class TestAnEndpoint:
    def test_that_is_taken_is_refused(self, guarded, world):
        with pytest.raises(ShareFailed, match="listening there already"):
            world.share("other", listen=[guarded])

    def test_that_is_none_is_refused(self, world):
        for given in ("tcp/127.0.0.1:1", ["7447"], [5]):
            with pytest.raises(InvalidArgument, match="list of endpoints"):
                world.share("other", connect=given)

    def test_beyond_this_machine_without_credentials_warns(self):
        with World("robot") as robot, pytest.warns(UserWarning, match="users= or certificates="):
            robot.share("open", listen=["tcp/0.0.0.0:0"])

    def test_beyond_this_machine_with_credentials_does_not(self):
        with World("robot") as robot, warnings.catch_warnings():
            warnings.simplefilter("error")
            robot.share("open", listen=["tcp/0.0.0.0:0"], users={"a": "b"})


def hostile_messages(rng, good, count):
    for _ in range(count):
        kind, message = rng.choice(good)
        yield kind, mutated(message, rng) if rng.random() < 0.9 else bytes(rng.randrange(256) for _ in range(50))


def good_messages(world):
    """Messages as a peer sends them, to be damaged."""
    records = [record.to_json() for record in world.store.records()]
    header = {"s": 10**6, "records": records, "contents": [], "names": [], "nodes": []}
    import numpy as np  # noqa: PLC0415

    samples = pack_samples(1, 0, (0, 0), np.arange(3, dtype=np.int64), np.ones((3, 7)))
    beat = {"s": 5, "held": "0", "name": "x", "clock": "wall"}
    return [("g", pack(header, [np.empty((0, 43))])), ("b", pack(beat)), ("s", samples), ("q", pack({"have": []}))]


class TestMessagesOfStrangers:
    def test_change_nothing_and_are_counted(self):
        rng = random.Random(randomness.SEED)
        with shared_worlds("robot", "planner") as (robot, planner):
            planner.set_pose(of="base", in_frame="map", transform=Transform.identity(), at=seconds(1))
            assert eventually(lambda: robot.digest() == planner.digest())
            before, share, sent = robot.digest(), robot._share, 0
            key, session = world_key(share.name), planner._share._session
            for kind, message in hostile_messages(rng, good_messages(planner), 2000):
                to = f"{share.id}/lacking" if kind == "q" else "stranger/1" if kind == "s" else "stranger"
                (session.get if kind == "q" else session.put)(f"{key}/{kind}/{to}", payload=message)
                sent += kind != "q"
            assert eventually(lambda: sum(share.refused().values()) > sent // 3)
            robot.fix(of="last", in_frame="map", transform=Transform.identity())
            assert eventually(lambda: "last" in planner.frames()), json.dumps(share.refused())
            assert before != robot.digest()
            assert set(robot.frames()) == {"map", "base", "last"}

    def test_of_the_name_of_a_world_meet_that_world_alone(self):
        name = secrets.token_hex(4)
        assert world_key(name) != world_key(f"{name}x")
        assert "/" not in world_key("a/b*c").removeprefix("arm/1/")
