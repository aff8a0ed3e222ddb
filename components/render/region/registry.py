"""Pull-through cache of container images (zot) in the management cluster, at the address of the region's registry.

zot serves several upstreams below one path each and ignores the ``ns`` parameter of containerd, so nodes need a hosts
file for each upstream (template revision 2). distribution serves one upstream per process. The values are for the chart
zot 0.1.122, with a newer image: the retention of untagged images requires zot v2.1.19, and zot does not start with
unknown settings (ZOT:pkg/cli/server/root.go LoadConfiguration). Clusters pull by digest, so their images are untagged.

The cache is a single pod: zot fetches an image when its manifest is requested, so another pod would not have its
layers. While the pod restarts, nodes cannot pull new images. Every client can pull; only zot writes.
"""

import json
from functools import cache
from typing import Any

from components.render.control_planes.control_plane import ADDRESS_POOL
from components.render.objects import SERVICES_PRIORITY, given
from components.render.platform_pods import HARDENED
from components.render.region.operators import Operator
from components.specs.base import Registry
from components.specs.region.region import RegionSpec
from components.specs.region.registry import RegistryCacheSpec

CHART = "zot"
NAMESPACE = "registry"
PORT = 5000
"""Port of the pod."""
_CERTIFICATE, _CREDENTIALS = "/etc/zot-certificate", "/etc/zot-credentials"
_VERSION = "v2.1.19"
_USER = 65532
_KEPT = "720h"
"""Time since the last pull after which images are deleted."""
_HOSTS = {"docker.io": "index.docker.io"}
"""API hosts of registries whose image names have another host."""


def operators(region: RegionSpec) -> tuple[Operator, ...]:
    """Return the cache of ``region``; empty without one."""
    registry = region.registry
    if registry is None or registry.cache is None:
        return ()
    cache = registry.cache
    values = {
        "image": {"tag": _VERSION},
        "service": {
            "type": "LoadBalancer",
            "port": registry.port,
            "annotations": {
                "metallb.io/address-pool": ADDRESS_POOL,
                "metallb.io/loadBalancerIPs": str(registry.address),
            },
        },
        "httpGet": {"scheme": "HTTPS", "port": PORT},
        "persistence": True,
        "pvc": {"storage": cache.size, "storageClassName": cache.storage_class},
        "mountConfig": True,
        "configFiles": {"config.json": _configuration(cache)},
        "externalSecrets": [{"secretName": cache.certificate, "mountPath": _CERTIFICATE}],
        **(_mounted(cache.credentials) if cache.credentials else {}),
        "priorityClassName": SERVICES_PRIORITY,
        "podSecurityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "securityContext": {**HARDENED, "readOnlyRootFilesystem": False},
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "4Gi"}},
    }
    return (Operator(chart=CHART, namespace=NAMESPACE, values=values, awaited=False),)


def _mounted(credentials: str) -> dict[str, Any]:
    volume = {"name": "credentials", "secret": {"secretName": credentials}}
    mount = {"name": volume["name"], "mountPath": _CREDENTIALS, "readOnly": True}
    return {"extraVolumes": [volume], "extraVolumeMounts": [mount]}


@cache
def _configuration(settings: RegistryCacheSpec) -> str:
    return json.dumps(_settings(settings), indent=1)


def _settings(cache: RegistryCacheSpec) -> dict[str, Any]:
    kept = {"pulledWithin": _KEPT}
    policy = {
        "repositories": ["**"],
        "deleteReferrers": True,
        "deleteUntagged": True,
        "keepTags": [kept],
        "keepUntagged": kept,
    }
    return {
        "storage": {
            "rootDirectory": "/var/lib/registry",
            "gc": True,
            "dedupe": True,
            "retention": {"policies": [policy]},
        },
        "http": {
            "address": "0.0.0.0",  # noqa: S104 - inside the pod
            "port": str(PORT),
            "tls": {"cert": f"{_CERTIFICATE}/tls.crt", "key": f"{_CERTIFICATE}/tls.key"},
            # Without this setting zot converts Docker manifests, and their digests differ from the upstream's digests.
            "compat": ["docker2s2"],
            # Without a policy anyone could push, and replace the images of other tenants.
            "accessControl": {"repositories": {"**": {"anonymousPolicy": ["read"]}}},
        },
        "log": {"level": "info"},
        "extensions": {
            "sync": {
                "enable": True,
                **given(credentialsFile=cache.credentials and f"{_CREDENTIALS}/credentials.json"),
                "registries": [_upstream(name) for name in cache.upstreams],
            }
        },
    }


def _upstream(name: Registry) -> dict[str, Any]:
    return {
        "urls": [f"https://{_HOSTS.get(name, name)}"],
        "onDemand": True,
        "tlsVerify": True,
        "preserveDigest": True,
        "maxRetries": 3,
        "retryDelay": "5s",
        "content": [{"prefix": "**", "destination": f"/{name}"}],
    }
