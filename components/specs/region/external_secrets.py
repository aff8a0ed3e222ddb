"""Where the Secrets of a region come from: somebody puts each where it is looked for, or a store has them all."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from components.specs.base import RELATIVE_PATH, CheckedSpec, DnsLabel, HttpsUrl, Misfit, Text

MountPath = Annotated[str, StringConstraints(pattern=RELATIVE_PATH, max_length=253)]
"""Path of a mount of Vault, without a slash at either end."""


class SecretsSource(StrEnum):
    """Where the Secrets come from that the data refers to by name. The data never holds a value."""

    EXISTING = "existing"
    """Somebody puts each Secret where ``jacquard show ENV prerequisites`` says."""
    EXTERNAL_SECRETS = "external-secrets"
    """External Secrets Operator copies each Secret from a store, under its own name, as rendered objects tell it."""


class VaultSpec(CheckedSpec):
    """A Vault that has the region's Secrets, to which External Secrets Operator logs in by a ServiceAccount of its own.

    Login is that of Vault's auth method ``kubernetes``: Vault asks the management cluster whether the token is good.
    """

    server: HttpsUrl
    """Address of its API, such as ``https://vault.example:8200``; pods of the management cluster reach it."""
    path: MountPath
    """Mount of the key-value engine that has the entries; version 2 of the engine."""
    auth_path: MountPath = "kubernetes"
    """Mount of the auth method that knows this management cluster, such as ``kubernetes/REGION``."""
    role: Text
    """Role of the auth method that may read the region's entries."""
    namespace: MountPath | None = None
    """Namespace of Vault Enterprise that all of this lies in."""
    authority: DnsLabel | None = None
    """ConfigMap in namespace ``external-secrets`` whose ``ca.crt`` vouches for the server; public authorities do when
    it is left out."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield an address with a login in it: data and state would hold a secret."""
        if "@" in self.server:
            yield Misfit("must not be written with a login, which no data may hold", ("server",))


class SecretsSpec(CheckedSpec):
    """Source of the Secrets that a region refers to."""

    source: SecretsSource = SecretsSource.EXISTING
    """Where the Secrets come from that the data refers to by name. The data never holds a value."""
    store: DnsLabel | None = None
    """ClusterSecretStore of External Secrets Operator; required for ``external-secrets``. Operator and store are there
    already, unless ``vault`` has them made."""
    vault: VaultSpec | None = None
    """The Vault behind ``store``: the region then installs External Secrets Operator and makes the store."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a store that is missing or without use."""
        if self.source is SecretsSource.EXTERNAL_SECRETS and self.store is None:
            yield Misfit("is required when source is external-secrets; add it", ("store",))
        if self.source is SecretsSource.EXISTING:
            for field, got in (("store", self.store), ("vault", self.vault and self.vault.server)):
                if got is not None:
                    yield Misfit("has no meaning when source is existing; remove it", (field,), got)
