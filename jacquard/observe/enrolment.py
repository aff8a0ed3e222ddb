"""Reads the inspected hardware of a region's hosts, and the devices of its nodes, and compares both with the data."""

from collections.abc import Iterator

from components.lookups.add_ons import add_ons, hardware
from components.lookups.pools import clusters
from components.render.add_ons.declared_hardware import API, KIND, NAME, is_verified, label
from components.render.labels import AS_DECLARED, NODE_POOL
from components.reports.enrolment.report import Enrolment, VerifiedNode, enrolment
from components.specs.environment import Environment
from jacquard.observe.backends import bare_metal
from jacquard.observe.nodes.live import host_place
from jacquard.observe.objects import Kind, Report, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

TENANT_KINDS: tuple[Kind, ...] = (("v1", "Node"), (API, KIND))
_LABELLED = "nfd.node.kubernetes.io/feature-labels"
"""Annotation of a node whose features were evaluated (NFD:pkg/nfd-master/nfd-master.go)."""


def management_kinds(environment: Environment) -> tuple[Kind, ...]:
    """Return the kinds that `enrolled` reads in the management cluster."""
    metal = bare_metal(environment)
    return tuple(dict.fromkeys((*metal.inspections, *metal.reports)))


def enrolled(environment: Environment, seen: Observation) -> Enrolment:
    """Return the enrolment of ``environment``; ``seen`` contains an answer of the management cluster."""
    metal = bare_metal(environment)
    report = metal.report(seen.of)
    return enrolment(environment, metal.inspected(seen.of, report), _verified(environment, seen, report))


def _verified(environment: Environment, seen: Observation, report: Report) -> Iterator[VerifiedNode]:
    """Yield the nodes whose devices Node Feature Discovery has evaluated with the rule of the platform."""
    provider = bare_metal(environment).provider
    for placed in clusters(environment):
        name = placed.cluster.name
        types = {pool.name: pool.instance_type for pool in placed.cluster.pools}
        chosen = add_ons(environment, placed)
        verifiable = {kind.name for kind in hardware(environment, placed) if is_verified(chosen, (kind,))}
        if all(key(body)[1] != NAME for body in seen.of(KIND, name)):
            continue
        for node in seen.of("Node", name):
            labels, evaluated = dig(node, "metadata", "labels") or {}, dig(node, "metadata", "annotations") or {}
            kind, place = types.get(labels.get(NODE_POOL, "")), host_place(node, provider)
            host = report(place)[0] if place else None
            if kind in verifiable and host and _LABELLED in evaluated:
                found = labels.get(label(str(kind))) == AS_DECLARED
                yield VerifiedNode(host=host, node=f"{name}/{key(node)[1]}", instance_type=str(kind), as_declared=found)
