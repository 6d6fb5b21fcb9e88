"""Machine code runs as a tape does; a library without it is refused."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from armillary._core import LoadedTape
from armillary.errors import InvalidArgument, UnloadableTape

SOURCE = """
void doubled(const double* in, double* out) { out[0] = 2.0 * in[0]; out[1] = in[1]; }
void doubled_batch(long n, const double* in, double* out) {
    for (long i = 0; i < n; ++i) doubled(in + 2 * i, out + 2 * i);
}
void lonely(const double* in, double* out) { out[0] = in[0]; }
"""
COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler here")


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("machine_code")
    (folder / "doubled.c").write_text(SOURCE)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", folder / "doubled.so", folder / "doubled.c"], check=True)
    return str(folder / "doubled.so")


class TestALoadedTape:
    def test_runs_once_or_many_times(self, library):
        tape = LoadedTape(library, "doubled", inputs=2, outputs=2)
        assert (tape.inputs, tape.outputs) == (2, 2)
        assert tape.run([3.0, 4.0]).tolist() == [6.0, 4.0]
        assert tape.run(np.ones((3, 2))).tolist() == [[2.0, 1.0]] * 3

    def test_checks_what_goes_in_and_out_like_a_tape(self, library):
        tape = LoadedTape(library, "doubled", 2, 2)
        with pytest.raises(InvalidArgument, match=r"shape \(2,\)"):
            tape.run([1.0])
        with pytest.raises(InvalidArgument, match="out must"):
            tape.run([1.0, 2.0], out=np.ones(3))

    @pytest.mark.parametrize("symbol", ["nothing", "lonely", ""])
    def test_needs_both_functions(self, library, symbol):
        with pytest.raises(UnloadableTape, match=f"'{symbol}' cannot be loaded"):
            LoadedTape(library, symbol, 1, 1)

    def test_needs_a_library(self, library, tmp_path):
        (tmp_path / "text.so").write_text("no library")
        with pytest.raises(UnloadableTape, match="Compile it again"):
            LoadedTape(str(tmp_path / "text.so"), "doubled", 2, 2)

    def test_needs_a_path_and_not_a_name(self):
        with pytest.raises(UnloadableTape, match="not given as a path"):
            LoadedTape("libm.so.6", "sin", 1, 1)
