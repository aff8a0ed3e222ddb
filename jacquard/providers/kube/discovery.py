"""Which kinds an API server serves, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from jacquard.providers.kube.errors import ApiError, KindNotFound


@dataclass(frozen=True, slots=True)
class Resource:
    """Path at which the objects of one kind live, and how they are named."""

    prefix: str
    """Path below which the kind's group is served, such as ``/api/v1`` or ``/apis/metal3.io/v1alpha1``."""
    plural: str
    namespaced: bool

    def collection(self, namespace: str | None) -> str:
        """Return the path of all objects, or of those of one namespace."""
        place = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
        return f"{self.prefix}{place}/{self.plural}"


class Server(Protocol):
    """The part of a client that discovery needs."""

    def request(self, method: str, path: str) -> Any:
        """Send one request and return the decoded answer."""


class Discovery:
    """The kinds of one API server, asked one group and version at a time and kept."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, dict[str, Resource]] = {}
        # No lock: a group asked for twice at once costs little, a queue behind a server that is silent costs hours.

    def resource(self, api_version: str, kind: str) -> Resource:
        """Return where ``kind`` lives, asking again when it is not known: its CRD may have come since.

        Raises:
            KindNotFound: The server does not serve it now.
        """
        found = self._known.get(api_version, {}).get(kind)
        if found is None:
            self._known[api_version] = kinds = self._ask(api_version, kind)
            found = kinds.get(kind)
        if found is None:
            raise KindNotFound(api_version, kind)
        return found

    def version(self, group: str, kind: str) -> str | None:
        """Return an apiVersion in which the server serves a kind, the preferred one if it can; None for none."""
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
