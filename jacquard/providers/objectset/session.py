"""State shared by all calls to a provider process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.providers.objectset.handover import Announcements
from jacquard.providers.objectset.workers import Workers

Tell: TypeAlias = Callable[[str], None]
"""Function that shows a progress message of the resource during an operation."""


@dataclass(frozen=True, slots=True)
class Session:
    """A cluster, worker threads, and the announcements of the running program."""

    api: ApiServer
    workers: Workers
    announced: Announcements = field(default_factory=Announcements)
    taking: frozenset[str] = frozenset()
    """Field managers whose fields are taken over on conflict, as set by the user for one run."""

    def cluster_uid(self) -> str:
        """Return the uid of namespace kube-system, which identifies the cluster independently of its address.

        Raises:
            ProviderError: The namespace does not exist, so this is not the API server of a cluster.
            ApiError: The server rejected the request.
        """
        namespace = self.api.get(ObjectRef("v1", "Namespace", "kube-system"))
        if namespace is None:
            msg = f"{self.api.server} has no namespace kube-system, so the cluster cannot be identified"
            raise ProviderError(msg)
        return str(namespace["metadata"]["uid"])
