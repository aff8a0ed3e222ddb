"""The engine does not create objects that policies reject: programs that violate rules, and changes in a freeze."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jacquard.machine import paths
from jacquard.providers.kube import ObjectRef
from policies.rules import MODULES, RULES
from policies.verdict import Severity
from tests.support.data.repositories import git
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion
from tests.support.local_regions.region_contents import CLUSTER_API, commit

pytestmark = pytest.mark.e2e

OFFENDER = '''
import os
import pulumi


class Provider(pulumi.ProviderResource):
    """Says which kubeconfig, but not which cluster that is, and forgets clusters that do not answer."""

    def __init__(self, name: str) -> None:
        super().__init__("kubernetes", name, {"kubeconfig": os.environ["KUBECONFIG"], "deleteUnreachable": "true"})


def template(name: str, image: dict[str, str]) -> None:
    body = {"image": image, "hostSelector": {"matchLabels": {"a": "b"}}}
    pulumi.CustomResource(
        "kubernetes:infrastructure.cluster.x-k8s.io/v1beta2:Metal3MachineTemplate",
        name,
        {
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
            "kind": "Metal3MachineTemplate",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"template": {"spec": body}},
        },
        pulumi.ResourceOptions(provider=cluster),
    )


cluster = Provider("nowhere")
template("moving-0123456789", {"url": "https://images.cloud.example/latest.raw", "checksum": "latest"})
template("tomorrow-0123456789", {"url": "CANDIDATE_URL", "checksum": "CANDIDATE_SHA", "checksumType": "sha256"})
pulumi.CustomResource(
    "kubernetes:metal3.io/v1alpha1:BareMetalHost",
    "snowflake",
    {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": "snowflake", "namespace": "default"},
        "spec": {
            "online": True,
            "rootDeviceHints": {"model": "just this one"},
            "bmc": {"address": "redfish+http://10.1.1.1/redfish/v1/Systems/1", "credentialsName": "bmc"},
        },
    },
    pulumi.ResourceOptions(provider=cluster),
)
pulumi.CustomResource(
    "kubernetes:source.toolkit.fluxcd.io/v1:OCIRepository",
    "elsewhere",
    {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository",
        "metadata": {"name": "elsewhere", "namespace": "default"},
        "spec": {"interval": "1h", "url": "oci://registry.cloud.example.net/charts/x"},
    },
    pulumi.ResourceOptions(provider=cluster),
)
pulumi.CustomResource(
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
    "nodes",
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "nodes"},
        "rules": [{"apiGroups": [""], "resources": ["*/proxy"], "verbs": ["get"]}],
    },
    pulumi.ResourceOptions(provider=cluster),
)
pulumi.CustomResource(
    "kubernetes:kubevirt.io/v1:VirtualMachine",
    "bastion",
    {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "bastion", "namespace": "default"},
        "spec": {"template": {"spec": {"domain": {"cpu": {"cores": 4}}}}},
    },
    pulumi.ResourceOptions(provider=cluster),
)
'''
FAMILIES = {module.RULE.name: module.__name__.split(".")[-2] for module in MODULES}
"""Folder of each policy below ``policies/rules``."""


def test_a_program_that_violates_every_critical_rule_creates_nothing(running: LocalRegion, tmp_path: Path) -> None:
    images = (running.environments / "catalog" / "images.yaml").read_text()
    candidate = images[images.index("gpu-2026.12.0") :]
    url = candidate.split("url: ", 1)[1].split("\n", 1)[0]
    digest = candidate.split("sha256: ", 1)[1].split("\n", 1)[0]
    program = OFFENDER.replace("CANDIDATE_URL", url).replace("CANDIDATE_SHA", digest)
    (tmp_path / "__main__.py").write_text(program)
    (tmp_path / "Pulumi.yaml").write_text(
        f"name: offender\nruntime: {{name: python, options: {{virtualenv: {paths.VENV}}}}}\n"
    )
    pack, policy = str(paths.ROOT / "policies"), running.environments / ENVIRONMENT / "policy.yaml"
    before = running.uids("metal3.io/v1alpha1", "BareMetalHost", "default")

    created = running.pulumi("-C", str(tmp_path), "stack", "init", ENVIRONMENT)
    assert created.code == 0, created.text
    policy.write_text("schema_version: 1\nregistries: [registry.cloud.example]\n")
    try:
        preview = running.pulumi("-C", str(tmp_path), "preview", "-s", ENVIRONMENT, "--policy-pack", pack)
        flags = ("--policy-pack", pack, "--yes", "--skip-preview")
        up = running.pulumi("-C", str(tmp_path), "up", "-s", ENVIRONMENT, *flags)
    finally:
        policy.unlink()

    assert preview.code != 0
    assert up.code != 0
    critical = [rule.name for rule in RULES if rule.severity is Severity.CRITICAL]
    unnamed = [name for name in critical if name not in preview.text]
    assert unnamed == [], preview.text
    named = {family for name, family in FAMILIES.items() if f"{name}: " in preview.text}
    assert named == set(FAMILIES.values()), preview.text
    assert running.uids("metal3.io/v1alpha1", "BareMetalHost", "default") == before
    assert running.uids("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3MachineTemplate", "default") == set()


FREEZE = """schema_version: 1
freezes:
  - {name: these-days, from: FROM, to: TO, reason: a test, tenants: [acme]}
