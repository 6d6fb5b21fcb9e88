"""Debian's chromium, driven by Playwright, without access to the network."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module

import pytest

from requirements import skip_without

FLAGS = (
    "--no-sandbox",  # tests may run as root
    "--use-gl=angle",
    "--use-angle=swiftshader",  # no graphics card is needed
    "--enable-unsafe-swiftshader",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
SIZE = {"width": 960, "height": 520}
INSTALL_LIMIT_S = 300.0
PATIENCE_S = 90.0  # a page takes seconds; a busy machine takes longer


def chromium() -> str:
    """Return the path of chromium; install it if possible, otherwise skip the test."""
    found = shutil.which("chromium") or _installed()
    if found is None:
        skip_without("chromium", "chromium is not here and cannot be installed: apt-get install chromium")
    return found


def _installed() -> str | None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return None
    for command in (("update",), ("install", "-y", "--no-install-recommends", "chromium")):
        with contextlib.suppress(subprocess.SubprocessError):
            subprocess.run(("apt-get", "-qq", *command), capture_output=True, timeout=INSTALL_LIMIT_S, check=False)
    return shutil.which("chromium")


@contextlib.contextmanager
def opened_page() -> Iterator:
    """Yield an empty page."""
    try:
        playwright = import_module("playwright.sync_api")
    except ImportError:
        skip_without("chromium", "playwright is not installed: pip install playwright")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), headless=True, args=list(FLAGS))
        try:
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(1e3 * PATIENCE_S)
            yield page
        finally:
            browser.close()


def pixels(png: bytes):
    """Return the pixels of a screenshot, shape (height, width, 3)."""
    return (255.0 * pytest.importorskip("matplotlib.image").imread(io.BytesIO(png))[..., :3]).astype(int)
