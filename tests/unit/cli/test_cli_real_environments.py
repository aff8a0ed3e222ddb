"""Confirmations that ``up`` and ``down`` require for an environment with real hardware."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]


def staged(data_folder: Path, edit: Edit) -> None:
    """Switch laptop to real hardware."""
    region = data_folder / "laptop" / "region.yaml"
    state = 'state: {backend: "s3://state", secrets_provider: "awskms://alias/x"}\ncontext: lab\nstage: staging '
    edit(region, "stage: rehearsal ", state)
    edit(region, "  data_stores:\n", "  announcement: {one_network: true}\n  data_stores:\n")


def test_a_real_environment_is_not_applied_unasked(invoke: Invoke, data_folder: Path, edit: Edit) -> None:
    staged(data_folder, edit)

    result = invoke("up", "laptop")

    assert result.exit_code == 2
    assert result.stderr == "error: laptop: stage staging requires confirmation; without a terminal, add --yes\n"


@pytest.mark.parametrize(("typed", "got"), [((), "it is missing"), (("--yes-destroy", "laptob"), "got 'laptob'")])
def test_a_real_environment_is_destroyed_only_by_its_name(
    invoke: Invoke, data_folder: Path, edit: Edit, typed: tuple[str, ...], got: str
) -> None:
    staged(data_folder, edit)

    result = invoke("down", "laptop", *typed)

    assert result.exit_code == 2
    assert result.stderr == (
        "error: laptop: stage staging requires the name of the region in --yes-destroy "
        f"({got}); to confirm, write --yes-destroy laptop\n"
    )


_URN = "urn:pulumi:laptop::jacquard::jacquard:components:HostedControlPlane$"
_RECORD = {
    "urn": "urn:pulumi:laptop::jacquard::jacquard:components:PlugIns::plug-ins",
    "type": "jacquard:components:PlugIns",
    "protect": True,
}


def protected(kind: str, name: str) -> dict[str, Any]:
    type_ = f"kubernetes:cluster.x-k8s.io/v1beta2:{kind}"
    return {"urn": f"{_URN}{type_}::{name}", "type": type_, "custom": True, "protect": True}


@pytest.mark.parametrize(
    ("objects", "counted"), [([], ""), (["a"], "1 object is"), (["a", "b"], "2 objects are")], ids=["no", "one", "two"]
)
def test_a_real_environment_is_only_destroyed_without_protected_objects(
    invoke: Invoke, pulumi: Any, data_folder: Path, edit: Edit, objects: list[str], counted: str
) -> None:
    staged(data_folder, edit)
    resources = [_RECORD, *(protected("Cluster", name) for name in objects)]
    pulumi.answer("stack ls", stdout='[{"name": "laptop"}]')
    pulumi.answer("stack export", stdout=json.dumps({"deployment": {"resources": resources}}))

    result = invoke("down", "laptop", "--yes-destroy", "laptop")

    changing = [" ".join(call[:2]) for call in pulumi.calls if call[0] in ("state", "destroy")]
    if not objects:
        assert (result.exit_code, changing) == (0, ["state unprotect", "destroy --stack"]), result.output
        return
    lines = "".join(f"laptop: Cluster {name}\n" for name in objects)
    assert (result.exit_code, changing) == (1, [])
    assert result.stderr == (
        f"error: laptop: {counted} protected, nothing was destroyed; remove it from the data first (a cluster "
        f"with 'retire: true' and 'jacquard up'), or run 'pulumi state unprotect'\n{lines}"
    )
