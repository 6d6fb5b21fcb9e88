#!/bin/sh
# Installs the wheel in a fresh virtual environment, away from the sources, and uses it.
# Usage: wheel_smoke.sh FOLDER   the folder with the wheel; PYTHON: the interpreter
set -eu
wheel=$(ls -t "$1"/armillary-*.whl | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -qq install "$wheel[cli]"
cd "$work"
"$work/venv/bin/armillary" demo turtles --headless >/dev/null
"$work/venv/bin/python" - <<'END'
from armillary import Transform, World, seconds

world = World()
world.set_pose(of="base", in_frame="map", transform=Transform.identity(), at=seconds(1))
print(world.pose(of="base", in_frame="map"))
END
echo "ok   $(basename "$wheel") installs and answers"
