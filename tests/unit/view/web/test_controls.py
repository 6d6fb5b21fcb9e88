"""Controls that a person and the world both move."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from armillary.view.web._controls import LinkedControl


class Slider:
    """As viser's: it has its new value some time before anybody is told."""

    def __init__(self) -> None:
        self.value, self.options, self._callbacks = 0.0, (), []

    def on_update(self, callback) -> None:
        self._callbacks.append(callback)

    def change_options(self, client: object) -> None:
        for callback in self._callbacks:
            asyncio.run(callback(SimpleNamespace(client=client, target=self)))


@pytest.fixture
def heard():
    return []


@pytest.fixture
def slider():
    return Slider()


@pytest.fixture
def follower(slider, heard):
    return LinkedControl(slider, heard.append)


class TestAFollower:
    def test_shows_what_the_world_says(self, follower, slider):
        follower.show(1.0)
        follower.show(2.0)
        assert slider.value == 2.0

    def test_tells_what_a_person_did(self, follower, slider, heard):
        slider.value = 3.0
        slider.change_options(client="browser")
        assert heard == [3.0]

    def test_does_not_tell_what_the_program_did(self, follower, slider, heard):
        follower.show(1.0)
        slider.change_options(client=None)
        assert heard == []

    def test_does_not_overwrite_what_a_person_did_before_it_was_heard(self, follower, slider, heard):
        slider.value = 3.0
        follower.show(1.0)
        slider.change_options(client="browser")
        assert heard == [3.0]
        follower.show(1.0)
        assert slider.value == 1.0
