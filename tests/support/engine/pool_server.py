"""A pool of the environment laptop, and an API server on which programs apply and delete its objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.manifest import Manifest, created
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference


def pool_objects(pool: str) -> list[Manifest]:
    """Return the objects of ``pool``, such as ``acme-train-infer``."""
    laptop = reference("laptop")
    [concept] = (item for part in slices(laptop) for item in inputs(laptop, part) if item.name == pool)
    return list(created(concept.render()))


@contextmanager
def pool_server(folder: Path, objects: list[Manifest]) -> Iterator[LocalApiServer]:
    """Run an API server in ``folder`` with the kinds and namespaces of ``objects``."""
    # Providers delete objects in the foreground, which requires the garbage collector.
    running = LocalApiServer(
        folder, kinds={item.kind for item in objects}, controllers=("garbage-collector-controller",)
    )
    try:
        for name in sorted({str(item.namespace) for item in objects}):
            running.namespace(name)
        yield running
    finally:
        running.stop()
