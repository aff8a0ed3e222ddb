"""The secret store that a region creates: its operator, its credentials, and its users."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import Manifest
from components.render.region.region import RegionInput
from components.render.region.secret_store import operators, render, watch
from components.specs.region.external_secrets import SecretsSpec
from components.specs.struct import replace
from tests.support.data.external_store import MADE, STORE, VAULT
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of


def store(secrets: SecretsSpec = MADE) -> Manifest:
    return render(secrets)[-1]


@pytest.mark.parametrize("secrets", [SecretsSpec(), STORE], ids=["no store", "a store that is there"])
def test_an_existing_store_is_not_created(secrets: SecretsSpec) -> None:
    assert (operators(secrets), render(secrets), watch(secrets)) == ((), (), ())


def test_a_vault_is_reached_as_the_data_say() -> None:
    assert store().body["spec"]["provider"]["vault"] == {
        "server": "https://vault.example:8200",
        "path": "regions",
        "version": "v2",
        "caProvider": {"type": "ConfigMap", "name": "vault-ca", "namespace": "external-secrets", "key": "ca.crt"},
        "auth": {
            "kubernetes": {
                "mountPath": "kubernetes/here",
                "role": "here",
                "serviceAccountRef": {"name": "vault-login", "namespace": "external-secrets"},
            }
        },
    }


def test_omitted_settings_are_not_rendered() -> None:
    public = store(changed(MADE, vault=changed(VAULT, authority=None))).body["spec"]["provider"]["vault"]
    enterprise = store(changed(MADE, vault=changed(VAULT, namespace="clouds/gpu"))).body["spec"]["provider"]["vault"]

    assert {"caProvider", "namespace"}.isdisjoint(public)
    assert enterprise["namespace"] == "clouds/gpu"


def test_the_operator_only_creates_tokens_of_its_account() -> None:
    [operator] = operators(MADE)
    account, role, binding, *_ = render(MADE)

    assert operator.values["rbac"]["serviceAccountTokenCreate"] is False
    assert role.body["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["serviceaccounts/token"],
            "resourceNames": [account.name],
            "verbs": ["create"],
        }
    ]
    assert binding.body["subjects"] == [
        {"kind": "ServiceAccount", "name": operator.release, "namespace": operator.namespace}
    ]
    assert {role.namespace, binding.namespace, account.namespace} == {operator.namespace}


def test_the_login_has_no_permission_except_token_reviews() -> None:
    account, *_, asks, _ = render(MADE)

    assert asks.body["roleRef"]["name"] == "system:auth-delegator"
    assert asks.body["subjects"] == [{"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}]


def test_only_namespaces_of_the_region_may_use_the_store(inputs_of: Any) -> None:
    [condition] = store().body["spec"]["conditions"]
    [region] = inputs_of(RegionInput)

    wanted = condition["namespaceSelector"]["matchLabels"]

    labels = [item.body["metadata"]["labels"] for item in objects_of(region) if item.kind == "Namespace"]
    assert labels
    assert all(wanted.items() <= one.items() for one in labels)


def test_an_uncopied_secret_is_detected_by_the_monitored_job() -> None:
    monitor, rules = watch(MADE)
    [endpoint] = monitor.body["spec"]["podMetricsEndpoints"]
    [job] = endpoint["relabelings"]
    [group] = rules.body["spec"]["groups"]
    down, failed = group["rules"]

    assert endpoint["honorLabels"] is True
    assert f'job="{job["replacement"]}"' in down["expr"]
    assert 'status="False"' in failed["expr"]
    assert {monitor.namespace, rules.namespace} == {"external-secrets"}


def test_the_store_is_ready_before_any_other_operator(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    copied = Manifest(body={"kind": "ExternalSecret", "metadata": {"name": "a", "namespace": "inventory"}})
    made = replace(region, spec=changed(region.spec, secrets=MADE), secrets=(copied,))

    order = [
        (item.kind, item.name) for item in objects_of(made) if item.kind in {"HelmRelease", store().kind, copied.kind}
    ]

    assert order[:4] == [
        ("HelmRelease", "external-secrets"),
        ("ClusterSecretStore", "vault"),
        ("ExternalSecret", "a"),
        ("HelmRelease", "cert-manager"),
    ]
    assert len({name for kind, name in order if kind == "HelmRelease"}) == sum(
        kind == "HelmRelease" for kind, _ in order
    )
    assert store().readiness is not None
