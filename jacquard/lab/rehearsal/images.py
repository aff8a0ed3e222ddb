"""Names of container images, and their content in the region's registry.

The registry replaces all registries outside the region. An image of ``quay.io`` is in the repository ``quay.io/NAME``.
Content of a real image cannot be created here: every image has the same empty layer and configuration, and a manifest
with its name. A listed digest is an alias of that manifest.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IMPORTER = "quay.io/kubevirt/cdi-importer:latest"
"""Image of CDI's simulated pods; upstream's tag is the version of CDI."""
PAUSE = "registry.k8s.io/pause:3.10.1"
"""Image of pods whose work the simulated operators do."""
PUBLIC = ("docker.io/library/busybox:1.37", PAUSE, IMPORTER)
"""Images that users' pods may run, in addition to the images of the platform."""
CONTENT_TYPE = "application/vnd.oci.image.manifest.v1+json"
_DOCKER_HUB = "docker.io"
_NAME = re.compile(
    r"(?P<path>[a-zA-Z0-9][a-zA-Z0-9._:/-]*?)(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REPOSITORY = re.compile(f"{_PART}(?:/{_PART})*")
_EMPTY_TAR = bytes(1024)


@dataclass(frozen=True, slots=True)
class ImageName:
    """A complete image name, as containerd derives it from the name in a container."""

    registry: str
    repository: str
    """Name in the registry, without the registry."""
    tag: str
    """Empty if only the digest is set."""
    digest: str
    """Empty if only the tag is set."""

    @classmethod
    def of(cls, text: str) -> ImageName | None:
        """Return the name in ``text``, or None if it is invalid.

        Defaults as in distribution/reference:normalize.go: registry ``docker.io``, for it namespace ``library``, and
        tag ``latest``.
        """
        match = _NAME.fullmatch(text)
        if match is None:
            return None
        first, slash, rest = match["path"].partition("/")
        is_registry = bool(slash) and ("." in first or ":" in first or first == "localhost")
        registry, repository = (first, rest) if is_registry else (_DOCKER_HUB, match["path"])
        if not _REPOSITORY.fullmatch(repository):
            return None
        if registry == _DOCKER_HUB and "/" not in repository:
            repository = f"library/{repository}"
        tag, digest = match["tag"] or "", match["digest"] or ""
        return cls(registry, repository, tag or ("" if digest else "latest"), digest)

    @property
    def reference(self) -> str:
        """Return the reference that a client requests in the repository: the digest if set, otherwise the tag."""
        return self.digest or self.tag

    @property
    def path(self) -> str:
        """Return the repository in the region's registry; its names have no colon."""
        return f"{self.registry.lower().replace(':', '_')}/{self.repository}"

    def __str__(self) -> str:
        tag, digest = self.tag and f":{self.tag}", self.digest and f"@{self.digest}"
        return f"{self.registry}/{self.repository}{tag}{digest}"


class Store:
    """Content of the region's registry, in the layout of distribution (registry/storage/paths.go).

    Files are written directly: a registry without cache serves them immediately, and hundreds of images take a fraction
    of a second.
    """

    def __init__(self, folder: Path) -> None:
        """Use ``folder``, the root directory of the registry's storage."""
        self._root = folder / "docker" / "registry" / "v2"
        self._served: set[str] = set()

    def serve(self, texts: Iterable[str]) -> None:
        """Add the images with these names; invalid names are ignored, because no registry can serve them."""
        for text in texts:
            if text not in self._served:
                self._served.add(text)
                name = ImageName.of(text)
                if name is not None:
                    self._add(name)

    def _add(self, name: ImageName) -> None:
        repository = self._root / "repositories" / name.path
        for content in (_CONFIG, _LAYER):
            layer = self._blob(content)
            _write(repository / "_layers" / _place(layer) / "link", layer.encode())
        manifest = self._blob(_manifest(name))
        for digest in dict.fromkeys((manifest, name.digest or manifest)):
            _write(repository / "_manifests" / "revisions" / _place(digest) / "link", manifest.encode())
        if name.tag:
            tag = repository / "_manifests" / "tags" / name.tag
            _write(tag / "index" / _place(manifest) / "link", manifest.encode())
            _write(tag / "current" / "link", manifest.encode())

    def _blob(self, content: bytes) -> str:
        digest = _digest(content)
        algorithm, value = digest.split(":")
        path = self._root / "blobs" / algorithm / value[:2] / value / "data"
        if not path.exists():
            _write(path, content)
        return digest


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _json(**fields: Any) -> bytes:
    return json.dumps(fields, sort_keys=True).encode()


_LAYER = gzip.compress(_EMPTY_TAR, mtime=0)
_CONFIG = _json(
    architecture="amd64", os="linux", config={}, rootfs={"type": "layers", "diff_ids": [_digest(_EMPTY_TAR)]}
)


def _manifest(name: ImageName) -> bytes:
    return _json(
        schemaVersion=2,
        mediaType=CONTENT_TYPE,
        config=_descriptor("application/vnd.oci.image.config.v1+json", _CONFIG),
        layers=[_descriptor("application/vnd.oci.image.layer.v1.tar+gzip", _LAYER)],
        annotations={"org.opencontainers.image.ref.name": str(name)},
    )


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}


def _place(digest: str) -> Path:
    return Path(*digest.split(":"))


def _write(path: Path, content: bytes) -> None:
    """Write a file that readers see complete or not at all; unlike `replace_private`, do not wait for the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)
