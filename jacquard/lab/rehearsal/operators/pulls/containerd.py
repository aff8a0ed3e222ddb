"""Registry hosts that containerd requests an image from, from the files in a node's bootstrap data.

As in containerd/containerd:core/remotes/docker/config/hosts.go, ``config_path`` is ``/etc/containerd/certs.d``. The
directory of the registry is used, otherwise ``_default``. Hosts of ``hosts.toml`` are tried in the order of the file,
then its ``server``, by default the registry itself. Certificates are not checked.

Golden images of kubeadm nodes set this path. containerd of k0s uses it only if a file in ``/etc/k0s/containerd.d``
contains it (k0sproject/k0s:docs/runtime.md).
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from jacquard.lab.rehearsal.images import ImageName
from jacquard.lab.rehearsal.operators.view import Object

CERTS_D = PurePosixPath("/etc/containerd/certs.d")
_ETC_HOSTS = "/etc/hosts"
_K0S, _K0S_SETTINGS = "K0sWorkerConfig", "/etc/k0s/containerd.d/"
_HUB, _HUB_HOST = "docker.io", "registry-1.docker.io"
_EVERYTHING = ("pull", "resolve", "push")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Host:
    """A server that containerd requests."""

    scheme: str
    name: str
    """Name or address, without the port."""
    port: int
    root: str
    """Scheme, host and path before the repository."""
    is_proxy: bool
    """Whether the server is another one than the registry of the image, which the query then contains."""

    def url(self, image: ImageName) -> str:
        """Return the URL of the manifest of ``image``."""
        query = f"?ns={image.registry}" if self.is_proxy else ""
        return f"{self.root}/{image.repository}/manifests/{image.reference}{query}"


def hosts(files: Mapping[str, str], image: ImageName) -> list[Host]:
    """Return the hosts that containerd requests ``image`` from, in order.

    Args:
        files: Content of the node's files, by path.
        image: A tag requires hosts that resolve tags.

    Raises:
        ValueError: A ``hosts.toml`` is invalid.
    """
    capabilities = {"pull"} if image.digest else {"pull", "resolve"}
    text = next((files[path] for path in _paths(image.registry) if path in files), "")
    return list(dict.fromkeys(_hosts(text, image.registry, capabilities)))


def address(files: Mapping[str, str], name: str) -> str | None:
    """Return the address of a host name in ``/etc/hosts``; None if only DNS can know it."""
    for line in files.get(_ETC_HOSTS, "").splitlines():
        found, *names = line.partition("#")[0].split() or [""]
        if name in names:
            return found
    return None


def files_of(config: Object) -> dict[str, str]:
    """Return the files of a bootstrap config that containerd reads, by path.

    A file with ``append`` extends an earlier one. Without the path in the settings of k0s, there are no hosts files.
    """
    contents: dict[str, str] = {}
    for file in config.get("spec", {}).get("files") or ():
        before = contents.get(file["path"], "") if file.get("append") else ""
        contents[file["path"]] = before + (file.get("content") or "")
    settings = (text for path, text in contents.items() if path.startswith(_K0S_SETTINGS))
    if config.get("kind") != _K0S or any(f'config_path = "{CERTS_D}"' in text for text in settings):
        return contents
    return {path: text for path, text in contents.items() if not path.startswith(str(CERTS_D))}


def _paths(registry: str) -> Iterator[str]:
    host, colon, port = registry.rpartition(":")
    names = [f"{host}_{port}_"] if colon else []
    return (str(CERTS_D / name / "hosts.toml") for name in (*names, registry, "_default"))


def _hosts(text: str, registry: str, capabilities: set[str]) -> Iterator[Host]:
    config = tomllib.loads(text)
    for name, fields in (config.get("host") or {}).items():
        if capabilities <= set(fields.get("capabilities") or _EVERYTHING):
            yield _host(name, registry, override_path=bool(fields.get("override_path")))
    if capabilities <= set(config.get("capabilities") or _EVERYTHING):
        server = config.get("server") or (_HUB_HOST if registry == _HUB else registry)
        yield _host(server, registry, override_path=bool(config.get("override_path")))


def _host(text: str, registry: str, *, override_path: bool) -> Host:
    parts = urlsplit(text if text.startswith("http") else f"https://{text}")
    path = parts.path.rstrip("/")
    if not path.endswith("/v2") and not override_path:
        path += "/v2"
    return Host(
        scheme=parts.scheme,
        name=parts.hostname or "",
        port=parts.port or _PORTS[parts.scheme],
        root=f"{parts.scheme}://{parts.netloc}{path}",
        is_proxy=parts.netloc != (_HUB_HOST if registry == _HUB else registry),
    )
