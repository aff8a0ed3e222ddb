"""A region whose Secrets come from an external store."""

from __future__ import annotations

from components.specs.environment import Environment
from components.specs.region.external_secrets import SecretsSource, SecretsSpec, VaultSpec
from tests.support.data.small_region import changed

STORE = SecretsSpec(source=SecretsSource.EXTERNAL_SECRETS, store="vault")
"""An existing store of the platform, with its operator."""
VAULT = VaultSpec(
    server="https://vault.example:8200", path="regions", auth_path="kubernetes/here", role="here", authority="vault-ca"
)
MADE = changed(STORE, vault=VAULT)
"""A store that the region creates, with its operator."""


def with_store(environment: Environment, secrets: SecretsSpec = STORE) -> Environment:
    """Return ``environment`` with External Secrets Operator."""
    return changed(environment, region=changed(environment.region, secrets=secrets))
