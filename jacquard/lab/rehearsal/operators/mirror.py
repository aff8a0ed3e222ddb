"""The objects of an API server as its watches tell of them: what has not changed is not asked for again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Any, TypeAlias

from urllib3.exceptions import HTTPError

from jacquard.lab.rehearsal.operators.sealed import sealed
from jacquard.providers.kube import ApiError, ApiServer

Objects: TypeAlias = dict[tuple[str, str], dict[str, Any]]
"""Objects of a kind by namespace and name; no namespace for a cluster-scoped kind."""
CONNECTIONS = 128
"""More than the kinds that anybody looks at: each watch holds one."""
WATCH_SECONDS = 300
"""After what length of time an API server ends a watch, so that none of a thrown-away mirror stays for ever."""
_ALL = 100_000
"""More objects than a kind has in a local region."""
_LOG = logging.getLogger("operators")


class Mirror:
    """The objects of one API server, each kind listed at the first look and watched from then on.

    A watch that ends, by time, with its server or with its kind, is followed by a new list at the next look.

    Args:
        api: Asked for lists.
        watching: The same server, with as many connections as there are kinds and patience for `WATCH_SECONDS`.
        told: Set whenever a watch tells something, or ends.
    """

    def __init__(self, api: ApiServer, watching: ApiServer, told: threading.Event | None = None) -> None:
        self._api = api
        self._watching = watching
        self._told = told or threading.Event()
        self._watched: dict[tuple[str, str], _Watched] = {}

    def objects(self, api_version: str, kind: str) -> Objects:
        """Return the objects of a kind in the order of namespaces and names; none of them can be changed.

        Raises:
            KindNotFound: The server does not serve the kind (yet).
        """
        watched = self._watched.get((api_version, kind))
        if watched is None or watched.ended.is_set():
            watched = self._watched[api_version, kind] = self._begin(api_version, kind)
        return watched.objects()

    def changed(self, answer: dict[str, Any]) -> None:
        """Take what the server answered to a change, which the watch may tell of only after the next look."""
        watched = self._watched.get((answer["apiVersion"], answer["kind"]))
        if watched is not None:
            watched.changed(answer)

    def _begin(self, api_version: str, kind: str) -> _Watched:
        path = self._api.resource(api_version, kind).collection(None)
        # Version 0: from the API server's memory, without a question to etcd. With a limit, which it then ignores, a
        # server that has not yet read a new kind asks etcd, instead of the client to come back in a second.
        answer = self._api.request("GET", path, query={"resourceVersion": "0", "limit": _ALL})
        stated = {"apiVersion": api_version, "kind": kind}
        watched = _Watched((stated | item for item in answer.get("items") or ()), self._told)
        query = {"watch": True, "resourceVersion": answer["metadata"]["resourceVersion"]}
        events = self._watching.lines(path, {**query, "timeoutSeconds": WATCH_SECONDS})
        threading.Thread(target=watched.follow, args=(events,), name=f"watch {kind}", daemon=True).start()
        return watched


class _Watched:
    """The objects of one kind, for as long as one watch goes on."""

    def __init__(self, listed: Iterable[dict[str, Any]], told: threading.Event) -> None:
        self.ended = threading.Event()
        self._told = told
        self._objects: Objects = {_key(item): sealed(item) for item in listed}
        self._lock = threading.Lock()

    def objects(self) -> Objects:
        with self._lock:
            return dict(sorted(self._objects.items()))

    def changed(self, answer: dict[str, Any]) -> None:
        """Take a later version of an object that is there; one that is gone does not come back by it."""
        with self._lock:
            held = self._objects.get(_key(answer))
            if held is not None and _version(held) < _version(answer):
                self._objects[_key(answer)] = sealed(answer)

    def follow(self, events: Iterable[Any]) -> None:
        """Take what happens until the watch ends; what it cannot tell is seen by the list that follows it."""
        try:
            for event in events:
                if event["type"] == "ERROR":  # it asked for a version that is too old, or the server gives up
                    break
                self._take(event["type"], event["object"])
        except (ApiError, HTTPError, ValueError) as error:
            _LOG.debug("a watch ended: %s", error)
        finally:
            self.ended.set()
            self._told.set()

    def _take(self, what: str, item: dict[str, Any]) -> None:
        with self._lock:
            held = self._objects.get(_key(item))
            if held is not None and _version(item) < _version(held):  # it was changed here since
                return
            if what == "DELETED":
                self._objects.pop(_key(item), None)
            else:
                self._objects[_key(item)] = sealed(item)
        self._told.set()


def _key(item: dict[str, Any]) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _version(item: dict[str, Any]) -> int:
    """Return what orders the versions of an object: a number, as etcd has it and Kubernetes promises since 1.35."""
    return int(item["metadata"]["resourceVersion"])
