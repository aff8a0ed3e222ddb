"""Finds the kinds that an API server serves, and their paths."""

from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from jacquard.providers.kube.errors import ApiError, KindNotFound


@dataclass(frozen=True, slots=True)
class Resource:
    """Path of the objects of a kind, and their naming."""

    prefix: str
    """Path of the kind's group, such as ``/api/v1`` or ``/apis/metal3.io/v1alpha1``."""
    plural: str
    namespaced: bool

    def collection(self, namespace: str | None) -> str:
        """Return the path of all objects, or of the objects in one namespace."""
        place = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        return f"{self.prefix}{place}/{self.plural}"


class Server(Protocol):
    """The part of a client that discovery needs."""

    def request(self, method: str, path: str) -> Any:
        """Send a request and return the decoded response."""


class Discovery:
    """Cache of the kinds of an API server, queried by group and version."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, dict[str, Resource]] = {}
        # No lock: a duplicate query is cheap, but waiting for a lock behind an unresponsive server can take hours.

    def resource(self, api_version: str, kind: str) -> Resource:
        """Return the resource of ``kind``; query again if ``kind`` is not cached, because its CRD may be new.

        Raises:
            KindNotFound: The server does not serve it now.
        """
        resource = self._known.get(api_version, {}).get(kind)
        if resource is None:
            self._known[api_version] = kinds = self._ask(api_version, kind)
            resource = kinds.get(kind)
        if resource is None:
            raise KindNotFound(api_version, kind)
        return resource

    def version(self, group: str, kind: str) -> str | None:
        """Return a served apiVersion of a kind, if possible the server's preferred version; None if there is none."""
        for version in self._versions(group):
            try:
                self.resource(version, kind)
            except KindNotFound:
                continue
            return version
        return None

    def _versions(self, group: str) -> list[str]:
        if not group:
            return ["v1"]
        try:
            answer = self._server.request("GET", f"/apis/{group}")
        except ApiError as error:
            if error.not_found:
                return []
            raise
        served = [answer["preferredVersion"], *answer["versions"]]
        return list(dict.fromkeys(str(item["groupVersion"]) for item in served))

    def _ask(self, api_version: str, kind: str) -> dict[str, Resource]:
        prefix = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            answer = self._server.request("GET", prefix)
        except ApiError as error:
            if error.not_found:
                raise KindNotFound(api_version, kind) from None
            raise
        return {
            str(item["kind"]): Resource(prefix, str(item["name"]), bool(item["namespaced"]))
            for item in answer["resources"]
            if "/" not in item["name"]
        }
