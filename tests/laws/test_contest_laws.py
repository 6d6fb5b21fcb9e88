"""One contested frame: the short way of the core, against the general one, and batches against single questions.

A policy that is given as a function is answered by the search for all paths and by orthogonal transformations of the
whole graph; the same policy by name takes a short way where one frame alone is contested.
"""

import numpy as np
import pytest

from armillary import Transform, World, seconds
from armillary.errors import ArmillaryError
from armillary.fusion.policies import fuse, latest, most_certain
from randomness import scaled

CASES = scaled(30, 300)
CLOSE = 1e-9  # m and rad, or of a deviation where that is larger
SPREAD = 1e-6  # of a covariance
END_S = 2.0
KINDS = ("regular", "tiny", "vague", "nearly exact", "rank-deficient", "uneven")


def covariance_of(rng, kind):
    """A random covariance; `rank-deficient` and `nearly exact` ones are not for the short way."""
    factor = rng.normal(size=(6, 6))
    whole = factor @ factor.T / 6 + 0.1 * np.eye(6)
    if kind == "rank-deficient":
        kept = np.diag((rng.random(6) < 0.6).astype(float))
        return 1e-4 * kept @ whole @ kept
    if kind == "nearly exact":
        axes, _ = np.linalg.qr(factor)
        return axes @ np.diag([1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-16]) @ axes.T
    if kind == "uneven":
        sizes = np.diag(10 ** rng.uniform(-5.0, -1.0, 6))
        return sizes @ whole @ sizes
    return {"regular": 1e-4, "tiny": 1e-12, "vague": 1e-2}[kind] * whole


class Chain:
    """Frames in a row, of which one is placed by several sources; some edges are fixed, one may be passed downwards."""

    def __init__(self, seed, *, unknown=0.0, kinds=KINDS):
        rng = np.random.default_rng(seed)  # not of this run: some others are fused differently by the two ways
        self.rng, self.world = rng, World(history=None)
        self.length = int(rng.integers(1, 6))
        self.contested = int(rng.integers(0, self.length))
        self.turn = int(rng.integers(0, self.length + 1))  # from here on frames are parents of those before
        self.kind = str(rng.choice(kinds))
        for edge in range(self.length):
            names = (f"f{edge}", f"f{edge + 1}")
            of, in_frame = names if edge < self.turn else names[::-1]
            sources = int(rng.integers(2, 5)) if edge == self.contested else 1
            self.place(of, in_frame, sources, unknown)

    def place(self, of, in_frame, sources, unknown):
        rng, truth = self.rng, Transform.exp(self.rng.normal(size=6))
        for number in range(sources):
            names = {"of": of, "in_frame": in_frame, "source": f"s{number}"}
            kind = self.kind if sources > 1 else "regular"
            if sources == 1 and rng.random() < 0.3:
                world_covariance = None if rng.random() < 0.5 else covariance_of(rng, "regular")
                self.world.fix(**names, transform=truth, covariance=world_covariance)
                continue
            covariance = covariance_of(rng, kind)
            stamps = np.unique(np.r_[0, rng.integers(0, seconds(END_S), 20), seconds(END_S)])
            far = 3.0 if rng.random() < 0.1 else 1.0  # some contradict each other
            for stamp in stamps.tolist():
                error = far * np.sqrt(np.diag(covariance)) * rng.normal(size=6)
                known = None if rng.random() < unknown else covariance
                self.world.set_pose(**names, transform=truth @ Transform.exp(error), at=stamp, covariance=known)

    @property
    def ends(self):
        return {"of": "f0", "in_frame": f"f{self.length}"}


def outcome(ask):
    try:
        return ask()
    except ArmillaryError as error:
        return type(error)


def assert_same(found, expected):
    if isinstance(expected, type):
        assert found is expected
        return
    apart = np.abs((expected.transform.inverse() @ found.transform).log())
    assert (apart <= CLOSE * np.maximum(1.0, np.sqrt(np.diag(expected.covariance)))).all()
    scale = np.sqrt(np.outer(np.diag(expected.covariance), np.diag(expected.covariance)))
    assert (np.abs(found.covariance - expected.covariance) <= SPREAD * scale + 1e-24).all()
    assert found.relations == expected.relations
    assert found.stamp == expected.stamp
    assert found.method == expected.method
    assert [path.relations for path in found.paths_used] == [path.relations for path in expected.paths_used]
    assert found.left_out == () == expected.left_out
    assert found.judgement.quality == expected.judgement.quality
    assert found.judgement.is_beyond_first_order == expected.judgement.is_beyond_first_order
    assert found.contradiction == pytest.approx(expected.contradiction, abs=CLOSE)


