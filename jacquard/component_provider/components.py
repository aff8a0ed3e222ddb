"""Components of the package, whose schema Pulumi infers from the annotations of their classes.

Each component of `stacks.deploy` has a counterpart with the same name, outputs and description. Its arguments name a
component in the data: the inputs of Jacquard's components are specs with unions, tuples and constraints, for which the
analyzer (pulumi.provider.experimental.analyzer) infers no schema, and plain data (docs/adr/0038) are read from files.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from inspect import get_annotations
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pulumi
from pulumi.errors import InputPropertyError
from pulumi.provider.experimental.util import camel_case

from components.component import Component, ComponentArgs
from components.render.concept import Concept
from components.render.manifest import MANAGEMENT
from components.resources import Cluster, Clusters
from components.specs.reading.loader import load_environment
from components.specs.reading.problems import SpecError, listed
from jacquard.api import inputs
from stacks.deploy import WAITS_FOR, Extension

PACKAGE = "jacquard-components"
"""Name of the package and first part of its type tokens."""
DATA = "environments"
"""Default folder with the environments, in the working directory of the provider: that of the program."""
_ENVIRONMENT, _COMPONENT, _KUBECONFIGS = "environment", "component", "kubeconfigs"


class ComponentOfDataArgs(TypedDict):
    """Arguments of every component of the package."""

    environment: str
    """Name of the environment whose data contain the component."""
    component: str
    """Name of the component in this environment, such as 'acme-train-train' for a pool."""
    kubeconfigs: Mapping[str, pulumi.Input[str]]
    """Absolute path of the kubeconfig of each cluster to which the component applies objects, by the name of the
    cluster; 'management' is the management cluster."""
    context: NotRequired[str]
    """Context of the management cluster's kubeconfig. Default: its current context."""
    data: NotRequired[str]
    """Folder with the environments. Default: 'environments' in the folder of the program."""


class ComponentOfData(pulumi.ComponentResource):
    """A component of an environment, with its objects."""

    _component: type[Component[Any]]

    def __init__(self, name: str, args: ComponentOfDataArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"{PACKAGE}:index:{type(self).__name__}", name, {}, opts)
        concept = find(self._component, args)
        made = ComponentArgs(concept=concept, clusters=_clusters(name, concept, args))
        inner = self._component(concept.name, made, pulumi.ResourceOptions(parent=self))
        outputs = {key: getattr(inner, key) for key in _outputs(self._component)}
        for key, output in outputs.items():
            setattr(self, key, output)
        self.register_outputs({camel_case(key): output for key, output in outputs.items()})


def counterpart(component: type[Component[Any]]) -> type[ComponentOfData]:
    """Return the class of the package for ``component``."""
    fields = {
        "_component": component,
        "__doc__": component.__doc__,
        "__module__": component.__module__,  # the analyzer reads descriptions of outputs from the source of this module
        "__annotations__": dict(_outputs(component)),
    }
    return type(component.__name__, (ComponentOfData,), fields)


COMPONENTS: Mapping[str, type[Component[Any]]] = {
    component.__name__: component for component in WAITS_FOR if component is not Extension
}
"""Components of the package by name. Extensions are Python code of the user's repository."""


def find(component: type[Component[Any]], args: ComponentOfDataArgs) -> Concept:
    """Return the input of the component that ``args`` name.

    Raises:
        InputPropertyError: the data are invalid, or contain no such component.
    """
    environment, wanted = args["environment"], args["component"]
    try:
        concepts = _concepts(environment, args.get("data", DATA))
    except SpecError as error:
        raise InputPropertyError(_ENVIRONMENT, str(error)) from None
    known = {concept.name: concept for concept in concepts if isinstance(concept, component.INPUT)}
    if wanted not in known:
        existing = f"write one of {listed(known)}" if known else "its data order none"
        msg = f"environment '{environment}' has no {component.__name__} '{wanted}'; {existing}"
        raise InputPropertyError(_COMPONENT, msg)
    concept = known[wanted]
    missing = sorted(_names(concept) - args["kubeconfigs"].keys())
    if missing:
        msg = f"{component.__name__} '{wanted}' applies objects to {listed(missing)}; add the path of its kubeconfig"
        raise InputPropertyError(_KUBECONFIGS, msg)
    return concept


@lru_cache(maxsize=16)
def _concepts(environment: str, data: str) -> tuple[Concept, ...]:
    """Return the inputs of all components. They are read once: a provider process serves one run of the engine."""
    return inputs(load_environment(environment, Path(data)))


def _names(concept: Concept) -> set[str]:
    return {item.cluster for item in concept.render()}


def _clusters(name: str, concept: Concept, args: ComponentOfDataArgs) -> Clusters:
    """Return the clusters of ``concept``. Their providers have the name of the resource, which is unique."""
    found: dict[str, Cluster] = {}
    for cluster in sorted(_names(concept)):
        path = args["kubeconfigs"][cluster]
        found[cluster] = Cluster(
            name=f"{name}-{cluster}",
            kubeconfig=path if isinstance(path, pulumi.Output) else Path(str(path)),
            identifier=f"{args['environment']}/{cluster}",
            context=args.get("context") if cluster == MANAGEMENT else None,
        )
    return found


def _outputs(component: type[Component[Any]]) -> Mapping[str, Any]:
    """Return the outputs of ``component`` with their types."""
    return {key: kind for key, kind in get_annotations(component).items() if _is_output(kind)}


def _is_output(kind: Any) -> bool:
    return getattr(kind, "__origin__", None) is pulumi.Output


def classes() -> Iterator[type[ComponentOfData]]:
    """Yield the classes of the package."""
    yield from map(counterpart, COMPONENTS.values())
