"""Invariants of every environment of this repository, of any size and with any backends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import inputs
from components.lookups.pools import clusters
from components.lookups.slices import Slice, slices
from components.render.manifest import objects
from components.rules.checks import check
from components.specs.environment import Environment
from components.specs.reading.loader import environments
from components.specs.region.state import StackLayout
from jacquard.machine import paths
from tests.support.data.environment_data import ENVIRONMENTS, REFERENCES, reference

NAMES = REFERENCES
CODE = tuple(sorted(file.parent.name for file in paths.ROOT.glob("*/__init__.py")))
RESOURCES_PER_STACK = 320
"""The file backend rewrites the whole state twice per operation: 500 resources take 8 times as long as 100."""
OF_A_CLUSTER = 3
"""Resources for access to one cluster: a provider of single objects, one of sets, the kubeconfig's command."""

EVERYWHERE = (None, "default", "kube-system")
"""No namespace, and the namespaces of every cluster."""


@cache
def loaded(name: str) -> Environment:
    return reference(name)


def stacks(environment: Environment) -> dict[str, tuple[Slice, ...]]:
    """Return the slices of each stack."""
    parts = slices(environment)
    if environment.region.stacks is StackLayout.WHOLE:
        return {environment.name: parts}
    return {f"{environment.name}.{part.name}": (part,) for part in parts}


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_has_no_problem(name: str) -> None:
    assert check(loaded(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_stack_is_within_its_budget_of_resources(name: str) -> None:
    environment, too_many = loaded(name), {}
    for stack, parts in stacks(environment).items():
        rendered = [item for part in parts for item in manifests(environment, part)]
        clusters = {item.cluster for item in objects(rendered)}
        concepts = sum(len(inputs(environment, part)) for part in parts)
        count = len(rendered) + concepts + OF_A_CLUSTER * len(clusters)
        if count > RESOURCES_PER_STACK:
            too_many[stack] = count

    assert too_many == {}


@pytest.mark.parametrize("name", NAMES)
def test_no_two_objects_of_an_environment_share_a_name(name: str) -> None:
    environment = loaded(name)
    keys = [item.key for part in slices(environment) for item in objects(manifests(environment, part))]

    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", NAMES)
def test_every_object_follows_its_namespace_in_its_own_cluster(name: str) -> None:
    environment, there, homeless = loaded(name), set(), []
    for part in slices(environment):
        for item in objects(manifests(environment, part)):
            if item.kind == "Namespace":
                there.add((item.cluster, item.name))
            elif item.namespace not in EVERYWHERE and (item.cluster, item.namespace) not in there:
                homeless.append(item.key)

    assert homeless == []
    assert len(there) > 10


def test_no_python_names_an_environment() -> None:
    names = "|".join(map(re.escape, environments(ENVIRONMENTS)))
    a_name = re.compile(rf"(?<![\w-])(?<!jacquard[./])({names})(?![\w-])")
    files = [file for folder in CODE for file in (paths.ROOT / folder).rglob("*.py")]

    named = [
        f"{file.relative_to(paths.ROOT)}:{number} {found[0]}"
        for file in files
        for number, line in enumerate(Path(file).read_text(encoding="utf-8").splitlines(), start=1)
        if (found := a_name.search(line))
    ]
    assert named == []
    assert len(files) > 100


def workloads() -> Iterator[str]:
    """Yield the names of the workload platforms that clusters of the references order."""
    for environment in map(loaded, environments(ENVIRONMENTS)):
        yield from ("object store" for store in environment.region.object_stores if store.seaweedfs)
        for cluster in (placed.cluster for placed in clusters(environment)):
            yield from (name for name in ("slurm", "queues", "serving") if getattr(cluster, name))
            yield from ("autoscaling" for pool in cluster.pools if pool.autoscaling)
            if cluster.slurm:
                server = cluster.slurm.database_server
                yield from ("scripts" for _ in (*cluster.slurm.prolog, *cluster.slurm.epilog))
                yield from ("dumps to a bucket" for backup in (server and server.backup,) if backup)


def test_each_workload_platform_is_in_a_reference() -> None:
    platforms = {"slurm", "scripts", "dumps to a bucket", "queues", "serving", "autoscaling", "object store"}

    assert set(workloads()) == platforms
