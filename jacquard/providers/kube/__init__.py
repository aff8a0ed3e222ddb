"""A client of the Kubernetes API: apply, dry-run, read, wait."""

from jacquard.providers.kube.client import ApiServer
from jacquard.providers.kube.discovery import Resource
from jacquard.providers.kube.errors import ApiError, Cause, KindNotFound, KubeconfigError, Unreachable
from jacquard.providers.kube.objects import ObjectRef

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
