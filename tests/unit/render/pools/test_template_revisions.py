"""Revisions of node templates and fingerprints."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields, replace
from typing import Any

import pytest
from node_intents import INTENT

from components.render.pools.node_templates import TemplateIntent
from components.render.pools.template_revision_3 import MANAGED, profile
from components.render.pools.template_revisions import CLUSTER_WIDE, REVISIONS, fingerprint, older_fingerprint
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.pools.intents import NodeIntent
from components.specs.pools.kubelet import KubeletSpec
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend

ISO = replace(INTENT, boot=BootMode.LIVE_ISO, image_url="https://images.cloud.example/gpu-1.iso")
BACKENDS = [(plane, metal) for plane in ControlPlaneBackend for metal in BareMetalBackend]


@pytest.mark.parametrize(("control_plane", "bare_metal"), BACKENDS)
def test_what_a_revision_does_not_know_changes_nothing_it_writes(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    one = replace(INTENT, control_plane=control_plane, bare_metal=bare_metal)
    other = replace(one, boot=BootMode.LIVE_ISO, max_pods=250)

    assert REVISIONS[1].build(one) == REVISIONS[1].build(other)
    assert older_fingerprint(one, 1) == older_fingerprint(other, 1)
    assert older_fingerprint(one, 2) != older_fingerprint(other, 2)


@pytest.mark.parametrize("revision", CLUSTER_WIDE)
def test_a_fingerprint_changes_with_all_that_its_revision_knows_and_with_the_revision(revision: int) -> None:
    others = {
        "control_plane": ControlPlaneBackend.K0SMOTRON,
        "bare_metal": BareMetalBackend.IRONCORE_METAL,
        "boot": BootMode.NETBOOT,
        "taints": (),
        "max_pods": 64,
    }
    seen = {older_fingerprint(INTENT, revision), older_fingerprint(INTENT, sum(CLUSTER_WIDE) - revision)}
    for name in REVISIONS[revision].intent:
        changed = replace(INTENT, **{name: others.get(name, "other")})
        seen.add(older_fingerprint(changed, revision))

    assert len(seen) == 2 + len(REVISIONS[revision].intent)


def patch_of(intent: TemplateIntent) -> dict[str, Any]:
    [file] = REVISIONS[3].build(intent).bootstrap["template"]["spec"]["files"]
    patch: dict[str, Any] = json.loads(file["content"])
    return patch


def test_revision_3_says_every_setting_of_the_kubelet_and_takes_away_what_is_not_asked_for() -> None:
    asked = replace(INTENT, max_pods=250, kubelet_configuration={"podPidsLimit": 4096, "maxPods": 250})
    spec = REVISIONS[3].build(asked).bootstrap["template"]["spec"]

    assert spec["joinConfiguration"]["patches"] == {"directory": "/etc/kubernetes/patches"}
    assert [file["path"] for file in spec["files"]] == ["/etc/kubernetes/patches/kubeletconfiguration0+merge.json"]
    assert patch_of(asked) == {**dict.fromkeys(MANAGED), "podPidsLimit": 4096, "maxPods": 250}
    assert patch_of(INTENT) == {**dict.fromkeys(MANAGED), "maxPods": 110}
    arguments = spec["joinConfiguration"]["nodeRegistration"]["kubeletExtraArgs"]
    assert [item["name"] for item in arguments] == ["node-labels"]


def test_revision_3_knows_every_setting_that_a_cluster_may_make() -> None:
    settings = KubeletSpec.model_validate(
        {
            "pod_pids_limit": 4096,
            "container_log_max_size": "10Mi",
            "container_log_max_files": 3,
            "image_gc_high_threshold_percent": 80,
            "image_gc_low_threshold_percent": 70,
            "serialize_image_pulls": False,
            "max_parallel_image_pulls": 4,
            "registry_pull_qps": 10,
            "registry_burst": 20,
            "cpu_manager_policy": "static",
            "topology_manager_policy": "restricted",
            "topology_manager_scope": "pod",
            "reserved_cpu": "4",
            "reserved_memory": "8Gi",
            "allowed_unsafe_sysctls": ["net.core.somaxconn"],
        }
    )

    assert settings.model_fields_set == set(KubeletSpec.model_fields)
    assert {*settings.configuration(), "maxPods"} == set(MANAGED)


def test_revision_3_gives_a_k0s_node_the_profile_of_its_settings() -> None:
    k0s = replace(INTENT, control_plane=ControlPlaneBackend.K0SMOTRON, max_pods=250)
    arguments = REVISIONS[3].build(k0s).bootstrap["template"]["spec"]["args"]

    assert arguments[-1] == f"--profile={profile({'maxPods': 250})}"
    assert not any("max-pods" in argument for argument in arguments)


def test_revision_3_boots_an_iso_as_revision_2_does() -> None:
    assert REVISIONS[3].build(ISO).machine == REVISIONS[2].build(ISO).machine


@pytest.mark.parametrize(("control_plane", "bare_metal"), BACKENDS)
def test_revision_4_tells_containerd_of_the_mirror_beside_what_revision_3_writes(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    one = replace(INTENT, control_plane=control_plane, bare_metal=bare_metal)
    before, after = (REVISIONS[4].build(replace(one, mirror=mirror)) for mirror in (None, "mirror.example:5000/all"))
    files = after.bootstrap["template"]["spec"].pop("files")

    assert before == REVISIONS[3].build(one)
    assert after.machine == before.machine
    assert {"files": files[:-1]} | after.bootstrap["template"]["spec"] == {"files": []} | before.bootstrap["template"][
        "spec"
    ]
    assert files[-1]["path"] == "/etc/containerd/certs.d/_default/hosts.toml"
    assert tomllib.loads(files[-1]["content"]) == {
        "host": {"https://mirror.example:5000/all": {"capabilities": ["pull", "resolve"]}}
    }


@pytest.mark.parametrize("revision", CLUSTER_WIDE)
def test_the_fingerprint_of_an_older_revision_stays_what_it_was(revision: int) -> None:
    intent = node_intent(revision=revision)
    at = TemplateIntent.of(intent, "acme-train", "train", "a01")

    assert fingerprint(intent, at) == older_fingerprint(at, revision)


def test_the_fingerprint_of_a_newer_revision_is_that_of_the_intent_in_the_lock_file() -> None:
    intent = node_intent(revision=3)
    at = TemplateIntent.of(intent, "acme-train", "train", "a01")

    assert fingerprint(intent, at) == intent.fingerprint == intent.name.rpartition("@")[2]


def test_templates_are_built_of_all_that_the_intent_says_about_them() -> None:
    """What is not in here reaches the MachineDeployment, or the host, by itself."""
    elsewhere = {"revision", "kubelet", "firmware", "after"}
    renamed = {
        "image_version": "image",
        "image_url": "url",
        "image_sha256": "sha256",
        "control_plane": "control_planes",
    }
    place = {"cluster", "pool", "failure_domain"}
    known = {renamed.get(field.name, field.name) for field in fields(TemplateIntent)}

    assert known - place == set(NodeIntent.model_fields) - elsewhere


def node_intent(**others: Any) -> NodeIntent:
    return NodeIntent(
        **{
            "revision": 3,
            "image": "gpu-1",
            "url": "https://images.cloud.example/gpu-1.raw",
            "sha256": "0" * 64,
            "boot": "disk",
            "kubelet": "v1.35.2",
            "control_planes": "kamaji",
            "bare_metal": "metal3",
            "max_pods": 110,
            **others,
        }
    )


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("boot", [BootMode.DISK, BootMode.LIVE_ISO])
def test_hosts_are_reusable_in_every_revision_since_metal3_asks_the_template_that_machines_came_from(
    revision: int, boot: BootMode
) -> None:
    assert REVISIONS[revision].build(replace(INTENT, boot=boot)).machine["nodeReuse"] is True
