"""The program ends with an error for objects without an explicit cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from stacks.ambient import refuse_ambient_clusters

Run = Callable[..., list[Any]]
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"


def provider(**props: Any) -> pulumi.ProviderResource:
    return pulumi.ProviderResource("kubernetes", "west", props)


def config_map(**options: Any) -> None:
    pulumi.CustomResource(CONFIG_MAP, "a", {}, pulumi.ResourceOptions(**options))


def under_a_component() -> None:
    cluster = provider(kubeconfig="/kubeconfigs/west.yaml")
    config_map(parent=pulumi.ComponentResource("a:b:C", "c", {}, pulumi.ResourceOptions(providers=[cluster])))


def read_back() -> None:
    opts = pulumi.ResourceOptions(provider=provider(kubeconfig="/kubeconfigs/west.yaml"))
    pulumi.CustomResource(CONFIG_MAP, "a", {}, opts).urn.apply(lambda urn: config_map(urn=urn))


PASSES: dict[str, Callable[[], None]] = {
    "a provider of its own": lambda: config_map(provider=provider(kubeconfig="/kubeconfigs/west.yaml")),
    "the provider of its component": under_a_component,
    "a kubeconfig that is still to come": lambda: config_map(
        provider=provider(kubeconfig=pulumi.Output.from_input("text"))
    ),
    "an object read back from a component that its provider made": read_back,
    "no object of a cluster": lambda: pulumi.CustomResource("command:local:Command", "a", {}) and None,
}


@pytest.mark.parametrize("program", PASSES.values(), ids=PASSES)
def test_an_object_whose_cluster_is_named_passes(run: Run, program: Callable[[], None]) -> None:
    run(lambda: (refuse_ambient_clusters(), program()))


_AMBIENT = "so it would be created in the ambient cluster"
NO_KUBECONFIG = (
    f"provider 'west' has no kubeconfig, {_AMBIENT}; set kubeconfig= to the absolute path of the cluster's kubeconfig"
)
NO_PROVIDER = (
    f"ConfigMap 'a' has no provider, {_AMBIENT}; set provider= to a provider whose kubeconfig names its cluster"
)
REFUSED: dict[str, tuple[Callable[[], None], str]] = {
    "no provider": (
        config_map,
        NO_PROVIDER,
    ),
    "an empty kubeconfig": (
        lambda: config_map(provider=provider(kubeconfig="")),
        NO_KUBECONFIG,
    ),
    "no kubeconfig": (
        lambda: config_map(provider=provider()),
        NO_KUBECONFIG,
    ),
}


@pytest.mark.parametrize(("program", "message"), REFUSED.values(), ids=REFUSED)
def test_an_object_without_a_cluster_ends_the_program(run: Run, program: Callable[[], None], message: str) -> None:
    with pytest.raises(pulumi.RunError) as error:
        run(lambda: (refuse_ambient_clusters(), program()))

    assert str(error.value) == message
