"""A stack with part of a region's declared objects, created by the components at one API server with their kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.render.namespaces import FREE_HOSTS
from jacquard.lab.rehearsal import crds
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.workbench import Workbench
from tests.support.engine.engine_order import Operation, recorded_operations
from tests.support.engine.pulumi_project import Project
from tests.support.objects.published_crds import BUILT_IN, CrdFolder

_PROGRAM = """
import os
from components.specs.struct import replace
from pathlib import Path

import pulumi

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.manifest import MANAGEMENT, ManifestSet
from components.resources import Cluster, register
from components.specs.reading.loader import load_environment

GROUPS = tuple(os.environ["GROUPS"].split())


def chosen(items):
    for item in items:
        if isinstance(item, ManifestSet):
            if members := {key: one for key, one in item.members.items() if one.api_version.startswith(GROUPS)}:
                yield replace(item, members=members, patches={})
        elif item.api_version.startswith(GROUPS):
            # Nobody is at work here who makes an object ready, or ends a deletion in the foreground.
            background = {"pulumi.com/deletionPropagationPolicy": "background"}
            metadata = {**item.body["metadata"], "annotations": background}
            yield replace(item, readiness=None, body={**item.body, "metadata": metadata})


class Part(pulumi.ComponentResource):
    def __init__(self, name, items, opts):
        super().__init__("test:Part", name, {}, opts)
        register(self, name, items, clusters)
        self.register_outputs({})


environment = load_environment("laptop", Path(os.environ["DATA"]))
names = (MANAGEMENT, *(cluster.name for tenant in environment.tenants for cluster in tenant.clusters))
file = Path(os.environ["KUBECONFIG"])
clusters = {name: Cluster(name=name, kubeconfig=file, identifier=f"laptop/{name}") for name in names}
first = []
for part in slices(environment):
    for concept in inputs(environment, part):
        if items := list(chosen(concept.render())):
            made = Part(concept.name, items, pulumi.ResourceOptions(depends_on=first))
            first = first or [made]
"""


def declared(bench: Workbench, groups: Sequence[str]) -> list[Manifest]:
    """Return the declared objects of some API groups."""
    environment = bench.load()
    every = (item for part in slices(environment) for item in objects(manifests(environment, part)))
    return [item for item in every if item.api_version.partition("/")[0] in groups]


@contextmanager
def serving(items: Sequence[Manifest], folder: Path, *namespaces: str) -> Iterator[LocalApiServer]:
    """Yield an API server with the kinds and namespaces of ``items``, and further namespaces."""
    published = CrdFolder()
    kinds = {(item.api_version.partition("/")[0], item.kind) for item in items if item.api_version not in BUILT_IN}
    running = LocalApiServer(folder / "server", kinds=())
    try:
        crds.install(running.api, [crds.prepared(dict(published.definition(*kind))) for kind in sorted(kinds)])
        own = {item.namespace for item in items if item.namespace}
        for namespace in sorted({FREE_HOSTS, *namespaces, *own} - {"default"}):
            running.namespace(namespace)
        yield running
    finally:
        running.stop()


def stack(server: LocalApiServer, bench: Workbench, groups: Sequence[str], folder: Path) -> Project:
    """Return a stack with the declared objects of some API groups applied."""
    made = Project(folder, server.kubeconfig, _PROGRAM)
    made.variables |= {"DATA": str(bench.root), "GROUPS": " ".join(groups)}
    run(made, "up")
    return made


def run(project: Project, verb: str) -> list[Operation]:
    """Preview or apply the data, and return the operations on objects."""
    events = project.folder / f"{verb}.events"
    events.write_text("")
    outcome = getattr(project, verb)("--event-log", str(events), PULUMI_DEBUG_COMMANDS="true")
    assert outcome.code == 0, outcome.text
    return recorded_operations(events)
