"""Before speed: product and peers answer the same questions with the same poses."""

from collections.abc import Iterator

import numpy as np

from context import Bench
from peers import SCHIEBUNG, TF2_CPP
from table import Row

COUNT = 1_000


def rows(bench: Bench) -> Iterator[Row]:
    ours = bench.chain_world("jittered").transforms(
        of="f10", in_frame="f0", at=bench.scenario.times[:COUNT], as_="xyz_wxyz"
    )
    for peer, asked in ((TF2_CPP, 1e-9), (SCHIEBUNG, None)):
        if peer in bench.peers:
            theirs = np.array(bench.peers[peer].ask(f"answer jittered 10 {COUNT}")["rows"])
            yield Row.at_most(f"largest difference from {peer}", difference(ours, theirs), "", asked=asked)


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference of a number, q and -q being the same rotation."""
    turned = theirs * np.where(np.arange(7) < 3, 1.0, -1.0)
    per_row = np.minimum(np.abs(ours - theirs).max(axis=1), np.abs(ours - turned).max(axis=1))
    return float(per_row.max())
