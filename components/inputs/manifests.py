"""All objects of a slice, as plain data: what components register, policies judge and golden files hold."""

from __future__ import annotations

from collections.abc import Iterator

from components.inputs.extensions import refuse_twins
from components.inputs.slice_inputs import made
from components.lookups.slices import Slice, slices
from components.render.manifest import Manifest, Rendered, objects
from components.specs.environment import Environment


def everything(environment: Environment) -> Iterator[Manifest]:
    """Yield every single object of all slices of ``environment``, in the order they are applied.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
        SpecError: code of the repository's own components breaks, or makes an object that is made already.
    """
    for part in slices(environment):
        yield from objects(manifests(environment, part))


def manifests(environment: Environment, part: Slice) -> tuple[Rendered, ...]:
    """Return what ``part`` of ``environment`` holds, in the order it is applied.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
        SpecError: code of the repository's own components breaks, or makes an object that is made already.
    """
    rendered = tuple(item for one in made(environment, part) for item in one.rendered)
    refuse_twins(environment, part, rendered)
    return rendered
