"""The program that holds Machines of reserved Slurm nodes: tokens, lists of nodes, times, and the hooks it writes."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from components.programs.slurm_reservations import (
    DEADLINE,
    HOOK,
    POD,
    by_node,
    hold,
    names,
    needed_by,
    reasons_of,
    seconds,
    slurm_name,
    token,
)

NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
HOUR = 3600
KEY = b"\x00\xff" * 512


def at(hours: float) -> dict[str, Any]:
    """Return a time in ``hours`` from now as slurmrestd does."""
    return {"set": True, "infinite": False, "number": int(NOW.timestamp() + hours * HOUR)}


def reservation(start: float, end: float, nodes: str = "train-0", **further: Any) -> dict[str, Any]:
    return {"name": f"from-{start}", "start_time": at(start), "end_time": at(end), "node_list": nodes, **further}


def pod(name: str = "train-0", node: str = "host-0", *, busy: float | None = None, **spec: Any) -> dict[str, Any]:
    """Return the pod of a Slurm node whose last job ends in ``busy`` hours."""
    deadline = {} if busy is None else {DEADLINE: f"{NOW + dt.timedelta(hours=busy):%Y-%m-%dT%H:%M:%SZ}"}
    metadata = {"name": name, "annotations": deadline}
    return {"metadata": metadata, "spec": {"nodeName": node, "hostname": name, **spec}}


def machine(name: str, node: str | None, *, deleted: bool = False, hook: str | None = None, **status: Any) -> Any:
    notes = {"annotations": {HOOK: hook}} if hook else {}
    gone = {"deletionTimestamp": "2026-11-30T11:00:00Z"} if deleted else {}
    found = {"nodeRef": {"name": node}} if node else {}
    metadata = {"name": name, "labels": {"jacquard.dev/pool": "train"}, **notes, **gone}
    return {"metadata": metadata, "status": {**found, **status}}


class Server:
    """API server that returns objects and records annotations and requests."""

    def __init__(self, *items: dict[str, Any], reservations: Any = ()) -> None:
        self._items, self._reservations = items, reservations
        self.notes: dict[str, Mapping[str, str | None]] = {}
        self.asked: list[tuple[Any, ...]] = []

    def items(self, _version: str, _plural: str, namespace: str, **query: str) -> Iterator[dict[str, Any]]:
        self.asked.append((namespace, query))
        yield from self._items

    def get(self, *place: str) -> dict[str, Any]:
        assert place == ("v1", "secrets", "slurm-cluster", "slurm-keys")
        return {"data": {"jwt.key": base64.b64encode(KEY).decode()}}

    def ask(self, *request: Any) -> dict[str, Any]:
        self.asked.append(request)
        return {"reservations": self._reservations}

    def note(self, _version: str, _plural: str, body: dict[str, Any], notes: Mapping[str, str | None]) -> None:
        self.notes[body["metadata"]["name"]] = notes


def test_a_token_is_signed_with_the_key_and_expires() -> None:
    parts = token(KEY, "slurm", NOW).split(".")

    def decoded(part: str) -> bytes:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))

    assert json.loads(decoded(parts[0])) == {"alg": "HS256", "typ": "JWT"}
    claims = json.loads(decoded(parts[1]))
    assert (claims["sun"], claims["iat"]) == ("slurm", NOW.timestamp())
    assert claims["exp"] > claims["iat"]
    assert decoded(parts[2]) == hmac.digest(KEY, ".".join(parts[:2]).encode(), hashlib.sha256)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("", []),
        ("train-0", ["train-0"]),
        ("login,train-[0-2,7]", ["login", "train-0", "train-1", "train-2", "train-7"]),
        ("r01-u[08-10],infer-3", ["r01-u08", "r01-u09", "r01-u10", "infer-3"]),
    ],
)
def test_names_of_a_list_of_nodes(nodes: str, expected: list[str]) -> None:
    assert list(names(nodes)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 5),
        ({"set": True, "infinite": False, "number": 7}, 7),
        ({"set": False, "infinite": True, "number": 0}, float("inf")),
        ({"set": False, "infinite": False, "number": 0}, 0),
        (None, 0),
    ],
)
def test_times_of_both_versions_of_the_api(value: Any, expected: float) -> None:
    assert seconds(value) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "train-0"),
        ({"hostname": "other"}, "other"),
        ({"hostname": ""}, "train-0"),
        ({"hostNetwork": True}, "host-0"),
    ],
)
def test_the_name_of_a_slurm_node_depends_on_the_network_of_its_pod(fields: Any, expected: str) -> None:
    assert slurm_name(pod(**fields)) == expected


@pytest.mark.parametrize(
    ("start", "end", "busy", "needed"),
    [
        (-2, 2, None, True),  # active
        (-2, 0, None, False),  # over
        (0.9, 2, None, True),  # begins during the replacement
        (1.0, 2, None, False),  # begins when the node is replaced
        (1.1, 2, 0.5, True),  # begins during the replacement after the jobs
        (2.1, 3, 1.0, False),
        (0.9, 2, -1, True),  # jobs that exceed their limit do not shorten the replacement
    ],
)
def test_a_reservation_needs_a_node_that_would_not_be_replaced_in_time(
    start: float, end: float, busy: float | None, *, needed: bool
) -> None:
    found = needed_by(pod(busy=busy), [reservation(start, end)], HOUR, NOW)

    assert found == (f"from-{start}" if needed else None)


@pytest.mark.parametrize("flag", ["MAINT", "TIME_FLOAT"])
def test_reservations_for_maintenance_and_floating_ones_need_no_node(flag: str) -> None:
    every = [reservation(5, 6), reservation(1, 2, "train-[0-1]", flags=["SPEC_NODES"]), reservation(0, 2, flags=[flag])]

    assert {name: [item["name"] for item in found] for name, found in by_node(every).items()} == {
        "train-0": ["from-1", "from-5"],
        "train-1": ["from-1"],
    }


def test_reservations_of_licenses_have_no_nodes() -> None:
    assert by_node([{"name": "license", "node_list": None}, {"name": "old"}]) == {}


def test_only_machines_whose_reservation_changed_are_written() -> None:
    failed = [{"type": "HealthCheckSucceeded", "status": "False"}]
    server = Server(
        machine("new", "reserved"),
        machine("same", "reserved", hook="thesis"),
        machine("next", "reserved", hook="before"),
        machine("waiting", "reserved", hook="thesis", deleted=True),
        machine("draining", "reserved", deleted=True),
        machine("over", "free", hook="thesis", deleted=True),
        machine("free", "free"),
        machine("without-pod", "other", hook="thesis"),
        machine("unborn", None),
        machine("faulty", "reserved", conditions=failed),
        machine("broken", "reserved", hook="thesis", deleted=True, conditions=failed),
    )

    hold(server, "acme", {"train": {"reserved": "thesis", "free": None}})  # type: ignore[arg-type]

    assert server.notes == {
        "new": {HOOK: "thesis"},
        "next": {HOOK: "thesis"},
        "over": {HOOK: None},
        "without-pod": {HOOK: None},
        "broken": {HOOK: None},
    }


def test_hooks_of_pools_that_do_not_respect_reservations_any_more_are_removed() -> None:
    server = Server(machine("held", "reserved", hook="thesis"))

    hold(server, "acme", {"other": {"reserved": "thesis"}})  # type: ignore[arg-type]

    assert server.notes == {"held": {HOOK: None}}


SETTINGS = {
    "namespace": "slurm-cluster",
    "service": "slurm-restapi:6820",
    "path": "/reservations/",
    "keys_secret": "slurm-keys",
    "user": "slurm",
    "pools": {"train": HOUR, "slow": 2 * HOUR},
}


def test_each_pool_has_the_time_of_its_replacement() -> None:
    tenant = Server(pod(), pod("train-1", "host-1"), reservations=[reservation(1.5, 3)])

    assert reasons_of(tenant, SETTINGS, NOW) == {  # type: ignore[arg-type]
        "train": {"host-0": None, "host-1": None},
        "slow": {"host-0": "from-1.5", "host-1": None},
    }
    listed, (namespace, service, path, login) = tenant.asked
    assert listed == ("slurm-cluster", {"labelSelector": POD})
    assert (namespace, service, path) == ("slurm-cluster", "slurm-restapi:6820", "/reservations/")
    assert login == {"X-SLURM-USER-NAME": "slurm", "X-SLURM-USER-TOKEN": token(KEY, "slurm", NOW)}


def test_nothing_is_requested_from_a_slurm_cluster_without_nodes() -> None:
    tenant = Server()

    assert reasons_of(tenant, SETTINGS, NOW) == {"train": {}, "slow": {}}  # type: ignore[arg-type]
    assert len(tenant.asked) == 1
