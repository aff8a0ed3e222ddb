"""What all calls to one provider process share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.objectset.handover import Announcements
from jacquard.providers.objectset.workers import Workers

Tell: TypeAlias = Callable[[str], None]
"""Function that shows what is going on beside the resource, until it is done."""


@dataclass(frozen=True, slots=True)
class Session:
    """A cluster, threads to work in it, and what is known of the running program."""

    api: ApiServer
    workers: Workers
    announced: Announcements = field(default_factory=Announcements)
    taking: frozenset[str] = frozenset()
    """Field managers whose fields are taken when they conflict; the user names them for one run."""

    def cluster_uid(self) -> str:
        """Return what tells this cluster from any other at the same address: the uid of namespace kube-system.

        Raises:
            ProviderError: There is none, so this is not the API server of a cluster.
            ApiError: The server refused to answer.
        """
        found = self.api.get(ObjectRef("v1", "Namespace", "kube-system"))
        if found is None:
            msg = f"{self.api.server} has no namespace kube-system, so it cannot be told from another cluster"
            raise ProviderError(msg)
        return str(found["metadata"]["uid"])
