"""GitOps for tenants: a Git repository of the tenant, applied by Flux in the tenant's cluster."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import NO_SECRET, RELATIVE_PATH, SERVER, CheckedSpec, ConstraintViolation, DnsLabel, Text

_HOST = r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?\.[a-z][-a-z0-9]*[a-z0-9](:[0-9]{1,5})?"
GIT_URL = rf"^(https://|ssh://[^\s/:@]+@){_HOST}/[^\s@?#]+$"
"""URL of a repository by host name, without a password and with an encrypted transport."""
_SSH = "ssh://"


class FluxSpec(CheckedSpec):
    """Git repository of the tenant, which Flux applies in the cluster."""

    url: Annotated[str, StringConstraints(pattern=GIT_URL, max_length=512), NO_SECRET, SERVER]
    """URL of the repository, such as ``https://git.acme.example/platform/train`` or
    ``ssh://git@git.acme.example/train.git``. Pods of the cluster fetch it."""
    branch: Text | None = None
    """Branch to follow. Exactly one of this field and ``semver`` is required."""
    semver: Text | None = None
    """Range of versions, such as ``>=1.0.0 <2.0.0``. Flux applies the newest tag in the range."""
    path: Annotated[str, StringConstraints(pattern=RELATIVE_PATH, max_length=253)] | None = None
    """Folder in the repository to apply; the whole repository by default."""
    interval_minutes: int = Field(default=10, ge=1, le=1440)
    """Minutes between two fetches of the repository, and between two comparisons with the cluster."""
    secret: DnsLabel | None = None
    """Secret with the login, which the tenant creates in namespace ``flux-system`` of the cluster. It contains
    ``identity`` and ``known_hosts`` for SSH; ``username``, ``password`` and optionally ``ca.crt`` for HTTPS."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a repository with both a branch and a version range or neither, and SSH without a key."""
        if self.branch is not None and self.semver is not None:
            yield ConstraintViolation("has both branch and semver; write one of the two")
        if self.branch is None and self.semver is None:
            yield ConstraintViolation("has neither branch nor semver; write one of the two")
        if self.url.startswith(_SSH) and self.secret is None:
            text = "is required for SSH, because it contains the key and known hosts; add secret: flux-git"
            yield ConstraintViolation(text, ("secret",))
