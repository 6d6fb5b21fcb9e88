"""Controls that both a user and the program change."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from armillary.view.web._controls import LinkedControl


class Slider:
    """Control like that of viser: it has its new value some time before callbacks run."""

    def __init__(self) -> None:
        self.value, self.options, self._callbacks = 0.0, (), []

    def on_update(self, callback) -> None:
        self._callbacks.append(callback)

    def change_options(self, client: object) -> None:
        for callback in self._callbacks:
            asyncio.run(callback(SimpleNamespace(client=client, target=self)))


@pytest.fixture
def inputs():
    return []


@pytest.fixture
def slider():
    return Slider()


@pytest.fixture
def control(slider, inputs):
    return LinkedControl(slider, inputs.append)


class TestAFollower:
    def test_shows_the_value_of_the_world(self, control, slider):
        control.show(1.0)
        control.show(2.0)
        assert slider.value == 2.0

    def test_forwards_the_input_of_a_user(self, control, slider, inputs):
        slider.value = 3.0
        slider.change_options(client="browser")
        assert inputs == [3.0]

    def test_does_not_forward_changes_by_the_program(self, control, slider, inputs):
        control.show(1.0)
        slider.change_options(client=None)
        assert inputs == []

    def test_does_not_overwrite_input_that_was_not_processed(self, control, slider, inputs):
        slider.value = 3.0
        control.show(1.0)
        slider.change_options(client="browser")
        assert inputs == [3.0]
        control.show(1.0)
        assert slider.value == 1.0
