"""The command as a user calls it: in a shell, in a pipe, and on a terminal of 80 columns."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading

LIMIT_S = 120
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run(*typed, cwd, **environment):
    """Run the command with its output in a pipe."""
    return subprocess.run(
        [sys.executable, "-m", "armillary", *typed],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def answer(typed, line):
    """Return the JSON output of a command that printed no error."""
    status, out, err = typed(f"{line} --json")
    assert (status, err) == (0, "")
    return json.loads(out)


def on_a_terminal(*typed, cwd, columns=80, lines=24):
    """Run the command on a terminal; return its exit status and all screens it drew, oldest first."""
    ours, theirs = pty.openpty()
    size = {"COLUMNS": str(columns), "LINES": str(lines), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, "-m", "armillary", *typed],
        cwd=cwd,
        env=os.environ | size,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    killer = threading.Timer(LIMIT_S, process.kill)
    killer.start()
    try:
        sent = _all_of(ours)
        status = process.wait()
    finally:
        killer.cancel()
        os.close(ours)
    screens = re.split(r"(?:\x1b\[1A\x1b\[2K)+|\r(?=\x1b\[2K)", sent)
    return status, [_ESCAPES.sub("", screen).replace("\r", "") for screen in screens]


def _all_of(terminal):
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the process has closed its side
            return b"".join(parts).decode()
        if not part:
            return b"".join(parts).decode()
        parts.append(part)
