"""The state of a region that the engine records after an apply: one resource for each rendered object or set."""

from __future__ import annotations

import json
from typing import Any

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import ManifestSet
from components.resources import _patch, child_name, type_token
from components.specs.environment import Environment
from tests.support.engine.fake_pulumi import FakePulumi

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = {_SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:bm90IHJlYWQ=:bm90IHJlYWQ="}
Resource = dict[str, Any]


def recorded_region(environment: Environment) -> list[Resource]:
    """Return the resources of a fully applied environment; kubeconfigs are encrypted."""
    stack = environment.name
    root = f"urn:pulumi:{stack}::jacquard::pulumi:pulumi:Stack::jacquard-{stack}"
    resources: dict[str, Resource] = {}
    for piece in slices(environment):
        for item in manifests(environment, piece):
            provider = _provider(stack, item.cluster)
            resources[provider["urn"]] = provider
            in_set = isinstance(item, ManifestSet)
            kind = "jacquard:index:ObjectSet" if in_set else type_token(item)
            urn = f"urn:pulumi:{stack}::jacquard::jacquard:components:Region${kind}::{child_name('region', item)}"
            inputs = _inputs(item) if isinstance(item, ManifestSet) else dict(item.body)
            reference = f"{provider['urn']}::{provider['id']}"
            resources[urn] = {"urn": urn, "custom": True, "type": kind, "inputs": inputs, "provider": reference}
    return [{"urn": root, "custom": False, "type": "pulumi:pulumi:Stack"}, *resources.values()]


def exported(resources: list[Resource]) -> str:
    """Return the output of ``pulumi stack export``."""
    return json.dumps({"version": 3, "deployment": {"resources": resources}})


def record(pulumi: FakePulumi, resources: list[Resource], *others: str) -> None:
    """Set the recorded state of the laptop's stack in the engine; ``others`` are further stacks."""
    pulumi.answer("stack export", stdout=exported(resources))
    pulumi.answer("stack ls", stdout=json.dumps([{"name": name} for name in ("laptop", *others)]))


def _inputs(item: ManifestSet) -> Resource:
    inputs: Resource = {
        "setName": item.name,
        "namespace": item.namespace,
        "members": {key: dict(member.body) for key, member in item.members.items()},
    }
    return inputs | ({"patches": {key: _patch(patch) for key, patch in item.patches.items()}} if item.patches else {})


def _provider(stack: str, cluster: str) -> Resource:
    kind = "pulumi:providers:kubernetes"
    return {
        "urn": f"urn:pulumi:{stack}::jacquard::{kind}::{cluster}",
        "custom": True,
        "id": "a1b2c3",
        "type": kind,
        "inputs": {"kubeconfig": _SECRET, "clusterIdentifier": f"{stack}/{cluster}"},
    }
