"""Rendered objects of the program that releases DPUs: the program, its permissions, and the gate before claims."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import Manifest
from components.render.network.dpu_release import GATE, NAME, PROGRAM, SETTINGS
from components.render.network.dpus import NAMESPACE
from components.specs.environment import Environment
from components.specs.network.dpus import DpuReleaseSpec

CLUSTERS = ["acme-train", "globex-lab"]


@pytest.fixture(scope="module")
def rendered(laptop: Environment) -> list[Manifest]:
    dpus = laptop.region.dpus.model_copy(update={"release": DpuReleaseSpec(max_away=4, max_away_per_vpc=2)})
    region = laptop.region.model_copy(update={"dpus": dpus})
    return list(everything(laptop.model_copy(update={"region": region})))


def one(rendered: list[Manifest], kind: str, name: str = NAME) -> Any:
    [found] = [item.body for item in rendered if (item.kind, item.name) == (kind, name)]
    return found


def rights(rendered: list[Manifest]) -> Iterator[tuple[str, str, str]]:
    """Yield namespace, resource and verb of all permissions that are bound to the program's account."""
    roles = {(item.namespace, item.name): item.body["rules"] for item in rendered if item.kind == "Role"}
    for item in rendered:
        subjects = [(one.get("kind"), one.get("name"), one.get("namespace")) for one in item.body.get("subjects", ())]
        if ("ServiceAccount", NAME, NAMESPACE) in subjects:
            assert item.kind == "RoleBinding"
            for rule in roles[item.namespace, item.body["roleRef"]["name"]]:
                for resource in rule["resources"]:
                    yield from ((str(item.namespace), resource, verb) for verb in rule["verbs"])


def test_the_program_only_has_the_permissions_of_its_steps(rendered: list[Manifest]) -> None:
    of_dpus = {
        (NAMESPACE, "dpudeployments", "list"),
        (NAMESPACE, "dpus", "list"),
        (NAMESPACE, "dpus", "delete"),
        (NAMESPACE, "dpunodes", "list"),
        (NAMESPACE, "dpunodes", "patch"),
        (NAMESPACE, "dpunodemaintenances", "list"),
        (NAMESPACE, "dpunodemaintenances", "patch"),
    }
    hosts = {(place, "baremetalhosts", verb) for place in (*CLUSTERS, "inventory") for verb in ("list", "patch")}
    machines = {(place, "machines", verb) for place in CLUSTERS for verb in ("list", "delete")}
    groups = {(place, "machinedeployments", "list") for place in CLUSTERS}

    assert set(rights(rendered)) == of_dpus | hosts | machines | groups


def test_the_gate_judges_hosts_of_clusters_whose_dpus_isolate_them(rendered: list[Manifest]) -> None:
    policy = one(rendered, "ValidatingAdmissionPolicy", GATE)["spec"]
    bound = one(rendered, "ValidatingAdmissionPolicyBinding", GATE)["spec"]

    assert policy["failurePolicy"] == "Fail"
    assert policy["matchConstraints"]["resourceRules"][0]["resources"] == ["baremetalhosts"]
    assert (bound["policyName"], bound["validationActions"]) == (GATE, ["Deny"])
    [where] = bound["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert where["values"] == [*CLUSTERS, "inventory"]


def test_the_program_only_needs_the_settings_of_its_pod(rendered: list[Manifest], tmp_path: Path) -> None:
    pod = one(rendered, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [container], [volume] = pod["containers"], pod["volumes"]
    data = one(rendered, "ConfigMap")["data"]
    for item in volume["configMap"]["items"]:
        path = tmp_path / item["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data[item["key"]])
    assert {path.name for path in tmp_path.rglob("*.*")} == {*PROGRAM, SETTINGS}
    server, _, settings = container["args"]
    arguments = [server, str(tmp_path / "no-account"), str(tmp_path / Path(settings).name)]

    ran = subprocess.run(
        [sys.executable, "-S", *container["command"][1:], *arguments],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "FileNotFoundError" in ran.stderr, ran.stderr
    assert "no-account/token" in ran.stderr


def test_the_program_gets_its_limits_and_the_owners_of_deployments(rendered: list[Manifest]) -> None:
    assert json.loads(one(rendered, "ConfigMap")["data"][SETTINGS]) == {
        "max_away": 4,
        "max_away_per_vpc": 2,
        "stuck_minutes": 240,
        "namespace": NAMESPACE,
        "hosts": [*CLUSTERS, "inventory"],
        "clusters": CLUSTERS,
        "deployments": {"acme": "acme", "globex": "globex", "unassigned": None},
    }


def test_nothing_is_rendered_for_manual_release(laptop: Environment) -> None:
    assert [item for item in everything(laptop) if item.name in {NAME, GATE}] == []
