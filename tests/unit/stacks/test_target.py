"""Stack names: their targets, and the messages for invalid names."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Any

import pytest

from components.specs.reading.problems import SpecError
from stacks import target as targets
from stacks.errors import StackError
from stacks.target import stack_names

load_target = partial(targets.load_target, today=dt.date(2026, 11, 1))
SLICES = (
    "foundation",
    "inventory-a",
    "tenant-acme",
    "tenant-globex",
    "cluster-acme-train",
    "cluster-globex-lab",
)


def test_a_whole_environment_is_one_stack_of_all_slices(laptop: Any) -> None:
    target = load_target("laptop", laptop.root)

    assert (target.environment.name, target.bootstrap) == ("laptop", False)
    assert tuple(piece.name for piece in target.slices) == SLICES
    assert stack_names(target.environment) == ("laptop",)


def test_a_slice_of_a_sliced_environment_is_a_stack(laptop: Any) -> None:
    laptop.edit("region.yaml", "stacks: whole", "stacks: sliced")

    target = load_target("laptop.tenant-acme", laptop.root)

    assert [piece.name for piece in target.slices] == ["tenant-acme"]
    assert stack_names(target.environment) == tuple(f"laptop.{name}" for name in SLICES)


def test_a_local_region_has_a_bootstrap_stack_in_either_layout(laptop: Any) -> None:
    target = load_target("laptop.bootstrap", laptop.root)
    laptop.edit("region.yaml", "stacks: whole", "stacks: sliced")
    sliced = load_target("laptop.bootstrap", laptop.root)

    assert (target.bootstrap, target.slices) == (sliced.bootstrap, sliced.slices) == (True, ())


@pytest.mark.parametrize("stack", ["lab", "lab.foundation", "", "catalog"])
def test_a_stack_without_an_environment_is_reported_with_existing_ones(stack: str, laptop: Any) -> None:
    with pytest.raises(StackError) as error:
        load_target(stack, laptop.root)

    assert str(error.value) == (
        f"stack '{stack}': environment '{stack.partition('.')[0]}' does not exist (existing: laptop); "
        "name a stack <environment>, or <environment>.<slice> if the environment is applied in slices"
    )


@pytest.mark.parametrize("part", ["foundation", "tenant-acme", "nonsense"])
def test_a_whole_environment_refuses_slices(part: str, laptop: Any) -> None:
    with pytest.raises(StackError) as error:
        load_target(f"laptop.{part}", laptop.root)

    assert str(error.value) == (
        f"stack 'laptop.{part}': environment 'laptop' is one stack "
        "(stacks: whole in environments/laptop/region.yaml); use laptop"
    )


@pytest.mark.parametrize(
    ("stack", "what"),
    [("laptop", "is applied in slices"), ("laptop.tenant-initech", "has no slice 'tenant-initech'")],
)
def test_a_sliced_environment_refuses_all_but_its_slices(stack: str, what: str, laptop: Any) -> None:
    laptop.edit("region.yaml", "stacks: whole", "stacks: sliced")

    with pytest.raises(StackError) as error:
        load_target(stack, laptop.root)

    assert str(error.value) == (
        f"stack '{stack}': environment 'laptop' {what} (stacks: sliced in environments/laptop/region.yaml); "
        f"use one of {', '.join(f'laptop.{name}' for name in SLICES)}"
    )


def test_only_a_local_region_creates_its_clusters(laptop: Any) -> None:
    laptop.edit(
        "region.yaml",
        "stage: rehearsal",
        "stage: production\nstate: {backend: s3://x, secrets_provider: awskms://x}\ncontext: admin@laptop\n#",
    )
    laptop.edit("region.yaml", "  data_stores:\n", "  announcement: {one_network: true}\n  data_stores:\n")

    with pytest.raises(StackError) as error:
        load_target("laptop.bootstrap", laptop.root)

    assert str(error.value) == (
        "stack 'laptop.bootstrap': only environments of stage rehearsal create their own clusters, and stage is "
        "production in environments/laptop/region.yaml; set context: there to that of the management cluster"
    )


def test_invalid_data_is_reported_before_any_registration(laptop: Any) -> None:
    laptop.edit("tenants/globex.yaml", "vpc: globex", "vpc: initech")

    with pytest.raises(SpecError, match=r"^environments/laptop: 1 problem\n  tenants/globex\.yaml:\d+ "):
        load_target("laptop", laptop.root)
