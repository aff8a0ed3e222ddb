"""The store that a region's Secrets are copied from, where the region makes it: its operator, its login and itself.

The operator logs in to Vault as a ServiceAccount that may do nothing else, and makes tokens of no other one: by its
chart's default it could become whoever the cluster has. The values are those of the chart (external-secrets 2.9.0).
"""

from __future__ import annotations

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.render.region.external_secrets import API
from components.render.region.monitors import API_GROUP, INTERVAL, secret_rules
from components.render.region.operators import Operator
from components.render.workloads import cluster_binding, role, service_account
from components.specs.region.external_secrets import SecretsSpec, VaultSpec

CHART = "external-secrets"
NAMESPACE = CHART
LOGIN = "vault-login"
"""ServiceAccount that Vault's role is bound to."""
AUTHORITY_KEY = "ca.crt"
_REVIEWER = "system:auth-delegator"
_READY = Readiness(conditions=("condition=Ready",), timeout_seconds=300)
_OPERATOR = Operator(
    chart=CHART,
    namespace=NAMESPACE,
    values={
        # A large region has hundreds of Secrets, and each is several questions to Vault.
        "concurrent": 8,
        # Without it each look at each Secret is a login of its own.
        "vault": {"enableTokenCache": True},
        # A release that goes leaves the kinds, and so what says which Secrets there are.
        "crds": {"annotations": {"helm.sh/resource-policy": "keep"}},
        # Nobody but the region says what is copied where.
        "processClusterExternalSecret": False,
        "processClusterPushSecret": False,
        "rbac": {"serviceAccountTokenCreate": False, "aggregateToEdit": False, "aggregateToAdmin": False},
    },
)


def operators(secrets: SecretsSpec) -> tuple[Operator, ...]:
    """Return what reads the store; nothing where somebody else installs it."""
    return (_OPERATOR,) if secrets.vault else ()


def render(secrets: SecretsSpec) -> tuple[Manifest, ...]:
    """Return the store after its login; nothing where somebody else makes it.

    The store is awaited, since all Secrets wait for it.
    """
    if secrets.store is None or secrets.vault is None:
        return ()
    return (*_login(), _store(secrets.store, secrets.vault))


def watch(secrets: SecretsSpec) -> tuple[Manifest, ...]:
    """Return what tells when a Secret is not copied; nothing where somebody else has the operator."""
    if not secrets.vault:
        return ()
    # Its series say by namespace and name which object they are of, and not which pod told it.
    endpoint = {
        "port": "metrics",
        "interval": INTERVAL,
        "honorLabels": True,
        "relabelings": [{"action": "replace", "targetLabel": "job", "replacement": CHART}],
    }
    pods = {"app.kubernetes.io/name": CHART, "app.kubernetes.io/instance": CHART}
    spec = {"selector": {"matchLabels": pods}, "podMetricsEndpoints": [endpoint]}
    return (
        manifest(API_GROUP, "PodMonitor", CHART, namespace=NAMESPACE, spec=spec),
        secret_rules(CHART, NAMESPACE),
    )


def _login() -> tuple[Manifest, ...]:
    tokens = {
        "apiGroups": [""],
        "resources": ["serviceaccounts/token"],
        "resourceNames": [LOGIN],
        "verbs": ["create"],
    }
    return (
        manifest("v1", "ServiceAccount", LOGIN, namespace=NAMESPACE),
        *role(LOGIN, [tokens], account=(NAMESPACE, CHART), namespace=NAMESPACE, labels={}),
        # Vault asks this cluster about a token with that very token, and so keeps none itself.
        cluster_binding(LOGIN, role=_REVIEWER, subject=service_account(NAMESPACE, LOGIN)),
    )


def _store(name: str, vault: VaultSpec) -> Manifest:
    login = {
        "mountPath": vault.auth_path,
        "role": vault.role,
        "serviceAccountRef": {"name": LOGIN, "namespace": NAMESPACE},
    }
    authority = vault.authority and {
        "type": "ConfigMap",
        "name": vault.authority,
        "namespace": NAMESPACE,
        "key": AUTHORITY_KEY,
    }
    return manifest(
        API,
        "ClusterSecretStore",
        name,
        readiness=_READY,
        spec={
            # Of all namespaces of the cluster only those that the region makes.
            "conditions": [{"namespaceSelector": {"matchLabels": {keys.MANAGED_BY: keys.FIELD_MANAGER}}}],
            "provider": {
                "vault": {
                    "server": vault.server,
                    "path": vault.path,
                    "version": "v2",
                    **given(namespace=vault.namespace, caProvider=authority),
                    "auth": {"kubernetes": login},
                }
            },
        },
    )
