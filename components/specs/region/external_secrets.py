"""Source of a region's Secrets: operators create them, or they are copied from an external store."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from components.specs.base import RELATIVE_PATH, CheckedSpec, ConstraintViolation, DnsLabel, HttpsUrl, Spec, Text

MountPath = Annotated[str, StringConstraints(pattern=RELATIVE_PATH, max_length=253)]
"""Path of a Vault mount, without a slash at either end."""


class SecretsSource(StrEnum):
    """Source of the Secrets that the data reference by name. The data never contain secret values."""

    EXISTING = "existing"
    """Operators create each Secret in the namespace listed by ``jacquard show ENV prerequisites``."""
    EXTERNAL_SECRETS = "external-secrets"
    """External Secrets Operator copies each Secret from a store, under the same name. Jacquard renders the
    ExternalSecrets."""


class VaultSpec(Spec):
    """Vault with the region's Secrets. External Secrets Operator logs in with a dedicated ServiceAccount.

    The login uses Vault's auth method ``kubernetes``: Vault verifies the token with the management cluster.
    """

    server: HttpsUrl
    """Address of Vault's API, such as ``https://vault.example:8200``. Pods of the management cluster must be able to
    reach it."""
    path: MountPath
    """Mount of the key-value engine (version 2) with the entries."""
    auth_path: MountPath = "kubernetes"
    """Mount of the auth method for this management cluster, such as ``kubernetes/REGION``."""
    role: Text
    """Role of the auth method with read access to the region's entries."""
    namespace: MountPath | None = None
    """Namespace of Vault Enterprise for all mounts and roles."""
    authority: DnsLabel | None = None
    """ConfigMap in namespace ``external-secrets`` whose ``ca.crt`` verifies the server. By default its certificate must
    be signed by a public authority."""


class SecretsSpec(CheckedSpec):
    """Source of the Secrets that a region refers to."""

    source: SecretsSource = SecretsSource.EXISTING
    """Source of the Secrets that the data reference by name. The data never contain secret values."""
    store: DnsLabel | None = None
    """ClusterSecretStore of External Secrets Operator. Required for ``external-secrets``. The operator and the store
    must already exist, unless ``vault`` is set."""
    vault: VaultSpec | None = None
    """Vault behind ``store``. The region then installs External Secrets Operator and creates the store."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a missing store, and a store without effect."""
        if self.source is SecretsSource.EXTERNAL_SECRETS and self.store is None:
            yield ConstraintViolation("is required when source is external-secrets; add it", ("store",))
        if self.source is SecretsSource.EXISTING:
            for field, got in (("store", self.store), ("vault", self.vault and self.vault.server)):
                if got is not None:
                    yield ConstraintViolation("has no effect when source is existing; remove it", (field,), got)
