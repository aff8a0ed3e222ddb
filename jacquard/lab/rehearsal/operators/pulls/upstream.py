"""Registries outside the region: the images that they serve, and requests for them to the region's registry."""

from __future__ import annotations

import json
from collections.abc import Iterable
from ipaddress import IPv4Address

import urllib3

from jacquard.lab.rehearsal import registry
from jacquard.lab.rehearsal.images import CONTENT_TYPE, PUBLIC, ImageName, Store
from jacquard.lab.rehearsal.region import Region
from jacquard.machine.paths import IMAGES

_TIMEOUT_SECONDS = 5.0


class Refused(Exception):  # noqa: N818 - the answer of a server, not an error of this program
    """A registry does not answer a request; the text is containerd's."""


class Upstream:
    """Images that registries outside the region serve, as listed in the region's folder and added by controllers."""

    def __init__(self, region: Region) -> None:
        """Read nothing yet."""
        self._region = region
        self._store = Store(registry.storage(region))
        self._modified = 0
        self._names: dict[str, IPv4Address] = {}
        self._address: str | None = None
        self._http = urllib3.PoolManager(retries=False, timeout=_TIMEOUT_SECONDS)

    def reconcile(self) -> None:
        """Serve the listed images, after each change of the list."""
        path = self._region.folder / IMAGES
        modified = path.stat().st_mtime_ns if path.exists() else 0
        if modified != self._modified:
            listed = json.loads(path.read_text(encoding="utf-8"))
            self._names = {name: IPv4Address(address) for name, address in listed["addresses"].items()}
            self.serve(listed["images"])
            self._modified = modified
        self.serve(PUBLIC)

    def serve(self, images: Iterable[str]) -> None:
        """Add images by their names in containers."""
        self._store.serve(images)

    def address(self, name: str) -> IPv4Address | None:
        """Return the address of a host name in DNS, or None if the name is outside the region."""
        return self._names.get(name)

    def digest(self, image: ImageName, url: str) -> str | None:
        """Request the manifest of ``image``, and return its digest; None if the registry does not have it.

        Raises:
            Refused: The registry does not respond, or responds with an error; ``url`` is in the text.
        """
        if self._address is None:
            self._address = registry.address(self._region)
        headers = {"Accept": CONTENT_TYPE}
        try:
            where = f"http://{self._address}/v2/{image.path}/manifests/{image.reference}"
            answer = self._http.request("HEAD", where, headers=headers)
        except urllib3.exceptions.HTTPError as error:
            self._address = None  # a restarted registry has another port
            msg = f'failed to do request: Head "{url}": EOF'
            raise Refused(msg) from error
        if answer.status == 404:  # noqa: PLR2004 - HTTP status code
            return None
        if answer.status != 200:  # noqa: PLR2004 - HTTP status code
            msg = f"unexpected status from HEAD request to {url}: {answer.status} {answer.reason}"
            raise Refused(msg)
        return image.digest or str(answer.headers["Docker-Content-Digest"])
