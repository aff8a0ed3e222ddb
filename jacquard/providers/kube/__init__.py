"""A client of the Kubernetes API: apply, dry-run, read, wait."""

from jacquard.providers.kube.client import ApiServer, ObjectRef
from jacquard.providers.kube.discovery import Resource
from jacquard.providers.kube.errors import ApiError, Cause, KindNotFound, KubeconfigError, Unreachable

__all__ = [
    "ApiError",
    "ApiServer",
    "Cause",
    "KindNotFound",
    "KubeconfigError",
    "ObjectRef",
    "Resource",
    "Unreachable",
]