"""


def current_freeze() -> str:
    """Return a policy that freezes a tenant from yesterday to tomorrow."""
    today, day = dt.datetime.now(dt.UTC).replace(microsecond=0), dt.timedelta(days=1)
    return FREEZE.replace("FROM", (today - day).isoformat()).replace("TO", (today + day).isoformat())


def test_a_freeze_permits_a_plain_preview_and_no_plain_up(running: LocalRegion, tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("import pulumi\npulumi.export('made', True)\n")
    (tmp_path / "Pulumi.yaml").write_text(
        f"name: frozen\nruntime: {{name: python, options: {{virtualenv: {paths.VENV}}}}}\n"
    )
    pack, policy = str(paths.ROOT / "policies"), running.environments / ENVIRONMENT / "policy.yaml"
    created = running.pulumi("-C", str(tmp_path), "stack", "init", ENVIRONMENT)
    assert created.code == 0, created.text
    policy.write_text(current_freeze())
    try:
        preview = running.pulumi("-C", str(tmp_path), "preview", "-s", ENVIRONMENT, "--policy-pack", pack)
        up = running.pulumi("-C", str(tmp_path), "up", "-s", ENVIRONMENT, "--policy-pack", pack, "--yes")
    finally:
        policy.unlink()

    assert preview.code == 0, preview.text
    assert "change-in-freeze: tenant acme in stack" in preview.text
    assert up.code != 0
    assert running.pulumi("-C", str(tmp_path), "stack", "output", "-s", ENVIRONMENT, "--json").text.strip() == "{}"


HOST = "metal3.io/v1alpha1"


def test_an_audit_evaluates_recorded_and_live_objects(running: LocalRegion) -> None:
    policy, api = running.environments / ENVIRONMENT / "policy.yaml", running.api()
    host = ObjectRef.of(next(iter(api.list(HOST, "BareMetalHost"))))

    sound = running.jacquard("audit", ENVIRONMENT, "--live", "--format", "json")
    policy.write_text("schema_version: 1\nregistries: [registry.elsewhere.example]\n")
    api.patch(host, {"spec": {"description": "just this one"}}, field_manager="kubectl-edit")
    try:
        refused = running.jacquard("audit", ENVIRONMENT, "--live", "--format", "json")
    finally:
        policy.unlink()
        api.patch(host, {"spec": {"description": None}}, field_manager="kubectl-edit")

    assert sound.code == 0, sound.text
    answer = json.loads(sound.stdout)
    assert (answer["decision"], answer["missing"], answer["unread"]) == ("passed", [], [])
    assert answer["stacks"][ENVIRONMENT] > 0
    assert answer["live"] > 0
    assert [result for result in answer["results"] if result["blocks"]] == []
    assert refused.code == 4, refused.text
    found = {(item["rule"], item["source"]) for item in json.loads(refused.stdout)["results"] if item["blocks"]}
    assert found == {
        ("unlisted-registry", "recorded state"),
        ("unlisted-registry", "live objects"),
        ("host-beyond-identity", "live objects"),
    }


TENANT = f"{ENVIRONMENT}/tenants/acme.yaml"
GROUP = ObjectRef(CLUSTER_API, "MachineDeployment", "acme-train-infer-a03", "acme-train")


@pytest.fixture
def changed(running: LocalRegion) -> Iterator[LocalRegion]:
    """The running region, with a pool label in the work tree and another one in the cluster."""
    commit(running)
    running.edit(TENANT, "labels: {workload: training", "labels: {workload: training, previewed: yes-it-is")
    seconds = drain_timeout(running, 77)
    yield running
    drain_timeout(running, seconds)
    git(running.environments.parent, "checkout", "-q", ".")


def drain_timeout(region: LocalRegion, seconds: int) -> int:
    """Set the drain timeout of a group's nodes in the cluster, and return the previous one."""
    body = region.api().get(GROUP)
    assert body is not None
    deletion = body["spec"]["template"]["spec"]["deletion"]
    before, deletion["nodeDrainTimeoutSeconds"] = deletion["nodeDrainTimeoutSeconds"], seconds
    region.api().replace(body, field_manager="somebody")
    return int(before)


def test_a_preview_with_the_real_engine_separates_changes_from_drift(changed: LocalRegion, tmp_path: Path) -> None:
    out = tmp_path / "out"

    outcome = changed.jacquard("preview", ENVIRONMENT, "--base", "HEAD", "--out", str(out))

    assert outcome.code == 0, outcome.text
    [preview] = json.loads((out / "preview.json").read_text())
    [stack] = preview["stacks"]
    assert (preview["verdict"], stack["outcome"], stack["operations"]) == ("safe", "changed", {"update": 2})
    found: dict[str, dict[str, Any]] = {one["origin"]: one for one in stack["changes"]}
    names = [f"management/acme-train/acme-train-train-{domain}" for domain in ("a01", "a02")]
    label = "spec.template.metadata.labels[node.cluster.x-k8s.io/previewed]"
    assert (found["change"]["names"], found["change"]["fields"]) == (
        names,
        [{"path": label, "old": None, "new": '"yes-it-is"'}],
    )
    drain = "spec.template.spec.deletion.nodeDrainTimeoutSeconds"
    [drifted] = found["drift"]["fields"]
    assert (found["drift"]["names"], drifted["path"], drifted["old"]) == (
        ["management/acme-train/acme-train-infer-a03"],
        drain,
        "77",
    )
    comment = (out / "comment.md").read_text()
    assert comment.startswith("<!-- jacquard preview -->\n### Safe: no running workload is disrupted\n")
    assert f"update MachineDeployment same change on 2 objects: {', '.join(names)}" in comment
    assert f'+ {label}: "yes-it-is"' in comment
    assert f"- {drain}: 77" in comment
