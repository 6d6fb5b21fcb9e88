"""`armillary peers`: who shares a world."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from armillary.cli._arguments import AsJson
from armillary.cli._output import print_result
from armillary.cli._source import joined
from armillary.cli.serve import Connect, Name
from armillary.errors import NoPeer

if TYPE_CHECKING:
    from armillary.share import PeerInfo

EXAMPLE = "armillary peers kitchen"


def peers(*, name: Name, connect: Connect = None, as_json: AsJson = False) -> None:
    """List the processes that share a world: how far they are, what they send, how late it is."""
    try:
        with joined(name, connect or ()) as world:
            found = [one for one in world.peers() if one.is_alive]
    except NoPeer as nobody:
        print_result(as_json=as_json, fields=[], text=str(nobody))
        return
    lines = [f"{'name':<20} {'in step':<8} {'channels':>8} {'ms there and back':>18} {'clock ahead by ms':>18}"]
    print_result(as_json=as_json, fields=[asdict(one) for one in found], text="\n".join([*lines, *map(_line, found)]))


def _line(peer: PeerInfo) -> str:
    trip, ahead = ("" if one is None else f"{1e3 * one:.2f}" for one in (peer.round_trip_s, peer.clock_ahead_s))
    return f"{peer.name[:20]:<20} {'yes' if peer.is_in_step else 'no':<8} {peer.channels:>8} {trip:>18} {ahead:>18}"