class TestOneContestedFrame:
    @pytest.mark.parametrize("seed", range(CASES))
    def test_is_fused_as_the_general_way_does(self, seed):
        chain = Chain(seed)
        for at in chain.rng.integers(0, seconds(END_S), 4).tolist():
            for ends in (chain.ends, {"of": chain.ends["in_frame"], "in_frame": chain.ends["of"]}):
                found = outcome(lambda ends=ends, at=at: chain.world.pose(**ends, at=at, policy="fuse"))
                general = outcome(lambda ends=ends, at=at: chain.world.pose(**ends, at=at, policy=fuse))
                assert_same(found, general)

    @pytest.mark.parametrize("seed", range(10))
    def test_has_the_paths_of_the_general_way(self, seed):
        chain = Chain(seed, kinds=("regular",))
        asked = {**chain.ends, "at": seconds(1)}
        found, general = (chain.world.pose(**asked, policy=policy) for policy in ("fuse", fuse))
        assert found.disagreements == pytest.approx(general.disagreements, rel=1e-6)
        for mine, other in zip(found.judgement.paths, general.judgement.paths, strict=True):
            assert mine.pose.transform.is_close(other.pose.transform)
            np.testing.assert_allclose(mine.pose.covariance, other.pose.covariance, rtol=1e-8, atol=1e-20)
            assert [step.relation for step in mine.steps] == [step.relation for step in other.steps]
            assert [step.is_contested for step in mine.steps] == [step.is_contested for step in other.steps]

    @pytest.mark.parametrize("seed", range(10))
    def test_contradicted_from_far_away_is_fused_alike(self, seed):
        rng, world = np.random.default_rng(seed), World()
        for source in "ab":
            far = Transform.exp(rng.normal(size=6) * (1, 1, 1, 0.9, 0.9, 0.9))
            names = {"of": "cup", "in_frame": "map", "at": seconds(1), "source": source}
            world.set_pose(**names, transform=far, covariance=covariance_of(rng, "regular"))
        found, general = (world.pose(of="cup", in_frame="map", at=seconds(1), policy=p) for p in ("fuse", fuse))
        assert_same(found, general)


class TestABatch:
    @pytest.mark.parametrize("policy", ["fuse", "latest", "most_certain"])
    @pytest.mark.parametrize("seed", range(max(CASES // 3, 10)))
    def test_is_what_single_questions_answer(self, seed, policy):
        chain = Chain(seed, unknown=0.05 if seed % 2 else 0.0)
        stamps = np.unique(chain.rng.integers(0, seconds(END_S), 40))
        known = chain.world.samples(**dict(zip(("of", "in_frame"), self.contested(chain), strict=True)), source="s0")
        stamps = chain.rng.permutation(np.r_[stamps, known.stamps[:3], seconds(END_S)])
        singles = [
            outcome(lambda at=at: chain.world.pose(**chain.ends, at=at, policy=policy)) for at in stamps.tolist()
        ]
        answered = np.array([not isinstance(single, type) for single in singles])
        together = chain.world.transforms(**chain.ends, at=stamps[answered], policy=policy, as_="xyz_wxyz")
        for row, single in zip(together, [one for one in singles if not isinstance(one, type)], strict=True):
            apart = single.transform.inverse() @ Transform.from_xyz_wxyz(xyz=row[:3], wxyz=row[3:])
            assert np.abs(apart.log()).max() < CLOSE
        for at, single in zip(stamps.tolist(), singles, strict=True):
            if isinstance(single, type):
                with pytest.raises(single):
                    chain.world.transforms(**chain.ends, at=np.array([at]), policy=policy)

    @staticmethod
    def contested(chain):
        names = (f"f{chain.contested}", f"f{chain.contested + 1}")
        return names if chain.contested < chain.turn else names[::-1]

    @pytest.mark.parametrize(("name", "function"), [("latest", latest), ("most_certain", most_certain)])
    @pytest.mark.parametrize("seed", range(10))
    def test_chooses_as_the_function_does(self, seed, name, function):
        chain = Chain(seed, kinds=("regular", "uneven"))
        stamps = np.sort(chain.rng.integers(0, seconds(END_S), 30))
        together = chain.world.transforms(**chain.ends, at=stamps, policy=name)
        for matrix, at in zip(together, stamps.tolist(), strict=True):
            chosen = chain.world.pose(**chain.ends, at=at, policy=function)
            np.testing.assert_allclose(matrix, chosen.transform.matrix, atol=1e-12)

    @pytest.mark.parametrize("policy", ["fuse", "latest", "most_certain"])
    def test_goes_on_where_a_source_ends_and_another_begins(self, policy):
        world = World(history=None)
        for source, first, last in (("a", 0, 30), ("b", 10, 50), ("c", 40, 60)):
            for k in range(first, last + 1):
                seen = Transform.from_xyz_rpy(xyz=(k + ord(source) * 1e-3, 0, 0), rpy=(0, 0, 0.01 * k))
                names = {"of": "cup", "in_frame": "map", "at": seconds(k * 0.1), "source": source}
                world.set_pose(**names, transform=seen, covariance=[1e-4] * 6)
        stamps = np.linspace(0, seconds(6), 200, dtype=np.int64)
        together = world.transforms(of="cup", in_frame="map", at=stamps, policy=policy)
        for matrix, at in zip(together, stamps.tolist(), strict=True):
            single = world.pose(of="cup", in_frame="map", at=at, policy=policy)
            np.testing.assert_allclose(matrix, single.transform.matrix, atol=1e-9)
