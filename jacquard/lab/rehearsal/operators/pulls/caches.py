"""Pull-through caches in the management cluster: what the zot of a release serves at its address.

zot fetches an image on demand from the upstream whose ``destination`` starts the path of the request, and ignores the
``ns`` parameter of containerd (project-zot/zot:pkg/extensions/sync). Credentials, certificates and storage are not
simulated. An address without a release belongs to a proxy outside the region, which serves every upstream.
"""

import json
from collections.abc import Iterator
from ipaddress import IPv4Address
from urllib.parse import urlsplit

from jacquard.lab.rehearsal.images import ImageName
from jacquard.lab.rehearsal.operators.releases.installed import HELM, chart_of
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, reported
from jacquard.providers.kube.objects import dig

_CHART = "zot"
_ADDRESS = "metallb.io/loadBalancerIPs"
_HUB_HOSTS = {"docker.io", "index.docker.io", "registry-1.docker.io"}


def cache_at(management: View, address: IPv4Address) -> Object | None:
    """Return the release of the cache with ``address``, or None."""
    for release in management.all(HELM, "HelmRelease"):
        annotations = dig(release, "spec", "values", "service", "annotations") or {}
        if annotations.get(_ADDRESS) == str(address) and chart_of(management, release) == _CHART:
            return release
    return None


def responds(cache: Object) -> bool:
    """Return whether the release of a cache is installed."""
    return not deleting(cache) and reported(cache, "Ready")


def serves(cache: Object, url: str, image: ImageName) -> bool:
    """Return whether the cache fetches ``image`` when ``url`` is requested."""
    path = urlsplit(url).path.removeprefix("/v2")
    served = (
        host == image.registry or {host, image.registry} <= _HUB_HOSTS
        for destination, host in _upstreams(cache)
        if path == f"{destination}/{image.repository}/manifests/{image.reference}"
    )
    return any(served)


def _upstreams(cache: Object) -> Iterator[tuple[str, str]]:
    """Yield the path and the host of each upstream."""
    text = dig(cache, "spec", "values", "configFiles") or {}
    settings = json.loads(text.get("config.json") or "{}")
    for entry in dig(settings, "extensions", "sync", "registries") or ():
        for content in entry.get("content") or ():
            yield content.get("destination", "").rstrip("/"), urlsplit(entry["urls"][0]).netloc
