"""Rules about rails of RoCE fabrics: enough rails for the ports of nodes, and one fabric per cluster."""

from collections.abc import Iterator

from components.lookups.network.fabrics import connected, cutting, infiniband, on_roce
from components.lookups.pools import clusters, place, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.network.fabrics import FabricSpec
from components.specs.reading.loader import INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem, listed


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


def _few(environment: Environment, index: int, fabric: FabricSpec, kind: InstanceType, cluster: str) -> Problem:
    at, ports = environment.instance_types.instance_types.index(kind), kind.roce_ports
    there = place(environment, INSTANCE_TYPES, ("instance_types", at, "roce_ports"))
    text = f"pods of {cluster} get functions of '{kind.name}' on {ports} ports ({there})"
    if fabric.rails is None:
        text = f"{fabric.name} has no rails, but {text}; add rails: {ports} and rail_prefixes: 100.96.0.0/12"
        return problem(environment, REGION, ("fabrics", index), text)
    text = f"{fabric.name} has {fabric.rails} rails, but {text}; write {ports}, or remove roce_ports there"
    return problem(environment, REGION, ("fabrics", index, "rails"), text)


RULES = Rules(data=(enough, one_fabric))
