"""Secret store of a region that manages its store: operator, Vault login and ClusterSecretStore.

The operator logs in to Vault with a ServiceAccount that has no other permissions, and can create tokens only for this
ServiceAccount. With the chart's defaults, it could create tokens for any ServiceAccount of the cluster. The values are
for the chart external-secrets 2.9.0.
"""

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.render.platform_pods import REVIEWER, cluster_binding, role, service_account
from components.render.region.external_secrets import API
from components.render.region.monitors import controller_monitor, secret_rules
from components.render.region.operators import Operator
from components.specs.region.external_secrets import SecretsSpec, VaultSpec

CHART = "external-secrets"
NAMESPACE = CHART
LOGIN = "vault-login"
"""ServiceAccount that is bound to the role in Vault."""
AUTHORITY_KEY = "ca.crt"
_READY = Readiness(conditions=("condition=Ready",), timeout_seconds=300)
_OPERATOR = Operator(
    chart=CHART,
    namespace=NAMESPACE,
    values={
        # A large region has hundreds of Secrets, each of which needs several requests to Vault.
        "concurrent": 8,
        # Without the cache, each refresh of each Secret requires a separate login.
        "vault": {"enableTokenCache": True},
        # CRDs and the objects that define the Secrets are retained when the release is deleted.
        "crds": {"annotations": {"helm.sh/resource-policy": "keep"}},
        # Only ExternalSecrets rendered for the region define the copied Secrets.
        "processClusterExternalSecret": False,
        "processClusterPushSecret": False,
        "rbac": {"serviceAccountTokenCreate": False, "aggregateToEdit": False, "aggregateToAdmin": False},
    },
)


def operators(secrets: SecretsSpec) -> tuple[Operator, ...]:
    """Return the operator that reads the store; nothing for an existing operator."""
    return (_OPERATOR,) if secrets.vault else ()


def render(secrets: SecretsSpec) -> tuple[Manifest, ...]:
    """Return the login and the store; nothing for an existing store.

    The store is awaited, because all Secrets depend on it.
    """
    if secrets.store is None or secrets.vault is None:
        return ()
    return (*_login(), _store(secrets.store, secrets.vault))


def watch(secrets: SecretsSpec) -> tuple[Manifest, ...]:
    """Return the monitor and the alert for Secrets that are not copied; nothing for an existing operator."""
    if not secrets.vault:
        return ()
    return (controller_monitor(CHART, NAMESPACE, "metrics"), secret_rules(CHART, NAMESPACE))


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
        # Vault uses the token of a login to validate this token through the cluster's API, and stores no token.
        cluster_binding(LOGIN, role=REVIEWER, subject=service_account(NAMESPACE, LOGIN)),
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
            # The store is restricted to namespaces created by the region.
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
