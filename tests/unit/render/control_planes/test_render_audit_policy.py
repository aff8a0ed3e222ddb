"""The library's audit policy is a ConfigMap in clusters without their own policy only."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.hosted_control_plane import of_tenant
from components.render.control_planes.api_server import AUDIT_VOLUME
from components.render.control_planes.audit_policy import DEFAULT
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.specs.control_planes.api_server import ApiServerSpec
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.data.environment_data import reference
from tests.support.objects.rendered_objects import objects_of


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
def test_a_cluster_without_audit_log_or_with_its_own_policy_gets_none(inputs_of: Any, options: dict[str, Any]) -> None:
    assert policies(inputs_of, **options) == []


def audited(inputs_of: Any, backend: ControlPlaneBackend, **options: Any) -> dict[str, Any]:
    """Return the spec of a control plane in a region with a store of logs."""
    one: HostedControlPlaneInput = inputs_of(HostedControlPlaneInput)[0]
    spec = one.spec.model_copy(update={"api_server": ApiServerSpec.model_validate(options)})
    rendered = objects_of(replace(one, spec=spec, backend=backend, audited=True))
    body: dict[str, Any] = rendered[-1].body["spec"]
    return body


def test_with_a_store_of_logs_api_servers_write_events_to_a_file_with_tenant_and_cluster_in_its_path(
    inputs_of: Any,
) -> None:
    spec = audited(inputs_of, ControlPlaneBackend.KAMAJI)

    flags = [flag for flag in spec["apiServer"]["extraArgs"] if flag.startswith("--audit-")]
    assert flags == [
        "--audit-policy-file=/etc/jacquard/audit/policy.yaml",
        "--audit-log-path=/var/log/audit/acme/acme-train/audit.log",
        "--audit-log-maxsize=100",
        "--audit-log-maxbackup=2",
    ]
    assert spec["deployment"]["extraVolumes"] == [
        {"name": "audit", "configMap": {"name": DEFAULT}},
        {"name": "var-log-audit", "emptyDir": {}},
    ]
    assert spec["apiServer"]["extraVolumeMounts"] == [
        {"name": "audit", "mountPath": "/etc/jacquard/audit", "readOnly": True},
        {"name": "var-log-audit", "mountPath": "/var/log/audit"},
    ]


def test_k0smotron_has_the_same_volume_which_it_names_after_its_path(inputs_of: Any) -> None:
    mounts = audited(inputs_of, ControlPlaneBackend.K0SMOTRON)["mounts"]

    assert mounts == [
        {"path": "/etc/jacquard/audit", "readOnly": True, "configMap": {"name": DEFAULT}},
        {"path": "/var/log/audit", "emptyDir": {}},
    ]
    assert mounts[1]["path"].removeprefix("/").replace("/", "-") == AUDIT_VOLUME


def test_the_policy_and_the_sink_of_a_cluster_are_kept_with_a_store(inputs_of: Any) -> None:
    spec = audited(inputs_of, ControlPlaneBackend.KAMAJI, audit={"policy": "ours", "webhook_secret": "siem"})

    assert [volume.get("configMap", {}).get("name") for volume in spec["deployment"]["extraVolumes"]] == [
        "ours",
        None,
        None,
    ]
    assert "--audit-webhook-config-file=/etc/jacquard/audit-webhook/kubeconfig" in spec["apiServer"]["extraArgs"]
    assert "--audit-log-path=/var/log/audit/acme/acme-train/audit.log" in spec["apiServer"]["extraArgs"]


def test_control_planes_of_a_region_with_a_store_are_audited() -> None:
    for name, expected in (("laptop", False), ("us-east-04a", True), ("eu-south-03a", True)):
        environment = reference(name)
        planes = [plane for tenant in environment.tenants for plane in of_tenant(environment, tenant)]
        assert {plane.audited for plane in planes} == {expected}
        assert all(plane.audit is not None for plane in planes) is expected
