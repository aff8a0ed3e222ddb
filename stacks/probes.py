"""Readiness of live objects, as the program sees it for itself.

What a provider waited for in vain is in the state, if at all: the vendor's forgets it with a refresh. A stack that went
on then would apply what comes after a gate to an operator or a control plane that is not there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import pulumi

from components.render.manifest import Manifest
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, KubeconfigError, ObjectRef, Unreachable
from jacquard.providers.kube.wait import WaitCondition, WaitTimeout, parse_wait_for, unmet, wait_for
from stacks.markers import NOT_READY


class Looking:
    """Looks at the awaited objects of one cluster, which may come into being during the run."""

    def __init__(self, cluster: str, kubeconfig: Path, context: str | None) -> None:
        self._cluster = cluster
        self._kubeconfig = kubeconfig
        self._context = context

    @cached_property
    def _api(self) -> ApiServer:
        return ApiServer.from_kubeconfig(self._kubeconfig, self._context)

    async def __call__(self, item: Manifest) -> None:
        """Pass when an object that was applied is ready, if need be after a while.

        Raises:
            RunError: it is not after its time, or is not there at all.
        """
        await asyncio.to_thread(self._pass, item)

    def _pass(self, item: Manifest) -> None:
        ref, wanted = ObjectRef.of(item.body), conditions(item)
        if item.readiness is None:
            return
        try:
            found = self._api.get(ref)
            if found is None:
                msg = (
                    f"{ref} of cluster {self._cluster} is not there, although the stack has made it; "
                    "'pulumi refresh' writes that down, and the next 'up' makes it anew"
                )
                raise pulumi.RunError(msg)
            if missing := unmet(found, wanted):
                pulumi.log.info(f"waiting for {ref} of cluster {self._cluster}: {'; '.join(missing)}")
                wait_for(self._api, ref, wanted, timeout_seconds=item.readiness.timeout_seconds)
        except WaitTimeout as error:
            msg = f"{error}; what comes after it was not applied"
            raise pulumi.RunError(msg) from None
        except (Unreachable, KubeconfigError) as error:
            # What needs the cluster fails by itself, and the rest of the region need not wait for it.
            pulumi.log.warn(f"nobody could look whether {ref} of cluster {self._cluster} is ready: {error}")
        except ApiError as error:
            msg = f"{ref} of cluster {self._cluster}: {error}"
            raise pulumi.RunError(msg) from None


def conditions(item: Manifest) -> tuple[WaitCondition, ...]:
    """Return what is awaited of an object; nothing if it is not awaited.

    Raises:
        WaitExpressionError: an expression cannot be read.
    """
    texts = item.readiness.conditions if item.readiness else ()
    return tuple(condition for text in texts for condition in parse_wait_for(text))


def unreadable(items: Iterable[Manifest]) -> list[str]:
    """Return in words what of ``items`` cannot be awaited: a provider may make an object before it finds out."""
    found: list[str] = []
    for item in items:
        try:
            conditions(item)
        except ProviderError as error:
            found.append(f"{ObjectRef.of(item.body)} of cluster {item.cluster}: {error}")
    return found


def not_ready(api: ApiServer, items: Iterable[Manifest]) -> Iterator[str]:
    """Yield a line for each of ``items`` that is there, is awaited, and is not ready now.

    Raises:
        ApiError: the API server does not answer, or refuses.
    """
    for item in items:
        wanted, ref = conditions(item), ObjectRef.of(item.body)
        if not wanted:
            continue
        try:
            found = api.get(ref)
        except KindNotFound:
            continue
        if found is not None and (missing := unmet(found, wanted)):
            yield f"{NOT_READY}{ref} of cluster {item.cluster}, which 'up' waits for: {'; '.join(missing)}"
