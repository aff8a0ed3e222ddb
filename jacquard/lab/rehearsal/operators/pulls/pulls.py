"""Simulated containerd of one cluster's nodes in one round: resolves images from each node."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address

from jacquard.lab.rehearsal.images import ImageName
from jacquard.lab.rehearsal.operators.hosts import nodes
from jacquard.lab.rehearsal.operators.pulls import caches, containerd
from jacquard.lab.rehearsal.operators.pulls.reach import UNKNOWN, Reach
from jacquard.lab.rehearsal.operators.pulls.upstream import Refused, Upstream
from jacquard.lab.rehearsal.operators.view import View
from jacquard.lab.rehearsal.region import MANAGEMENT

_NO_HOST = nodes.Origin(host="", config={})
"""Origin of a node whose host is not part of the region, such as nodes of the management cluster."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a pull: the digest, or the error of the container runtime."""

    digest: str = ""
    error: str = ""


@dataclass
class Pulls:
    """Pulls from the nodes of one cluster. Nodes with equal files and an equal network share each result."""

    management: View
    cluster: str
    upstream: Upstream
    _answers: dict[tuple[str, str, str], Answer] = field(default_factory=dict)

    def pull(self, node: str, image: ImageName) -> Answer:
        """Return the result of a pull of ``image`` on ``node``."""
        origin = self._origins.get((self.cluster, node), _NO_HOST)
        files = containerd.files_of(origin.config)
        key = (self._reach.network(origin.host), repr(sorted(files.items())), str(image))
        if key not in self._answers:
            self._answers[key] = self._resolve(origin.host, files, image)
        return self._answers[key]

    @cached_property
    def _origins(self) -> dict[tuple[str, str], nodes.Origin]:
        return {} if self.cluster == MANAGEMENT else nodes.origins(self.management)

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self.management)

    def _resolve(self, host: str, files: dict[str, str], image: ImageName) -> Answer:
        """Request all hosts in order, and return the first answer, or the error that containerd prefers.

        A missing image is preferred to an unreachable host, otherwise the first error counts
        (containerd/containerd:core/remotes/docker/resolver.go).
        """
        unreached, missing = "", False
        try:
            hosts = containerd.hosts(files, image)
        except ValueError as error:
            return _failed(image, f"failed to decode hosts.toml: {error}")
        for server in hosts:
            try:
                digest = self._request(host, files, server, image)
            except Refused as refused:
                unreached = unreached or str(refused)
            else:
                if digest is not None:
                    return Answer(digest=digest)
                missing = True
        if missing or not unreached:
            return _failed(image, f"{image}: not found", code="NotFound")
        return _failed(image, unreached)

    def _request(self, host: str, files: dict[str, str], server: containerd.Host, image: ImageName) -> str | None:
        url, address = server.url(image), self._address(files, server.name)
        if not self._reach.reaches(host, address or UNKNOWN, server.port):
            where = f"{address}:{server.port}" if address else f"lookup {server.name}"
            separator = " " if address else ": "
            msg = f'failed to do request: Head "{url}": dial tcp{separator}{where}: i/o timeout'
            raise Refused(msg)
        cache = caches.cache_at(self.management, address) if address else None
        if cache is not None and not caches.responds(cache):
            msg = f'failed to do request: Head "{url}": dial tcp {address}:{server.port}: connect: connection refused'
            raise Refused(msg)
        if cache is not None and not caches.serves(cache, url, image):
            return None
        return self.upstream.digest(image, url)

    def _address(self, files: dict[str, str], name: str) -> IPv4Address | None:
        try:
            return IPv4Address(containerd.address(files, name) or name)
        except AddressValueError:
            return self.upstream.address(name)


def _failed(image: ImageName, reason: str, code: str = "Unknown") -> Answer:
    text = f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": {reason}'
    return Answer(error=f"rpc error: code = {code} desc = {text}")
