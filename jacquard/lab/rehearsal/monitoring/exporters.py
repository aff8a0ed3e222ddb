"""Responses to scrapes: metrics of real programs, and of simulated exporters from what API servers contain now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring import custom_resources, nodes
from jacquard.lab.rehearsal.monitoring.configuration import (
    API_SERVER,
    CLUSTER,
    DCGM,
    EXPORTER,
    KUBE_STATE,
    NODE,
    NODE_EXPORTER,
    PART,
    POD,
    PROGRAM,
)
from jacquard.lab.rehearsal.monitoring.observed import Apis, Object, each
from jacquard.lab.rehearsal.monitoring.samples import Sample, text
from jacquard.lab.rehearsal.monitoring.targets import Program
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig

_ON_NODES = {NODE_EXPORTER: nodes.node_exporter, DCGM: nodes.dcgm_exporter}


class Exporters:
    """All exporters of a region."""

    def __init__(self, apis: Apis, resources: Callable[[], list[Object]], page: Callable[[Program], str]) -> None:
        """Create the exporters.

        Args:
            apis: clients of the API servers.
            resources: returns the custom resources in the values of kube-state-metrics.
            page: returns the metrics of a program.
        """
        self._apis, self._resources, self._page = apis, resources, page

    def __call__(self, query: Mapping[str, str]) -> str:
        """Return the metrics of the exporter that the query of a scrape names.

        Raises:
            RehearsalError: there is no such exporter, or its node is not ready.
            ApiError: the API server does not respond.
            OSError: the program does not respond.
        """
        exporter, cluster = query.get(EXPORTER), query.get(CLUSTER, "")
        if exporter == API_SERVER:
            return str(self._apis.of(cluster).request("GET", "/metrics", accept="text/plain"))
        if exporter == PROGRAM:
            return self._page(Program(query[PART], query.get(POD, "")))
        if exporter == KUBE_STATE:
            return text(self._kube_state(cluster))
        if exporter in _ON_NODES:
            return text(_ON_NODES[exporter](self._node(cluster, query.get(NODE, ""))))
        msg = f"'{exporter}' is not an exporter of this region"
        raise RehearsalError(msg)

    def _kube_state(self, cluster: str) -> Iterator[Sample]:
        api = self._apis.of(cluster)
        yield from nodes.kube_state(each(api, "v1", "Node"))
        for resource in self._resources() if cluster == MANAGEMENT else ():
            kind = resource["groupVersionKind"]
            found = each(api, f"{kind['group']}/{kind['version']}", kind["kind"])
            yield from custom_resources.samples(resource, found)

    def _node(self, cluster: str, name: str) -> Object:
        found = self._apis.of(cluster).get(ObjectRef("v1", "Node", name))
        if found is None or not nodes.is_ready(found):
            msg = f"node '{name}' of {cluster} is not ready"
            raise RehearsalError(msg)
        return found


def resources_of(values: Mapping[str, object]) -> list[Object]:
    """Return the custom resources in the values of the chart."""
    return dig(values, "kube-state-metrics", "customResourceState", "config", "spec", "resources") or []
