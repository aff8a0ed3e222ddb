"""Node templates: the effect of each intent field on them, for all backends."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from components.render.pools.node_templates import TemplateIntent, worker_profile
from components.render.pools.template_revision_1 import build
from components.render.pools.template_revisions import REVISIONS
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.pools.intents import NodeIntent
from components.specs.region.catalog import BootMode
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.changes.node_intents import INTENT

BACKENDS = [(plane, metal) for plane in ControlPlaneBackend for metal in BareMetalBackend]


def bootstrap(intent: TemplateIntent) -> dict[str, Any]:
    spec: dict[str, Any] = build(intent).bootstrap["template"]["spec"]
    return spec


def patch_of(intent: TemplateIntent) -> dict[str, Any]:
    [file] = bootstrap(intent)["files"]
    assert file["path"] == "/etc/kubernetes/patches/kubeletconfiguration0+merge.json"
    patch: dict[str, Any] = json.loads(file["content"])
    return patch


def test_a_kubeadm_node_merges_its_settings_into_the_configuration_of_its_kubelet() -> None:
    changed = replace(INTENT, max_pods=250, kubelet_configuration={"podPidsLimit": 4096})

    assert bootstrap(changed)["joinConfiguration"]["patches"] == {"directory": "/etc/kubernetes/patches"}
    assert patch_of(changed) == {"podPidsLimit": 4096, "maxPods": 250}
    assert patch_of(INTENT) == {"maxPods": 110}
    arguments = bootstrap(changed)["joinConfiguration"]["nodeRegistration"]["kubeletExtraArgs"]
    assert [item["name"] for item in arguments] == ["node-labels"]


def test_a_k0s_node_selects_the_profile_of_its_settings() -> None:
    k0s = replace(INTENT, control_plane=ControlPlaneBackend.K0SMOTRON, max_pods=250)
    arguments = bootstrap(k0s)["args"]

    assert arguments[-1] == f"--profile={worker_profile({'maxPods': 250})}"
    assert not any("max-pods" in argument for argument in arguments)


def test_metal3_boots_an_iso_as_an_iso_and_keeps_its_digest_in_the_template() -> None:
    disk, iso = (
        build(replace(INTENT, boot=boot)).machine["template"]["spec"]["image"]
        for boot in (BootMode.DISK, BootMode.LIVE_ISO)
    )

    assert iso == {**disk, "diskFormat": "live-iso"}
    assert iso["checksum"] == INTENT.image_sha256


@pytest.mark.parametrize(("control_plane", "bare_metal"), BACKENDS)
def test_a_mirror_adds_one_file_for_containerd(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    one = replace(INTENT, control_plane=control_plane, bare_metal=bare_metal)
    before, after = (build(replace(one, mirror=mirror)) for mirror in (None, "mirror.example:5000/all"))
    spec = after.bootstrap["template"]["spec"]
    *others, mirror = spec["files"]

    assert after.machine == before.machine
    assert {"files": [], **before.bootstrap["template"]["spec"]} == {**spec, "files": others}
    assert mirror["path"] == "/etc/containerd/certs.d/_default/hosts.toml"
    assert tomllib.loads(mirror["content"]) == {
        "host": {"https://mirror.example:5000/all": {"capabilities": ["pull", "resolve"]}}
    }


def test_templates_use_all_relevant_fields_of_the_intent() -> None:
    """Other fields reach the MachineDeployment or the host without the template."""
    elsewhere = {"revision", "firmware", "after"}
    renamed = {
        "image_version": "image",
        "image_url": "url",
        "image_sha256": "sha256",
        "control_plane": "control_planes",
    }
    place = {"cluster", "pool", "failure_domain"}
    known = {renamed.get(name, name) for name in TemplateIntent.__struct_fields__}

    assert known - place == set(NodeIntent.model_fields) - elsewhere


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("boot", [BootMode.DISK, BootMode.LIVE_ISO])
def test_no_revision_after_the_first_lets_one_busy_host_block_a_group(revision: int, boot: BootMode) -> None:
    assert REVISIONS[revision](replace(INTENT, boot=boot)).machine["nodeReuse"] is (revision == 1)
