"""Loading runs without the garbage collector, which is always enabled again afterwards."""

from __future__ import annotations

import gc

import pytest

from jacquard.machine.loading import without_collector


def test_the_collector_is_disabled_during_imports_and_ignores_modules_afterwards() -> None:
    try:
        with without_collector():
            off = not gc.isenabled()
            kept = [[]]  # type: list[list[object]]
        assert (off, gc.isenabled()) == (True, True)
        assert not any(item is kept for item in gc.get_objects())
    finally:
        gc.unfreeze()


def test_the_collector_is_on_again_when_loading_fails() -> None:
    try:
        with pytest.raises(ImportError), without_collector():
            raise ImportError
        assert gc.isenabled()
    finally:
        gc.unfreeze()
