"""Node templates of revision 2: registry hosts by upstream, containerd of k0s, the kubelet's directory with k0s."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from components.render.pools import template_revision_1
from components.render.pools.node_templates import TemplateIntent
from components.render.pools.template_revision_2 import build
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.changes.node_intents import INTENT

BACKENDS = [(plane, metal) for plane in ControlPlaneBackend for metal in BareMetalBackend]
FOUND_BY = {
    BareMetalBackend.METAL3: ["--labels=metal3.io/uuid={{ ds.meta_data.uuid }}"],
    BareMetalBackend.IRONCORE_METAL: [],
}
"""Arguments by which Metal3 finds the Node of a Machine; IronCore's provider does not search Nodes."""
MIRROR = "registry.cloud.example"
PULL = ["pull", "resolve"]


def bootstrap(intent: TemplateIntent) -> dict[str, Any]:
    spec: dict[str, Any] = build(intent).bootstrap["template"]["spec"]
    return spec


def hosts(intent: TemplateIntent) -> dict[str, Any]:
    """Return the containerd files of the hosts, by path."""
    files = bootstrap(intent).get("files", ())
    return {file["path"]: tomllib.loads(file["content"]) for file in files if file["path"].endswith(".toml")}


def on(control_plane: ControlPlaneBackend, **changes: Any) -> TemplateIntent:
    return replace(INTENT, control_plane=control_plane, **changes)


@pytest.mark.parametrize(("control_plane", "bare_metal"), BACKENDS)
def test_without_a_mirror_only_k0s_and_the_reuse_of_hosts_differ_from_revision_1(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    intent = on(control_plane, bare_metal=bare_metal)
    before, after = template_revision_1.build(intent), build(intent)
    arguments = bootstrap(intent).get("args", [])

    assert ({**after.machine, "nodeReuse": True}, after.data) == ({**before.machine, "nodeReuse": True}, before.data)
    assert ("nodeReuse" in after.machine) is (bare_metal is BareMetalBackend.METAL3)
    older: dict[str, Any] = before.bootstrap["template"]["spec"]
    assert {**bootstrap(intent), **({"args": older["args"]} if arguments else {})} == older
    assert arguments[len(older.get("args", [])) :] == (
        [*FOUND_BY[bare_metal], "--kubelet-root-dir=/var/lib/kubelet"]
        if control_plane is ControlPlaneBackend.K0SMOTRON
        else []
    )


def test_each_upstream_of_a_cache_is_below_its_name() -> None:
    intent = on(ControlPlaneBackend.KAMAJI, mirror=MIRROR, upstreams=("docker.io", "quay.io"))

    assert hosts(intent) == {
        f"/etc/containerd/certs.d/{name}/hosts.toml": {
            "host": {f"https://{MIRROR}/v2/{name}": {"capabilities": PULL, "override_path": True}}
        }
        for name in ("docker.io", "quay.io")
    }


def test_a_mirror_of_any_registry_has_one_file() -> None:
    assert hosts(on(ControlPlaneBackend.KAMAJI, mirror=MIRROR)) == {
        "/etc/containerd/certs.d/_default/hosts.toml": {"host": {f"https://{MIRROR}": {"capabilities": PULL}}}
    }


@pytest.mark.parametrize(
    ("kubelet", "version", "plugin"),
    [("v1.35.2", 2, "io.containerd.grpc.v1.cri"), ("v1.36.3", 3, "io.containerd.cri.v1.images")],
)
def test_containerd_of_k0s_is_pointed_to_the_hosts_in_the_format_of_its_release(
    kubelet: str, version: int, plugin: str
) -> None:
    found = hosts(on(ControlPlaneBackend.K0SMOTRON, mirror=MIRROR, upstreams=("quay.io",), kubelet=kubelet))

    assert found.keys() == {
        "/etc/k0s/containerd.d/registry-hosts.toml",
        "/etc/containerd/certs.d/quay.io/hosts.toml",
    }
    assert found["/etc/k0s/containerd.d/registry-hosts.toml"] == {
        "version": version,
        "plugins": {plugin: {"registry": {"config_path": "/etc/containerd/certs.d"}}},
    }
