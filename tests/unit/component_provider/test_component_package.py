"""The component package: its schema, and constructions by the real provider process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from components.component import Component
from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.manifest import Manifest, created
from components.render.pools.node_pool import NodePoolInput
from components.resources import child_name, type_token
from jacquard.component_provider.components import COMPONENTS, PACKAGE
from jacquard.machine import paths
from stacks.deploy import WAITS_FOR, Extension
from tests.support.data.environment_data import reference
from tests.support.docs.documents import DOCS, yaml_blocks
from tests.support.engine.engine_monitor import Monitor, Provider, running

POOL = "acme-train-infer"
KIND = f"{PACKAGE}:index:NodePool"
KUBECONFIG = "/etc/jacquard/management.yaml"
ARGUMENTS = {"environment": "laptop", "component": POOL, "kubeconfigs": {"management": KUBECONFIG}}
PAGE = DOCS / "guides" / "other-languages.md"


@pytest.fixture(scope="module")
def process() -> Iterator[tuple[Provider, Monitor]]:
    with running("jacquard.component_provider.server", str(paths.ROOT)) as found:
        yield found


@pytest.fixture(scope="module")
def schema(process: tuple[Provider, Monitor]) -> Any:
    provider, _ = process
    return json.loads(provider.schema())


@pytest.fixture
def provider(process: tuple[Provider, Monitor]) -> tuple[Provider, Monitor]:
    _, monitor = process
    monitor.registered.clear()
    monitor.outputs.clear()
    return process


def test_the_schema_has_each_component_with_its_outputs_and_descriptions(schema: Any) -> None:
    known: set[type[Component[Any]]] = {*WAITS_FOR} - {Extension}

    assert schema["name"] == PACKAGE
    assert set(schema["resources"]) == {f"{PACKAGE}:index:{component.__name__}" for component in known}
    assert {component.__name__: component for component in known} == {**COMPONENTS}
    for entry in schema["resources"].values():
        assert entry["isComponent"]
        assert entry["description"]
        assert entry["properties"]
        assert all(found["description"] for found in (entry["properties"] | entry["inputProperties"]).values())


def test_arguments_are_plain_except_paths_that_a_program_may_compute(schema: Any) -> None:
    arguments = schema["resources"][KIND]["inputProperties"]

    assert {name: found.get("plain") for name, found in arguments.items()} == dict.fromkeys(arguments, True)
    assert "plain" not in arguments["kubeconfigs"]["additionalProperties"]
    assert schema["resources"][KIND]["requiredInputs"] == ["component", "environment", "kubeconfigs"]


def test_types_of_outputs_are_those_of_the_components(schema: Any) -> None:
    types = {
        f"{kind.rpartition(':')[2]}.{name}": found["type"]
        for kind, entry in schema["resources"].items()
        for name, found in entry["properties"].items()
    }

    assert (types["NodePool.rolloutGroups"], types["TenantNetwork.vni"]) == ("array", "integer")
    assert (types["HostedControlPlane.endpoint"], types["Serving.hostNames"]) == ("string", "object")


def test_a_pool_registers_the_objects_of_its_renderer_below_its_component(
    provider: tuple[Provider, Monitor],
) -> None:
    process, monitor = provider
    laptop = reference("laptop")
    [concept] = (item for part in slices(laptop) for item in inputs(laptop, part) if item.name == POOL)
    assert isinstance(concept, NodePoolInput)

    answer = process.construct(KIND, "infer", ARGUMENTS)

    by_type = {one.type: one for one in monitor.registered}
    inner = by_type["jacquard:components:NodePool"]
    assert (inner.name, inner.parent) == (POOL, answer.urn)
    providers = [one for one in monitor.registered if one.type.startswith("pulumi:providers:")]
    assert {(one.type, one.name) for one in providers} == {
        ("pulumi:providers:kubernetes", "infer-management"),
        ("pulumi:providers:kubernetes", "infer-management/retained"),
        ("pulumi:providers:jacquard", "infer-management"),
    }
    assert {one.object["kubeconfig"] for one in providers} == {KUBECONFIG}
    assert {one.object["clusterIdentifier"] for one in providers} == {"laptop/management"}
    children = [(one.type, one.name) for one in monitor.registered if one.parent.endswith(f"NodePool::{POOL}")]
    expected = [
        (type_token(item) if isinstance(item, Manifest) else "jacquard:index:ObjectSet", child_name(POOL, item))
        for item in concept.render()
    ]
    assert sorted(children) == sorted(expected)
    assert list(answer.state["rolloutGroups"]) == rollout_groups(concept)


def rollout_groups(concept: NodePoolInput) -> list[str]:
    return [item.name for item in created(concept.render()) if item.kind == "MachineDeployment"]


def test_two_pools_of_a_program_have_separate_providers(provider: tuple[Provider, Monitor]) -> None:
    process, monitor = provider
    for name, component in (("a", POOL), ("b", "acme-train-system")):
        process.construct(KIND, name, {**ARGUMENTS, "component": component})

    urns = [(one.parent, one.type, one.name) for one in monitor.registered]
    assert len(set(urns)) == len(urns)


@pytest.mark.parametrize(
    ("change", "argument", "message"),
    [
        (
            {"component": "acme-train-tain"},
            "component",
            (
                "environment 'laptop' has no NodePool 'acme-train-tain'; write one of "
                "acme-train-system, acme-train-train, acme-train-infer, globex-lab-lab"
            ),
        ),
        (
            {"kubeconfigs": {"acme-train": KUBECONFIG}},
            "kubeconfigs",
            "NodePool 'acme-train-infer' applies objects to management; add the path of its kubeconfig",
        ),
    ],
)
def test_a_wrong_argument_is_an_error_of_its_property(
    provider: tuple[Provider, Monitor], change: dict[str, Any], argument: str, message: str
) -> None:
    process, monitor = provider

    with pytest.raises(grpc.RpcError) as error:
        process.construct(KIND, "infer", {**ARGUMENTS, **change})

    [detail] = [value for key, value in error.value.trailing_metadata() if key == "grpc-status-details-bin"]
    assert argument.encode() in detail
    assert message.encode() in detail
    assert b"Traceback" not in detail
    assert monitor.registered == []


def test_an_environment_that_does_not_exist_is_named(provider: tuple[Provider, Monitor]) -> None:
    process, _ = provider

    with pytest.raises(grpc.RpcError) as error:
        process.construct(KIND, "infer", {**ARGUMENTS, "environment": "lapto"})

    [detail] = [value for key, value in error.value.trailing_metadata() if key == "grpc-status-details-bin"]
    assert b"lapto" in detail
    assert b"Traceback" not in detail


def test_the_program_of_the_page_fits_the_schema(schema: Any) -> None:
    [program] = [yaml.safe_load(block) for block in yaml_blocks(PAGE)]

    assert program["runtime"] == "yaml"
    for resource in program["resources"].values():
        entry = schema["resources"][resource["type"]]
        assert set(entry["requiredInputs"]) <= set(resource["properties"]) <= set(entry["inputProperties"])
    for output in program["outputs"].values():
        name, _, wanted = output.removeprefix("${").removesuffix("}").partition(".")
        assert wanted in schema["resources"][program["resources"][name]["type"]]["properties"]


def test_the_program_of_the_page_constructs_its_pool(provider: tuple[Provider, Monitor]) -> None:
    process, monitor = provider
    [program] = [yaml.safe_load(block) for block in yaml_blocks(PAGE)]
    [(name, resource)] = program["resources"].items()

    answer = process.construct(resource["type"], name, resource["properties"])

    assert list(answer.state["rolloutGroups"])
    assert {one.type for one in monitor.registered} > {KIND}


def test_the_program_of_the_page_finds_the_providers_in_the_environment_of_python() -> None:
    [program] = [yaml.safe_load(block) for block in yaml_blocks(PAGE)]

    for entry in program["plugins"]["providers"]:
        assert (paths.ROOT / entry["path"] / f"pulumi-resource-{entry['name']}").exists()
    assert Path(KUBECONFIG).is_absolute()
