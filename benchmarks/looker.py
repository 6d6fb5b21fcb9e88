"""Looks at a viewer as a browser does, and draws nothing: takes every message, and says how many brought new places.

python benchmarks/looker.py URL WARM_UP_SECONDS SECONDS
"""

import contextlib
import sys
import time

import msgspec
import viser
from websockets.sync.client import connect

PLACES = b"batched_positions"  # what puts many frames elsewhere, as it is sent
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (3.0, 3.0, 3.0),
    "fov": 1.0,
    "near": 0.1,
    "far": 100.0,
    "image_height": 800,
    "image_width": 1200,
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 0.0, 1.0),
}


def main() -> int:
    url, began_s = sys.argv[1].replace("http", "ws"), time.monotonic()
    since_s = began_s + float(sys.argv[2])
    until_s = since_s + float(sys.argv[3])
    with connect(url, subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as socket:
        socket.send(msgspec.msgpack.encode(CAMERA))
        count = 0
        with contextlib.suppress(TimeoutError):
            while (left_s := until_s - time.monotonic()) > 0.0:
                message = socket.recv(timeout=left_s)
                count += time.monotonic() >= since_s and PLACES in message
    print(count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
