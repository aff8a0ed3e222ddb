"""Dependents of a component wait until its awaited objects are ready."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi

from components.render.manifest import Manifest, Readiness, Rendered
from components.resources import Cluster, done, register

Run = Callable[..., list[Any]]


def thing(name: str, readiness: Readiness | None = None) -> Manifest:
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {}}
    return Manifest(body=body, readiness=readiness)


AWAITED = Readiness(conditions=("condition=Ready",), timeout_seconds=5)


def observed(run: Run, *, fails: bool = False) -> tuple[list[str], list[str]]:
    """Return the registered resources and the readiness checks of a component and its dependent, in order."""
    looked: list[str] = []
    registered: list[Any] = []

    async def look(item: Manifest) -> None:
        looked.append(item.name)
        if fails:
            msg = f"{item.name} is not ready"
            raise pulumi.RunError(msg)

    place = Path("/kubeconfigs/management.yaml")
    cluster = Cluster(name="management", kubeconfig=place, identifier="lab/management", look=look)

    class Looked(pulumi.ComponentResource):
        def __init__(self, name: str, *rendered: Rendered, opts: pulumi.ResourceOptions | None = None) -> None:
            super().__init__("test:components:Group", name, {}, opts)
            register(self, name, rendered, {"management": cluster})
            self.register_outputs({})

    def program() -> None:
        first = Looked("one", thing("a"), thing("b", AWAITED))
        Looked("two", thing("c"), opts=pulumi.ResourceOptions(depends_on=[done(first)]))

    try:
        registered += run(program)
    except pulumi.RunError as error:
        return [str(error)], looked
    return [item.name for item in registered if item.type == "kubernetes:example.com/v1:Thing"], looked


def test_dependents_wait_until_awaited_objects_are_ready(run: Run) -> None:
    assert observed(run) == (["one-thing-a", "one-thing-b", "two-thing-c"], ["b"])


def test_dependents_of_unready_objects_are_not_registered(run: Run) -> None:
    assert observed(run, fails=True) == (["b is not ready"], ["b"])
