"""Path of a pull: registries that a node's containerd tries in order, and their reachability."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jacquard.lab.rehearsal.images import ImageName
from jacquard.lab.rehearsal.operators.hosts import nodes
from jacquard.lab.rehearsal.operators.pulls import containerd, kubelets
from jacquard.lab.rehearsal.region import MANAGEMENT
from tests.support.objects.live_objects import obj
from tests.support.objects.pulled_pods import (
    CILIUM,
    DIGEST,
    HOSTS,
    MIRROR,
    URL,
    Registries,
    hbn,
    node,
    ovn,
    pod,
    pull,
    waiting,
)

pytestmark = pytest.mark.usefixtures("files")


def test_packets_dropped_by_the_dpu_time_out_and_a_permitted_mirror_responds(
    objects: Any, files: dict[str, str]
) -> None:
    direct, mirrored = objects(node(), pod(CILIUM)), objects(node(), pod(CILIUM))
    pull(objects(*hbn()), direct, Registries(CILIUM))
    reason = f'failed to do request: Head "{URL}": dial tcp: lookup quay.io: i/o timeout'
    assert waiting(direct)[0] == "ErrImagePull"
    assert waiting(direct)[1].endswith(f': failed to resolve reference "{CILIUM}": {reason}')

    files["/etc/containerd/certs.d/_default/hosts.toml"] = HOSTS
    files["/etc/hosts"] = f"127.0.0.1 localhost\n10.3.0.9 {MIRROR} # mirror\n"
    registries = Registries(CILIUM)
    pull(objects(*hbn()), mirrored, registries)

    assert waiting(mirrored) == ("ContainerCreating", "")
    assert registries.asked == [f"https://{MIRROR}/v2/cilium/cilium/manifests/v1.20.0?ns=quay.io"]


def test_without_a_permission_for_its_address_the_mirror_is_named_and_no_request_sent(
    objects: Any, files: dict[str, str]
) -> None:
    files["/etc/containerd/certs.d/_default/hosts.toml"] = HOSTS
    files["/etc/hosts"] = f"10.3.0.9 {MIRROR}\n"
    view, registries = objects(node(), pod(CILIUM)), Registries(CILIUM)

    pull(objects(*hbn([("0.0.0.0/0", "deny", None)])), view, registries)

    url = f"https://{MIRROR}/v2/cilium/cilium/manifests/v1.20.0?ns=quay.io"
    assert waiting(view)[1].endswith(f'failed to do request: Head "{url}": dial tcp 10.3.0.9:443: i/o timeout')
    assert registries.asked == []


def test_the_permission_is_for_one_port(objects: Any, files: dict[str, str]) -> None:
    files["/etc/containerd/certs.d/_default/hosts.toml"] = '[host."http://10.3.0.9:5000"]\n'
    view, registries = objects(node(), pod(CILIUM)), Registries(CILIUM)

    pull(objects(*hbn()), view, registries)

    assert "dial tcp 10.3.0.9:5000: i/o timeout" in waiting(view)[1]


@pytest.mark.parametrize(
    ("states", "reason"), [(("established", "new"), "ContainerCreating"), (("established",), "ErrImagePull")]
)
def test_a_rule_for_replies_permits_no_pull(objects: Any, states: tuple[str, ...], reason: str) -> None:
    view = objects(node(), pod(CILIUM))

    pull(objects(*hbn([("0.0.0.0/0", "permit", None)], states)), view, Registries(CILIUM))

    assert waiting(view)[0] == reason


@pytest.mark.parametrize(("routed", "reason"), [(True, "ContainerCreating"), (False, "ErrImagePull")])
def test_a_network_of_ovn_reaches_registries_only_if_it_is_routed(objects: Any, *, routed: bool, reason: str) -> None:
    view = objects(node(), pod(CILIUM))

    pull(objects(*ovn(routed=routed)), view, Registries(CILIUM))

    assert waiting(view)[0] == reason


def test_pods_of_the_management_cluster_pull_directly(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "origins", lambda _: pytest.fail("no host of the region is a management node"))
    view, registries = objects(node(), pod(CILIUM)), Registries(CILIUM)

    kubelets.Kubelets(registries).reconcile(view, MANAGEMENT, view)  # type: ignore[arg-type]  # what it uses

    assert registries.asked == [URL]


def test_a_registry_in_trouble_is_named_unless_another_one_lacks_the_image(objects: Any, files: dict[str, str]) -> None:
    files["/etc/containerd/certs.d/_default/hosts.toml"] = HOSTS
    view, registries = objects(node(), pod(CILIUM)), Registries()
    registries.refused = "unexpected status from HEAD request to https://registry.example: 503 Service Unavailable"

    pull(objects(), view, registries)

    assert waiting(view)[1].endswith(registries.refused)
    assert len(registries.asked) == 2, "the mirror, then the registry itself"


@pytest.mark.parametrize(
    ("hosts", "image", "roots"),
    [
        ({}, CILIUM, ["https://quay.io/v2"]),
        ({}, "nginx", ["https://registry-1.docker.io/v2"]),
        ({"_default": HOSTS}, CILIUM, [f"https://{MIRROR}/v2", "https://quay.io/v2"]),
        ({"_default": HOSTS, "quay.io": 'server = "https://a.example"\n'}, CILIUM, ["https://a.example/v2"]),
        (
            {"a.example_5000_": '[host."http://b.example:80/v2/a"]\noverride_path = true\n'},
            "a.example:5000/x:1",
            ["http://b.example:80/v2/a", "https://a.example:5000/v2"],
        ),
        (
            {"_default": f'server = "https://{MIRROR}"\ncapabilities = ["push"]\n[host."https://a.example/prefix"]\n'},
            CILIUM,
            ["https://a.example/prefix/v2"],
        ),
        ({"_default": '[host."https://a.example"]\ncapabilities = ["pull"]\n'}, CILIUM, ["https://quay.io/v2"]),
        (
            {"_default": '[host."https://a.example"]\ncapabilities = ["pull"]\n'},
            f"quay.io/a@{DIGEST}",
            ["https://a.example/v2", "https://quay.io/v2"],
        ),
    ],
)
def test_hosts_are_tried_in_containerds_order(hosts: dict[str, str], image: str, roots: list[str]) -> None:
    written = {f"/etc/containerd/certs.d/{name}/hosts.toml": text for name, text in hosts.items()}
    name = ImageName.of(image)
    assert name is not None

    assert [host.root for host in containerd.hosts(written, name)] == roots


def test_a_file_that_is_not_toml_is_the_reason(objects: Any, files: dict[str, str]) -> None:
    files["/etc/containerd/certs.d/_default/hosts.toml"] = "[host"
    view = objects(node(), pod(CILIUM))

    pull(objects(), view, Registries(CILIUM))

    assert "failed to decode hosts.toml" in waiting(view)[1]


def zot(ready: str = "True", **upstreams: str) -> list[Any]:
    """Return the release of a cache at 10.3.0.9, with the host of each upstream by path."""
    registries = [
        {"urls": [f"https://{host}"], "content": [{"prefix": "**", "destination": f"/{path}"}]}
        for path, host in upstreams.items()
    ]
    settings = json.dumps({"extensions": {"sync": {"registries": registries}}})
    values = {
        "service": {"annotations": {"metallb.io/loadBalancerIPs": "10.3.0.9"}},
        "configFiles": {"config.json": settings},
    }
    spec = {"chartRef": {"kind": "OCIRepository", "name": "zot", "namespace": "operators"}, "values": values}
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    source = {"url": "oci://registry.cloud.example/charts/zot"}
    return [
        obj("helm.toolkit.fluxcd.io/v2", "HelmRelease", "zot", spec, "registry", status=status),
        obj("source.toolkit.fluxcd.io/v1", "OCIRepository", "zot", source, "operators"),
    ]


QUAY, HUB = {"quay.io": "quay.io"}, {"docker.io": "index.docker.io"}
BY_PATH = '[host."http://10.3.0.9:443/v2/{}"]\n  override_path = true\n'


@pytest.mark.parametrize(
    ("image", "registry", "hosts", "cache", "reason"),
    [
        (CILIUM, "quay.io", BY_PATH.format("quay.io"), zot(**QUAY), "ContainerCreating"),
        ("nginx", "docker.io", BY_PATH.format("docker.io"), zot(**HUB), "ContainerCreating"),
        (CILIUM, "quay.io", BY_PATH.format("quay.io"), zot(**HUB), f"{CILIUM}: not found"),
        (CILIUM, "_default", '[host."https://10.3.0.9"]\n', zot(**QUAY), f"{CILIUM}: not found"),
        (
            CILIUM,
            "quay.io",
            BY_PATH.format("quay.io"),
            zot("False", **QUAY),
            "10.3.0.9:443: connect: connection refused",
        ),
    ],
    ids=["path", "Docker Hub", "another upstream", "query", "not ready"],
)
def test_a_cache_serves_its_upstreams_below_their_paths(
    objects: Any, files: dict[str, str], image: str, registry: str, hosts: str, cache: list[Any], reason: str
) -> None:
    files[f"/etc/containerd/certs.d/{registry}/hosts.toml"] = hosts
    view = objects(node(), pod(image))

    pull(objects(*hbn(), *cache), view, Registries(image))

    assert reason in " ".join(waiting(view))


@pytest.mark.parametrize(
    ("kind", "settings", "is_read"),
    [
        ("KubeadmConfig", None, True),
        ("K0sWorkerConfig", None, False),
        ("K0sWorkerConfig", 'config_path = "/etc/containerd/certs.d"\n', True),
        ("K0sWorkerConfig", 'config_path = "/etc/other"\n', False),
    ],
)
def test_containerd_of_k0s_reads_hosts_files_only_with_their_path(
    kind: str, settings: str | None, *, is_read: bool
) -> None:
    path = "/etc/containerd/certs.d/_default/hosts.toml"
    listed = [{"path": path, "content": HOSTS}]
    listed += [{"path": "/etc/k0s/containerd.d/hosts.toml", "content": settings}] if settings else []

    assert (path in containerd.files_of({"kind": kind, "spec": {"files": listed}})) == is_read
