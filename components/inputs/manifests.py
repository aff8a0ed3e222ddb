"""All objects of a slice as plain data, for registration, policies and golden files."""

from collections.abc import Iterator

from components.inputs.extensions.inputs import refuse_twins
from components.inputs.slice_inputs import made
from components.lookups.slices import Slice, slices
from components.render.manifest import Manifest, Rendered, objects
from components.specs.environment import Environment


def everything(environment: Environment) -> Iterator[Manifest]:
    """Yield the objects of all slices of ``environment``, in the order of application.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        SpecError: code of extension components fails, or creates a duplicate object.
    """
    for part in slices(environment):
        yield from objects(manifests(environment, part))


def manifests(environment: Environment, part: Slice) -> tuple[Rendered, ...]:
    """Return the objects of ``part`` of ``environment``, in the order of application.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        SpecError: code of extension components fails, or creates a duplicate object.
    """
    rendered = tuple(item for concept in made(environment, part) for item in concept.rendered)
    refuse_twins(environment, part, rendered)
    return rendered
