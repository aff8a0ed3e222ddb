"""The hand-over of a cluster to its tenant: a Git repository of the tenant's, which Flux applies in the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import RELATIVE_PATH, CheckedSpec, DnsLabel, Misfit, Text

_HOST = r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?\.[a-z][-a-z0-9]*[a-z0-9](:[0-9]{1,5})?"
GIT_URL = rf"^(https://|ssh://[^\s/:@]+@){_HOST}/[^\s@?#]+$"
"""A URL of a repository by the name of its host, with no password in it; nothing that travels unencrypted."""
_SSH = "ssh://"


class FluxSpec(CheckedSpec):
    """A repository of the tenant's, applied by a Flux of the cluster's own."""

    url: Annotated[str, StringConstraints(pattern=GIT_URL, max_length=512)]
    """URL of the repository, ``https://git.acme.example/platform/train`` or ``ssh://git@git.acme.example/train.git``.
    Pods of the cluster fetch it."""
    branch: Text | None = None
    """Branch that is followed; either this or ``semver``."""
    semver: Text | None = None
    """Range of versions such as ``>=1.0.0 <2.0.0``, whose newest tag is followed."""
    path: Annotated[str, StringConstraints(pattern=RELATIVE_PATH, max_length=253)] | None = None
    """Folder in the repository; all of it is applied when it is left out."""
    interval_minutes: int = Field(default=10, ge=1, le=1440)
    """Minutes between two looks at the repository, and between two comparisons of it with the cluster."""
    secret: DnsLabel | None = None
    """Secret with the login, which the tenant makes in namespace ``flux-system`` of the cluster: ``identity`` and
    ``known_hosts`` for SSH; ``username`` and ``password``, and ``ca.crt`` if need be, for HTTPS."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a repository of which two revisions are followed, or none, and SSH without a key."""
        if self.branch is not None and self.semver is not None:
            yield Misfit("has both branch and semver; write one of the two")
        if self.branch is None and self.semver is None:
            yield Misfit("has neither branch nor semver; write one of the two")
        if self.url.startswith(_SSH) and self.secret is None:
            text = "is required for SSH, whose key and known hosts are in it; add secret: flux-git"
            yield Misfit(text, ("secret",))
