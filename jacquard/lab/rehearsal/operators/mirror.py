"""Copy of an API server's objects, kept current by watches, so that unchanged objects are not read again."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from urllib3.exceptions import HTTPError

from jacquard.lab.rehearsal.operators.sealed import sealed
from jacquard.providers.kube import ApiError, ApiServer

Objects: TypeAlias = dict[tuple[str, str], dict[str, Any]]
"""Objects of a kind by namespace and name; no namespace for a cluster-scoped kind."""
CONNECTIONS = 128
"""Maximum number of connections, above the number of watched kinds: each watch uses one."""
WATCH_SECONDS = 300
"""Duration after which the API server ends a watch, so that watches of a discarded mirror end too."""
_ALL = 100_000
"""Limit of a list, above the number of objects of a kind in a local region."""
_LOG = logging.getLogger("operators")


class Mirror:
    """The objects of one API server; each kind is listed on first use and watched from then on.

    After its timeout, a watch continues from its last version. If it ends earlier, such as with its server or its kind,
    or if the server no longer has that version, the next use lists the kind again.

    Args:
        api: Client for lists.
        watching: Client of the same server with a connection for each kind and a timeout above `WATCH_SECONDS`.
        changed: Set when a watch reports a change, or misses changes.
    """

    def __init__(self, api: ApiServer, watching: ApiServer, changed: threading.Event | None = None) -> None:
        self._api = api
        self._watching = watching
        self._notify = changed or threading.Event()
        self._watched: dict[tuple[str, str], _Watched] = {}

    def objects(self, api_version: str, kind: str) -> Objects:
        """Return the objects of a kind, read-only and sorted by namespace and name.

        Raises:
            KindNotFound: The server does not serve the kind (yet).
        """
        watched = self._watched.get((api_version, kind))
        if watched is None or watched.is_lost:
            watched = self._watched[api_version, kind] = self._listed(api_version, kind)
            self._follow(api_version, kind, watched)
        return watched.objects()

    def changed(self, answer: dict[str, Any]) -> None:
        """Store the object that the server returned for a change, because the watch may be late."""
        watched = self._watched.get((answer["apiVersion"], answer["kind"]))
        if watched is not None:
            watched.changed(answer)

    def _listed(self, api_version: str, kind: str) -> _Watched:
        # For version 0, the API server answers from its cache without a request to etcd, and ignores the limit. But if
        # the server has not cached a new kind yet, a limit makes it read etcd instead of requiring a retry.
        path = self._api.resource(api_version, kind).collection(None)
        answer = self._api.request("GET", path, query={"resourceVersion": "0", "limit": _ALL})
        identity = {"apiVersion": api_version, "kind": kind}
        listed = (identity | item for item in answer.get("items") or ())
        return _Watched(listed, answer["metadata"]["resourceVersion"], self._notify)

    def _follow(self, api_version: str, kind: str, watched: _Watched) -> None:
        path = self._api.resource(api_version, kind).collection(None)
        # Bookmarks keep the version recent for kinds that rarely change.
        query = {"watch": True, "allowWatchBookmarks": True, "timeoutSeconds": WATCH_SECONDS}
        watching, mirror = self._watching, weakref.ref(self)

        def events() -> Iterable[Any] | None:
            read = mirror() is not None
            return watching.lines(path, {**query, "resourceVersion": watched.version}) if read else None

        threading.Thread(target=watched.follow, args=(events,), name=f"watch {kind}", daemon=True).start()


class _Watched:
    """The objects of one kind since they were listed."""

    def __init__(self, listed: Iterable[dict[str, Any]], version: str, changed: threading.Event) -> None:
        self.is_lost = False
        """Whether changes may be missed."""
        self.version = version
        self._notify = changed
        self._objects: Objects = {_key(item): sealed(item) for item in listed}
        self._sorted: Objects | None = None
        """The objects as returned to readers; None after a change."""
        self._lock = threading.Lock()

    def objects(self) -> Objects:
        with self._lock:
            if self._sorted is None:
                self._sorted = dict(sorted(self._objects.items()))
            return self._sorted

    def changed(self, answer: dict[str, Any]) -> None:
        """Store a later version of a known object; a deleted object is not stored again."""
        with self._lock:
            known = self._objects.get(_key(answer))
            if known is not None and _version(known) < _version(answer):
                self._objects[_key(answer)] = sealed(answer)
                self._sorted = None

    def follow(self, events: Callable[[], Iterable[Any] | None]) -> None:
        """Process the events of one watch after the other, until changes may be missed or ``events`` returns None."""
        try:
            while (found := events()) is not None:
                start = time.monotonic()
                for event in found:
                    if event["type"] == "ERROR":  # the requested version is too old, or the server ended the watch
                        return
                    self._take(event["type"], event["object"])
                # A server that stops also ends its watches, and may have other data when it returns.
                if time.monotonic() - start < WATCH_SECONDS:
                    return
        except (ApiError, HTTPError, ValueError) as error:
            _LOG.debug("a watch ended: %s", error)
        finally:
            self.is_lost = True
            self._notify.set()

    def _take(self, event_type: str, item: dict[str, Any]) -> None:
        self.version = item["metadata"]["resourceVersion"]
        if event_type == "BOOKMARK":
            return
        with self._lock:
            known = self._objects.get(_key(item))
            if known is not None and _version(item) < _version(known):  # a later version is already stored
                return
            if event_type == "DELETED":
                self._objects.pop(_key(item), None)
            else:
                self._objects[_key(item)] = sealed(item)
            self._sorted = None
        self._notify.set()


def _key(item: dict[str, Any]) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _version(item: dict[str, Any]) -> int:
    """Return the version of an object as a number: etcd's revision, comparable by the Kubernetes API since 1.35."""
    return int(item["metadata"]["resourceVersion"])
