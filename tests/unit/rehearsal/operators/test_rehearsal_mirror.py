"""A mirror of an API server, by a list of each kind and a watch from its resource version."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.mirror import Mirror
from jacquard.lab.rehearsal.operators.view import View
from jacquard.providers.kube import ApiError, ObjectRef
from jacquard.providers.kube.discovery import Resource
from tests.support.machine.scaled_timeout import ScaledTimeout

HOST = ("metal3.io/v1alpha1", "BareMetalHost")
END = "END"
BROKEN = "BROKEN"


class Server:
    """Returns configured objects in lists, and configured events in a watch."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.asked: list[Mapping[str, Any]] = []
        self.events: queue.Queue[Any] = queue.Queue()

    def resource(self, *_: str) -> Resource:
        return Resource("/apis/metal3.io/v1alpha1", "baremetalhosts", namespaced=True)

    def request(self, _: str, path: str, *, query: Mapping[str, Any]) -> Any:
        self.asked.append({"path": path, **query})
        return {"metadata": {"resourceVersion": "7"}, "items": [{"metadata": host(name)} for name in self.names]}

    def lines(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        self.asked.append({"path": path, **query})
        while (event := self.events.get(timeout=30)) != END:
            if event == BROKEN:
                raise ApiError(500, "Gone", "it broke off")
            yield event

    def patch(self, ref: ObjectRef, patch: Any, **_: Any) -> dict[str, Any]:
        return answered(ref.name, 9, **{**patch, "metadata": host(ref.name, 9)})

    def tell(self, what: str, name: str, version: int = 8, **more: Any) -> None:
        self.events.put({"type": what, "object": {"metadata": host(name, version), **more}})


def host(name: str, version: int = 7) -> dict[str, Any]:
    return {"name": name, "namespace": "inventory", "resourceVersion": str(version)}


def mirrored(server: Any) -> Mirror:
    return Mirror(server, server)


def names(mirror: Mirror) -> list[str]:
    return [name for _, name in mirror.objects(*HOST)]


def await_that(reached: Callable[[], bool]) -> None:
    patience = ScaledTimeout(30)
    while not reached():
        assert not patience.is_over(), "the mirror was never told"


def test_a_kind_is_listed_once_and_watched_from_the_version_of_its_list() -> None:
    server = Server("b", "a")
    mirror = mirrored(server)

    assert names(mirror) == ["a", "b"]
    assert mirror.objects(*HOST)["inventory", "a"] == {
        "apiVersion": HOST[0],
        "kind": HOST[1],
        "metadata": host("a"),
    }
    await_that(lambda: len(server.asked) == 2)
    listed, watched = server.asked
    assert (listed["resourceVersion"], watched["watch"], watched["resourceVersion"]) == ("0", True, "7")
    server.events.put(END)


def test_objects_shared_by_readers_cannot_be_changed() -> None:
    server = Server("a")
    mirror = mirrored(server)

    names(mirror)
    server.tell("ADDED", "b")
    await_that(lambda: names(mirror) == ["a", "b"])

    for host_there in mirror.objects(*HOST).values():
        with pytest.raises(TypeError):
            host_there["metadata"]["name"] = "c"
    server.events.put(END)


def test_events_update_the_mirror_without_another_list() -> None:
    server = Server("a", "b")
    mirror = mirrored(server)
    names(mirror)

    server.tell("ADDED", "c")
    server.tell("MODIFIED", "b", spec={"online": True})
    server.tell("DELETED", "a")

    await_that(lambda: names(mirror) == ["b", "c"])
    assert mirror.objects(*HOST)["inventory", "b"]["spec"] == {"online": True}
    assert len([one for one in server.asked if "limit" in one]) == 1
    server.events.put(END)


@pytest.mark.parametrize("end", [END, BROKEN, {"type": "ERROR", "object": {"code": 410}}], ids=["end", "break", "old"])
def test_after_a_watch_that_ends_the_next_look_is_a_list(end: Any) -> None:
    server = Server("a")
    mirror = mirrored(server)
    names(mirror)
    server.names = ("b",)

    server.events.put(end)

    await_that(lambda: names(mirror) == ["b"])
    server.events.put(END)


def test_after_its_timeout_a_watch_continues_from_its_last_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jacquard.lab.rehearsal.operators.mirror.WATCH_SECONDS", 0)
    server, changed = Server("a"), threading.Event()
    mirror = Mirror(server, server, changed)  # type: ignore[arg-type]  # as much of a server as a mirror asks
    names(mirror)
    server.events.put({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "12"}}})
    server.events.put(END)

    await_that(lambda: len(server.asked) == 3)

    assert [(one.get("limit"), one["resourceVersion"]) for one in server.asked[1:]] == [(None, "7"), (None, "12")]
    assert not changed.is_set(), "readers are notified although nothing changed"
    server.tell("ADDED", "c", 13)
    await_that(lambda: names(mirror) == ["a", "c"])
    server.names = ("d",)
    server.events.put(BROKEN)
    await_that(lambda: names(mirror) == ["d"])
    server.events.put(BROKEN)


