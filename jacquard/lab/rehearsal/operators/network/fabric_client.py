"""Client of ib-kubernetes for the fabric manager, as in Mellanox/ib-kubernetes:pkg/sm/plugins/ufm/ufm.go."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from jacquard.lab.rehearsal.operators.network.fabric_manager import FabricManager
from jacquard.lab.rehearsal.operators.view import SIMULATED
from jacquard.lab.rehearsal.ports import LOOPBACK

_REQUIRED = ("UFM_USERNAME", "UFM_PASSWORD", "UFM_ADDRESS")
_SECONDS = 5


class FabricError(Exception):
    """The fabric manager is unreachable or returns an error."""


class FabricClient:
    """Client of a fabric manager, with a login."""

    def __init__(self, port: int, username: str, password: str) -> None:
        """Use the fabric manager at ``port`` of this machine."""
        self._port = port
        login = base64.b64encode(f"{username}:{password}".encode()).decode()
        self._headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json; charset=utf-8"}

    @classmethod
    def from_variables(cls, variables: Mapping[str, str], manager: FabricManager) -> FabricClient:
        """Return a client from the variables of a container; the platform's address is the address of ``manager``.

        Raises:
            FabricError: A variable is missing, or the address is unknown.
        """
        if not all(variables.get(name) for name in _REQUIRED):
            msg = 'missing one or more required fileds for ufm ["username", "password", "address"]'
            raise FabricError(msg)
        username, password, address = (variables[name] for name in _REQUIRED)
        if address != SIMULATED:
            msg = f"failed to connect to ufm subnet manager: dial tcp: lookup {address}: no such host"
            raise FabricError(msg)
        return cls(manager.port, username, password)

    def version(self) -> None:
        """Check that the manager responds and accepts the login."""
        try:
            self._call("GET", "/ufmRest/app/ufm_version")
        except FabricError as error:
            msg = f"failed to connect to ufm subnet manager: {error}"
            raise FabricError(msg) from None

    def add(self, pkey: int, guid: int) -> None:
        """Add a GUID to a partition as a full member."""
        self._call(
            "POST",
            "/ufmRest/resources/pkeys",
            pkey=f"0x{pkey:04X}",
            index0=True,
            ip_over_ib=True,
            membership="full",
            guids=[f"{guid:016x}"],
        )

    def remove(self, pkey: int, guid: int) -> None:
        """Remove a GUID from a partition."""
        guids = [f"{guid:016x}"]
        self._call("POST", "/ufmRest/actions/remove_guids_from_pkey", pkey=f"0x{pkey:04X}", guids=guids)

    def guids(self) -> list[int]:
        """Return the GUIDs of all partitions."""
        partitions = self._call("GET", "/ufmRest/resources/pkeys/?guids_data=true")
        return [int(member["guid"], 16) for partition in partitions.values() for member in partition["guids"]]

    def _call(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=_SECONDS)
        try:
            connection.request(method, path, json.dumps(content) if content else None, self._headers)
            answer = connection.getresponse()
            text = answer.read()
        except OSError as error:
            msg = f"failed request {error}"
            raise FabricError(msg) from None
        finally:
            connection.close()
        if answer.status != HTTPStatus.OK:
            msg = f"failed request with status code {answer.status}, expected status code 200: {text.decode()}"
            raise FabricError(msg)
        result: dict[str, Any] = json.loads(text)
        return result
