"""Shared objects are immutable, and otherwise behave like the original types."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from jacquard.lab.rehearsal.operators.sealed import sealed

HOST = {"metadata": {"name": "a", "finalizers": ["x", {"deep": [1]}]}, "spec": {"online": True}}


def merge_in_place(host: Any) -> None:
    host["spec"] |= {"online": False}


def join_in_place(host: Any) -> None:
    host["metadata"]["finalizers"] += ["y"]


def put(host: Any) -> None:
    host["status"] = {}


def take_out(host: Any) -> None:
    del host["spec"]["online"]


CHANGES: dict[str, Callable[[Any], object]] = {
    "put": put,
    "take out": take_out,
    "merge in place": merge_in_place,
    "join in place": join_in_place,
    "update": lambda host: host["metadata"].update(name="b"),
    "set default": lambda host: host.setdefault("status", {}),
    "pop": lambda host: host["spec"].pop("online"),
    "append": lambda host: host["metadata"]["finalizers"].append("y"),
    "deep in a list": lambda host: host["metadata"]["finalizers"][1]["deep"].clear(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_sealed_objects_cannot_be_changed(change: Callable[[Any], object]) -> None:
    host = sealed(HOST)

    with pytest.raises(TypeError, match="change a copy of it"):
        change(host)

    assert host == HOST


def test_sealed_objects_are_read_compared_and_written_like_the_original() -> None:
    host = sealed(HOST)

    assert json.dumps(host) == json.dumps(HOST)
    assert yaml.safe_dump(host) == yaml.safe_dump(HOST)
    assert yaml.dump(host, Dumper=yaml.CSafeDumper) == yaml.dump(HOST, Dumper=yaml.CSafeDumper)
    assert isinstance(host["metadata"], dict)
    assert isinstance(host["metadata"]["finalizers"], list)


@pytest.mark.parametrize("copied", [copy.copy, dict, dict.copy], ids=["copy", "dict", "method"])
def test_a_copy_can_be_changed_and_leaves_it_as_it_was(copied: Callable[[Any], Any]) -> None:
    host = sealed(HOST)

    copied(host)["status"] = {}

    assert host == HOST


def test_a_deep_copy_can_be_changed_and_leaves_it_as_it_was() -> None:
    host = sealed(HOST)

    other = copy.deepcopy(host)
    other["metadata"]["finalizers"][1]["deep"].append(2)

    assert other["metadata"]["finalizers"] == ["x", {"deep": [1, 2]}]
    assert host == HOST


def test_results_of_merges_with_sealed_objects_can_be_changed() -> None:
    host = sealed(HOST)
    merged, joined = host | {"status": {}}, host["metadata"]["finalizers"] + ["y"]

    merged["status"], joined[-1] = {"poweredOn": True}, "z"

    assert host == HOST
