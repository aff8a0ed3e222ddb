"""The pull-through cache of the region's registry: values of its chart, and settings of zot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from components.render.region import registry
from components.render.region.region import RegionInput
from components.specs.region.region import RegionSpec
from tests.support.add_ons import chart_values

SETTINGS = Path(chart_values.__file__).with_name("zot_settings.yaml")


def spec(inputs_of: Any, **changes: Any) -> RegionSpec:
    [found] = inputs_of(RegionInput)
    region: RegionSpec = found.spec
    assert region.registry is not None
    assert region.registry.cache is not None
    cache = region.registry.cache.model_copy(update=changes)
    return region.model_copy(update={"registry": region.registry.model_copy(update={"cache": cache})})


def values(region: RegionSpec) -> dict[str, Any]:
    [operator] = registry.operators(region)
    return dict(operator.values)


def settings(region: RegionSpec) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(values(region)["configFiles"]["config.json"])
    return loaded


def test_the_cache_is_served_at_the_address_and_port_of_the_mirror(inputs_of: Any) -> None:
    found = values(spec(inputs_of))

    assert found["service"] == {
        "type": "LoadBalancer",
        "port": 443,
        "annotations": {"metallb.io/address-pool": "control-plane-vips", "metallb.io/loadBalancerIPs": "10.3.0.250"},
    }
    assert found["pvc"] == {"storage": "100Gi", "storageClassName": "local-nvme"}


def test_each_upstream_is_below_its_name_with_digests_of_upstream(inputs_of: Any) -> None:
    synced = settings(spec(inputs_of, upstreams=("docker.io", "quay.io")))["extensions"]["sync"]

    assert [(item["urls"], item["content"]) for item in synced["registries"]] == [
        (["https://index.docker.io"], [{"prefix": "**", "destination": "/docker.io"}]),
        (["https://quay.io"], [{"prefix": "**", "destination": "/quay.io"}]),
    ]
    assert all(item["onDemand"] and item["tlsVerify"] and item["preserveDigest"] for item in synced["registries"])
    assert settings(spec(inputs_of))["http"]["compat"] == ["docker2s2"]


def unknown(found: Any, known: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of ``found`` that are not among the ``known`` settings of zot."""
    for entry in found if isinstance(found, list) else [found]:
        for key, value in entry.items() if isinstance(entry, dict) else ():
            if key in known or "*" in known:
                yield from unknown(value, known.get(key, known.get("*")) or {}, f"{path}.{key}")
            else:
                yield f"{path}.{key}"


def test_the_version_of_zot_has_all_settings(inputs_of: Any) -> None:
    region = spec(inputs_of, upstreams=("docker.io", "quay.io"), credentials="logins")
    recorded = yaml.safe_load(SETTINGS.read_text())
    chart = chart_values.record(registry.CHART)
    assert chart is not None

    version = values(region).get("image", {}).get("tag", chart.defaults["image.tag"])
    assert version == recorded["version"]
    assert [*unknown(settings(region), recorded["settings"])] == []
    # Without `keepUntagged`, which zot has since v2.1.19, the cache would delete all images that were pulled by digest.
    assert chart.defaults["image.tag"] == "v2.1.18", "remove the value image.tag if the chart has this version"


def test_clients_cannot_push(inputs_of: Any) -> None:
    assert settings(spec(inputs_of))["http"]["accessControl"] == {"repositories": {"**": {"anonymousPolicy": ["read"]}}}


def test_credentials_are_a_mounted_secret(inputs_of: Any) -> None:
    anonymous, named = spec(inputs_of), spec(inputs_of, credentials="logins")

    assert [item["secretName"] for item in values(anonymous)["externalSecrets"]] == ["registry-tls"]
    assert "extraVolumes" not in values(anonymous)
    assert "credentialsFile" not in settings(anonymous)["extensions"]["sync"]
    assert values(named)["extraVolumes"] == [{"name": "credentials", "secret": {"secretName": "logins"}}]
    assert settings(named)["extensions"]["sync"]["credentialsFile"] == "/etc/zot-credentials/credentials.json"


def test_a_region_without_a_cache_installs_nothing(inputs_of: Any) -> None:
    region = spec(inputs_of)
    assert region.registry is not None

    assert registry.operators(region.model_copy(update={"registry": None})) == ()
    assert (
        registry.operators(region.model_copy(update={"registry": region.registry.model_copy(update={"cache": None})}))
        == ()
    )


def test_dpus_pull_images_of_nvidia_below_their_upstream(inputs_of: Any) -> None:
    served, other = (spec(inputs_of, upstreams=names).registry for names in (("nvcr.io",), ("quay.io",)))
    assert served is not None
    assert other is not None

    assert served.for_dpus == "registry.laptop.cloud.example/v2/nvcr.io"
    assert other.for_dpus is None
    assert other.model_copy(update={"cache": None}).for_dpus == "registry.laptop.cloud.example"