def test_a_watch_ends_with_its_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jacquard.lab.rehearsal.operators.mirror.WATCH_SECONDS", 0)
    server = Server("a")
    mirror = mirrored(server)
    names(mirror)
    await_that(lambda: len(server.asked) == 2)

    del mirror
    server.events.put(END)

    await_that(lambda: not any(thread.name == f"watch {HOST[1]}" for thread in threading.enumerate()))
    assert len(server.asked) == 2


def test_waiting_readers_are_notified_of_changes_and_of_the_end_of_a_watch() -> None:
    server, changed = Server("a"), threading.Event()
    names(Mirror(server, server, changed))  # type: ignore[arg-type]  # as much of a server as a mirror asks

    assert not changed.is_set()
    server.tell("MODIFIED", "a")
    assert changed.wait(30)
    changed.clear()
    server.events.put(END)
    assert changed.wait(30)


def test_a_snapshot_does_not_change() -> None:
    server = Server("a")
    mirror = mirrored(server)
    before = mirror.objects(*HOST)

    server.tell("DELETED", "a")

    await_that(lambda: names(mirror) == [])
    assert [name for _, name in before] == ["a"]
    server.events.put(END)


def answered(name: str, version: int, **more: Any) -> dict[str, Any]:
    """Return the server's response to a change."""
    return {"apiVersion": HOST[0], "kind": HOST[1], "metadata": host(name, version), **more}


def test_a_round_sees_the_writes_of_the_previous_one() -> None:
    server: Any = Server("a")
    mirror = mirrored(server)
    before = View(server, mirror)
    [there] = before.all(*HOST)

    before.status(there, {"ready": True})

    [seen] = View(server, mirror).all(*HOST)
    assert seen["status"] == {"ready": True}
    server.events.put(END)


def test_the_latest_view_of_a_round_sees_objects_that_its_first_view_does_not() -> None:
    server: Any = Server("a")
    mirror = mirrored(server)
    first = View(server, mirror)
    assert [obj["metadata"]["name"] for obj in first.all(*HOST)] == ["a"]

    server.tell("ADDED", "b")
    await_that(lambda: names(mirror) == ["a", "b"])

    assert [obj["metadata"]["name"] for obj in first.all(*HOST)] == ["a"]
    assert [obj["metadata"]["name"] for obj in first.latest().all(*HOST)] == ["a", "b"]
    server.events.put(END)


def test_own_writes_are_visible_despite_older_events_of_the_watch() -> None:
    server = Server("a", "b")
    mirror = mirrored(server)
    names(mirror)

    mirror.changed(answered("a", 10, status={"ready": True}))
    assert mirror.objects(*HOST)["inventory", "a"]["status"] == {"ready": True}
    server.tell("MODIFIED", "a", 9)
    server.tell("DELETED", "b", 11)

    await_that(lambda: names(mirror) == ["a"])
    assert mirror.objects(*HOST)["inventory", "a"]["status"] == {"ready": True}
    server.tell("DELETED", "a", 12)
    await_that(lambda: names(mirror) == [])
    server.events.put(END)


def test_a_response_restores_no_deleted_object_and_adds_no_unwatched_kind() -> None:
    server = Server("a")
    mirror = mirrored(server)
    mirror.changed(answered("a", 9))
    names(mirror)
    server.tell("DELETED", "a", 11)
    await_that(lambda: names(mirror) == [])

    mirror.changed(answered("a", 10))

    assert names(mirror) == []
    server.events.put(END)
