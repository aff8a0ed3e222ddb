"""The audit policy of the library: a ConfigMap only for clusters that name no policy of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from rendered_objects import objects_of

from components.render.control_planes.audit_policy import DEFAULT
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.specs.control_planes.api_server import ApiServerSpec


def policies(inputs_of: Any, **options: Any) -> list[dict[str, Any]]:
    one: HostedControlPlaneInput = inputs_of(HostedControlPlaneInput)[0]
    spec = one.spec.model_copy(update={"api_server": ApiServerSpec.model_validate(options)})
    rendered = objects_of(replace(one, spec=spec))
    return [item.body for item in rendered if item.kind == "ConfigMap" and "policy.yaml" in item.body["data"]]


def test_the_policy_is_in_the_namespace_of_the_cluster(inputs_of: Any) -> None:
    [policy] = policies(inputs_of, audit={})

    assert policy["metadata"] == {
        "name": DEFAULT,
        "namespace": "acme-train",
        "labels": {
            "app.kubernetes.io/managed-by": "jacquard",
            "jacquard.dev/tenant": "acme",
            "jacquard.dev/cluster": "acme-train",
        },
    }
    read = json.loads(policy["data"]["policy.yaml"])
    assert (read["apiVersion"], read["kind"]) == ("audit.k8s.io/v1", "Policy")


@pytest.mark.parametrize("options", [{}, {"audit": {"policy": "ours"}}])
def test_without_an_audit_log_or_with_a_policy_of_its_own_a_cluster_gets_none(
    inputs_of: Any, options: dict[str, Any]
) -> None:
    assert policies(inputs_of, **options) == []
