"""A region whose Secrets come from a store."""

from __future__ import annotations

from small_region import changed

from components.specs.environment import Environment
from components.specs.region import SecretsSource, SecretsSpec

STORE = SecretsSpec(source=SecretsSource.EXTERNAL_SECRETS, store="vault")


def with_store(environment: Environment) -> Environment:
    """Return ``environment`` with External Secrets Operator."""
    return changed(environment, region=changed(environment.region, secrets=STORE))
