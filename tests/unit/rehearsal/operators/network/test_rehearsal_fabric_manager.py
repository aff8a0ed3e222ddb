"""The fabric manager of a local region: accepted clients and requests, and persistence after its process ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.network.fabric_client import FabricClient, FabricError
from jacquard.lab.rehearsal.operators.network.fabric_manager import PARTITIONS, FabricManager
from jacquard.lab.rehearsal.operators.view import SIMULATED

GUIDS = (0x0200000000000001, 0x0200000000000002)
TOLD = {"UFM_ADDRESS": SIMULATED, "UFM_USERNAME": "admin", "UFM_PASSWORD": "secret"}


@pytest.fixture
def manager(tmp_path: Path) -> FabricManager:
    return FabricManager(tmp_path, "admin", "secret")


def members(folder: Path) -> Any:
    return json.loads((folder / PARTITIONS).read_text(encoding="utf-8"))


def test_members_are_added_and_removed_and_outlive_the_process(manager: FabricManager, tmp_path: Path) -> None:
    first = FabricClient.from_variables(TOLD, manager)
    first.version()
    for guid in GUIDS:
        first.add(0x10, guid)
    again = FabricClient.from_variables(TOLD, FabricManager(tmp_path, "admin", "secret"))

    assert again.guids() == list(GUIDS)
    assert members(tmp_path) == {"0x10": {"0200000000000001": "full", "0200000000000002": "full"}}
    again.remove(0x10, GUIDS[0])
    assert members(tmp_path) == {"0x10": {"0200000000000002": "full"}}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"UFM_PASSWORD": "other"}, "failed request with status code 401, expected status code 200"),
        ({"UFM_USERNAME": "other"}, "failed request with status code 401, expected status code 200"),
        ({"UFM_ADDRESS": "10.1.0.9"}, "dial tcp: lookup 10.1.0.9: no such host"),
        ({"UFM_PASSWORD": ""}, 'missing one or more required fileds for ufm \\["username", "password", "address"\\]'),
    ],
)
def test_access_requires_credentials_and_a_permitted_address(
    manager: FabricManager, changed: dict[str, str], says: str
) -> None:
    with pytest.raises(FabricError, match=says):
        FabricClient.from_variables({**TOLD, **changed}, manager).version()


@pytest.mark.parametrize("pkey", [0, 0x7FFF, 0x8010])
def test_keys_that_are_no_partition_of_a_tenant_are_refused(manager: FabricManager, tmp_path: Path, pkey: int) -> None:
    with pytest.raises(FabricError, match=f"400, .*pkey 0x{pkey:04X} is not between 0x0 and 0x7fff"):
        FabricClient.from_variables(TOLD, manager).add(pkey, GUIDS[0])
    assert not (tmp_path / PARTITIONS).exists()


@pytest.mark.parametrize(
    ("path", "content", "says"),
    [
        ("/ufmRest/resources/pkeys", {"pkey": "0x10", "guids": ["02:00"]}, "are no GUIDs"),
        ("/ufmRest/resources/pkeys", {"pkey": "0x10", "guids": []}, "are no GUIDs"),
        (
            "/ufmRest/resources/pkeys",
            {"pkey": "0x10", "guids": ["0" * 16], "membership": "half"},
            "membership half is neither of full, limited",
        ),
        ("/ufmRest/actions/remove_guids_from_pkey", {"pkey": "0x10", "guids": ["0" * 16]}, "pkey 0x10 does not exist"),
        ("/ufmRest/resources/pkeys", [], "the content is no JSON object"),
        ("/ufmRest/resources/ports", {}, "POST /ufmRest/resources/ports is not known"),
    ],
)
def test_rejected_requests_state_the_reason(manager: FabricManager, path: str, content: Any, says: str) -> None:
    login = "Basic YWRtaW46c2VjcmV0"
    status, answer = manager.answer("POST", path, login, json.dumps(content).encode())

    assert status in {400, 404}
    assert says in answer["error"]
