"""Checks the readiness of live objects from the program.

If the wait of a provider times out, the state rarely records the failure: the vendor's provider drops the record at a
refresh. Without this check, a stack would continue and apply objects without the operator or control plane that they
need.
"""

import asyncio
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import pulumi

from components.render.manifest import Manifest
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, KubeconfigError, ObjectRef, Unreachable
from jacquard.providers.kube.wait import NotReached, WaitCondition, parse_wait_for, unmet, wait_for
from stacks.markers import NOT_READY


class ReadinessCheck:
    """Readiness check for awaited objects of one cluster; the cluster may be created during the run."""

    def __init__(self, cluster: str, kubeconfig: Path, context: str | None) -> None:
        self._cluster = cluster
        self._kubeconfig = kubeconfig
        self._context = context

    @cached_property
    def _api(self) -> ApiServer:
        return ApiServer.from_kubeconfig(self._kubeconfig, self._context)

    async def __call__(self, item: Manifest) -> None:
        """Check that an applied object is ready, waiting if necessary.

        Raises:
            RunError: the object is not ready after its timeout, has failed, or does not exist.
        """
        await asyncio.to_thread(self._pass, item)

    def _pass(self, item: Manifest) -> None:
        ref, wanted = ObjectRef.of(item.body), conditions(item)
        if item.readiness is None:
            return
        try:
            body = self._api.get(ref)
            if body is None:
                msg = (
                    f"{ref} of cluster {self._cluster} does not exist, although the stack created it; "
                    "run 'pulumi refresh' to update the state, then 'up' to recreate it"
                )
                raise pulumi.RunError(msg)
            if missing := unmet(body, wanted):
                pulumi.log.info(f"waiting for {ref} of cluster {self._cluster}: {'; '.join(missing)}")
                wait_for(self._api, ref, wanted, timeout_seconds=item.readiness.timeout_seconds)
        except NotReached as error:
            msg = f"{error}; later objects were not applied"
            raise pulumi.RunError(msg) from None
        except (Unreachable, KubeconfigError) as error:
            # Objects in this cluster fail separately; the rest of the region does not have to wait for this cluster.
            pulumi.log.warn(f"readiness of {ref} of cluster {self._cluster} could not be checked: {error}")
        except ApiError as error:
            msg = f"{ref} of cluster {self._cluster}: {error}"
            raise pulumi.RunError(msg) from None


def conditions(item: Manifest) -> tuple[WaitCondition, ...]:
    """Return the wait conditions of an object; empty for an object that is not awaited.

    Raises:
        WaitExpressionError: an expression is invalid.
    """
    texts = item.readiness.conditions if item.readiness else ()
    return tuple(condition for text in texts for condition in parse_wait_for(text))


def unreadable(items: Iterable[Manifest]) -> list[str]:
    """Return messages for invalid wait conditions of ``items``; a provider may detect these only after creation."""
    messages: list[str] = []
    for item in items:
        try:
            conditions(item)
        except ProviderError as error:
            messages.append(f"{ObjectRef.of(item.body)} of cluster {item.cluster}: {error}")
    return messages


def not_ready(api: ApiServer, items: Iterable[Manifest]) -> Iterator[str]:
    """Yield a message for each of ``items`` that exists, is awaited, and is currently not ready.

    Raises:
        ApiError: the API server does not answer, or rejects the request.
    """
    for item in items:
        wanted, ref = conditions(item), ObjectRef.of(item.body)
        if not wanted:
            continue
        try:
            body = api.get(ref)
        except KindNotFound:
            continue
        if body is not None and (missing := unmet(body, wanted)):
            yield f"{NOT_READY}{ref} of cluster {item.cluster}, which 'up' waits for: {'; '.join(missing)}"
