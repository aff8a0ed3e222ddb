"""Revisions of node templates and fingerprints."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from components.render.node_templates import TemplateIntent
from components.render.objects import digest
from components.render.template_revisions import REVISIONS, fingerprint
from components.specs.bare_metal import BareMetalBackend
from components.specs.catalog import BootMode
from components.specs.region import ControlPlaneBackend

INTENT = TemplateIntent(
    control_plane=ControlPlaneBackend.KAMAJI,
    bare_metal=BareMetalBackend.METAL3,
    cluster="acme-train",
    pool="train",
    failure_domain="a01",
    image_version="gpu-1",
    image_url="https://images.cloud.example/gpu-1.raw",
    image_sha256="0" * 64,
    taints=(("workload", "training", "NoSchedule"), ("spare", "", "NoExecute")),
    boot=BootMode.DISK,
    max_pods=110,
)
ISO = replace(INTENT, boot=BootMode.LIVE_ISO, image_url="https://images.cloud.example/gpu-1.iso")
BACKENDS = [(plane, metal) for plane in ControlPlaneBackend for metal in BareMetalBackend]


@pytest.mark.parametrize(
    ("control_plane", "bare_metal", "figures"),
    [
        (ControlPlaneBackend.KAMAJI, BareMetalBackend.METAL3, ("c6d1700f95", "779831a551")),
        (ControlPlaneBackend.KAMAJI, BareMetalBackend.IRONCORE_METAL, ("92e9ba3f85", "a49f0b4dc6")),
        (ControlPlaneBackend.K0SMOTRON, BareMetalBackend.METAL3, ("c6d1700f95", "2354bf4787")),
        (ControlPlaneBackend.K0SMOTRON, BareMetalBackend.IRONCORE_METAL, ("92e9ba3f85", "995717d7c6")),
    ],
)
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_revision_writes_a_plain_node_as_the_first_one_did(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend, figures: tuple[str, str], revision: int
) -> None:
    built = REVISIONS[revision].build(replace(INTENT, control_plane=control_plane, bare_metal=bare_metal))

    # A new figure above means that every node of every region rolls on the next upgrade: make a new revision instead.
    assert (digest(built.machine, 10), digest(built.bootstrap, 10)) == figures


def test_revision_2_boots_an_iso_and_still_names_its_digest() -> None:
    assert REVISIONS[2].build(ISO).machine["template"]["spec"]["image"] == {
        "url": "https://images.cloud.example/gpu-1.iso",
        "checksum": "0" * 64,
        "checksumType": "sha256",
        "diskFormat": "live-iso",
    }


def test_revision_2_tells_a_kubelet_how_many_pods_it_may_run() -> None:
    kubeadm = REVISIONS[2].build(replace(INTENT, max_pods=250)).bootstrap
    k0s = REVISIONS[2].build(replace(INTENT, max_pods=250, control_plane=ControlPlaneBackend.K0SMOTRON)).bootstrap

    registration = kubeadm["template"]["spec"]["joinConfiguration"]["nodeRegistration"]
    assert registration["kubeletExtraArgs"][-1] == {"name": "max-pods", "value": "250"}
    assert k0s["template"]["spec"]["args"][-1] == "--kubelet-extra-args=--max-pods=250"


@pytest.mark.parametrize(("control_plane", "bare_metal"), BACKENDS)
def test_what_a_revision_does_not_know_changes_nothing_it_writes(
    control_plane: ControlPlaneBackend, bare_metal: BareMetalBackend
) -> None:
    one = replace(INTENT, control_plane=control_plane, bare_metal=bare_metal)
    other = replace(one, boot=BootMode.LIVE_ISO, max_pods=250)

    assert REVISIONS[1].build(one) == REVISIONS[1].build(other)
    assert fingerprint(one, 1) == fingerprint(other, 1)
    assert fingerprint(one, 2) != fingerprint(other, 2)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_fingerprint_changes_with_all_that_its_revision_knows_and_with_the_revision(revision: int) -> None:
    others = {
        "control_plane": ControlPlaneBackend.K0SMOTRON,
        "bare_metal": BareMetalBackend.IRONCORE_METAL,
        "boot": BootMode.NETBOOT,
        "taints": (),
        "max_pods": 64,
    }
    seen = {fingerprint(INTENT, revision), fingerprint(INTENT, max(REVISIONS) + 1 - revision)}
    for name in REVISIONS[revision].intent:
        changed = replace(INTENT, **{name: others.get(name, "other")})
        seen.add(fingerprint(changed, revision))

    assert len(seen) == 2 + len(REVISIONS[revision].intent)


def test_the_newest_revision_knows_all_of_the_intent() -> None:
    assert set(REVISIONS[max(REVISIONS)].intent) == {field.name for field in fields(TemplateIntent)}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("boot", [BootMode.DISK, BootMode.LIVE_ISO])
def test_hosts_are_reusable_in_every_revision_since_metal3_asks_the_template_that_machines_came_from(
    revision: int, boot: BootMode
) -> None:
    assert REVISIONS[revision].build(replace(INTENT, boot=boot)).machine["nodeReuse"] is True
