"""Rules about rails of RoCE fabrics: enough rails for the ports of nodes, one fabric per cluster, and its size."""

import datetime as dt
import math
from collections.abc import Iterator

from components.lookups.network.fabrics import connected, cutting, infiniband, on_roce
from components.lookups.network.plugin_configuration import configuration_bytes
from components.lookups.pools import clusters, most_nodes, place, problem
from components.rules.rule import AdvisoryPeriod, Rules, advisory
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.network.fabrics import FabricSpec
from components.specs.reading.loader import INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem, listed

_KIBIBYTE = 1024
MAX_CONFIGURATION = 1024 * _KIBIBYTE
"""Maximum size of a ConfigMap in bytes (kubernetes/kubernetes:pkg/apis/core/validation)."""


def enough(environment: Environment) -> Iterator[Problem]:
    """Report fabrics with fewer rails than a node has ports with virtual functions for pods."""
    lacking: dict[str, tuple[InstanceType, str]] = {}
    for placed in clusters(environment):
        for kind, fabric in on_roce(environment, placed):
            most = lacking[fabric.name][0].roce_ports if fabric.name in lacking else fabric.rails or 0
            if kind.roce_functions and kind.roce_ports > most:
                lacking[fabric.name] = (kind, placed.cluster.name)
    for index, fabric in enumerate(environment.region.fabrics):
        if fabric.name in lacking:
            yield _few(environment, index, fabric, *lacking[fabric.name])


def one_fabric(environment: Environment) -> Iterator[Problem]:
    """Report clusters whose pods would get virtual functions on two fabrics."""
    for placed in clusters(environment):
        if not cutting(environment, placed):
            continue
        names = [fabric.name for kind, fabric in on_roce(environment, placed) if kind.roce_functions]
        if connected(environment, placed):
            names += [fabric.name for fabric in infiniband(environment, placed.vpc)]
        names = list(dict.fromkeys(names))
        if len(names) > 1:
            text = (
                f"pods of {placed.cluster.name} would get functions of ports on {listed(names)}, but the Network"
                " Operator is configured for one fabric; create one VPC and one cluster per fabric"
            )
            yield problem(environment, placed.file, (*placed.vpc_path, "fabrics"), text)


@advisory(AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)))
def plugin_configuration(environment: Environment) -> Iterator[Problem]:
    """Report clusters with virtual functions on more nodes than the device plugin's configuration can contain.

    The SR-IOV operator writes the configuration of all nodes of a cluster to one ConfigMap. If the API server rejects
    it because of its size, nodes that join later get no virtual functions.
    """
    for placed in clusters(environment):
        sizes = configuration_bytes(environment, placed)
        total = sum(sizes.values())
        if total > MAX_CONFIGURATION:
            at, pool = max(enumerate(placed.cluster.pools), key=lambda entry: sizes[entry[1].name])
            nodes = most_nodes(environment, pool)
            surplus = math.ceil((total - MAX_CONFIGURATION) * nodes / sizes[pool.name])
            text = (
                f"virtual functions in {placed.cluster.name} require at least {-(-total // _KIBIBYTE)} KiB of"
                " configuration, but the SR-IOV operator stores that of all nodes in one ConfigMap"
                f" ({MAX_CONFIGURATION // _KIBIBYTE} KiB): later nodes get no functions; reduce the pool from {nodes}"
                f" to {max(0, nodes - surplus)} nodes, and create another cluster for the others"
            )
            yield problem(environment, placed.file, (*placed.path, "pools", at), text)


def _few(environment: Environment, index: int, fabric: FabricSpec, kind: InstanceType, cluster: str) -> Problem:
    at, ports = environment.instance_types.instance_types.index(kind), kind.roce_ports
    there = place(environment, INSTANCE_TYPES, ("instance_types", at, "roce_ports"))
    text = f"pods of {cluster} get functions of '{kind.name}' on {ports} ports ({there})"
    if fabric.rails is None:
        text = f"{fabric.name} has no rails, but {text}; add rails: {ports} and rail_prefixes: 100.96.0.0/12"
        return problem(environment, REGION, ("fabrics", index), text)
    text = f"{fabric.name} has {fabric.rails} rails, but {text}; write {ports}, or remove roce_ports there"
    return problem(environment, REGION, ("fabrics", index, "rails"), text)


RULES = Rules(data=(enough, one_fabric, plugin_configuration))
