"""Simulated InfiniBand fabric manager (UFM) of a region: the REST calls for partitions that ib-kubernetes uses.

The responses follow UFM's reference (UFM Enterprise REST API, PKey GUIDs), for the calls in
Mellanox/ib-kubernetes:pkg/sm/plugins/ufm/ufm.go. Each call requires the login, a partition key is between 0x0 and
0x7fff, and a GUID has 16 to 20 hexadecimal digits. An unknown partition is created with its first members, because UFM
has no notion of tenants. The server listens on this machine only, without TLS.
"""

import base64
import json
import re
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from jacquard.lab.rehearsal.ports import LOOPBACK
from jacquard.machine.files import replace_private

PARTITIONS = "partitions.json"
"""File in a region's folder with the memberships of GUIDs by partition key."""
_DEFAULT = 0x7FFF
"""Default partition of all ports; these calls cannot change it."""
_GUID = re.compile(r"[0-9a-f]{16,20}", re.IGNORECASE)
_MEMBERSHIPS = ("full", "limited")
_IDLE_SECONDS = 30

Partitions = dict[str, dict[str, str]]


class Refused(Exception):  # noqa: N818 - a response, not a failure of this program
    """UFM rejects a call with status 400; the message contains the reason."""


class FabricManager:
    """A fabric manager that starts on first use of its port, and stores partitions in a file."""

    def __init__(self, folder: Path, username: str, password: str) -> None:
        """Set the region's folder and the login."""
        self._path = folder / PARTITIONS
        self._login = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
        self._server: _Server | None = None
        self._one_at_a_time = threading.Lock()

    @property
    def port(self) -> int:
        """Return the port on this machine; start the server on first use."""
        if self._server is None:
            self._server = _Server(self)
            threading.Thread(target=self._server.serve_forever, name="fabric manager", daemon=True).start()
        return int(self._server.server_address[1])

    def answer(self, method: str, path: str, login: str | None, body: bytes) -> tuple[HTTPStatus, Any]:
        """Return status and content of the response to a call."""
        if login != self._login:
            return HTTPStatus.UNAUTHORIZED, {"error": "Unauthorized"}
        with self._one_at_a_time:
            partitions = self._read()
            try:
                match method, path.partition("?")[0].rstrip("/"):
                    case "GET", "/ufmRest/app/ufm_version":
                        return HTTPStatus.OK, {"ufm_release_version": "rehearsal"}
                    case "GET", "/ufmRest/resources/pkeys":
                        return HTTPStatus.OK, {pkey: _members(members) for pkey, members in partitions.items()}
                    case "POST", "/ufmRest/resources/pkeys":
                        _add(partitions, _content(body))
                    case "POST", "/ufmRest/actions/remove_guids_from_pkey":
                        _remove(partitions, _content(body))
                    case _:
                        return HTTPStatus.NOT_FOUND, {"error": f"{method} {path} is not known"}
            except Refused as error:
                return HTTPStatus.BAD_REQUEST, {"error": str(error)}
            replace_private(self._path, json.dumps(partitions, indent=1, sort_keys=True))
        return HTTPStatus.OK, {}

    def _read(self) -> Partitions:
        partitions: Partitions = json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}
        return partitions


def _members(members: Mapping[str, str]) -> dict[str, Any]:
    guids = [{"guid": guid, "membership": membership, "index0": True} for guid, membership in members.items()]
    return {"ip_over_ib": True, "guids": guids}


def _add(partitions: Partitions, request: dict[str, Any]) -> None:
    membership = request.get("membership", _MEMBERSHIPS[0])
    if membership not in _MEMBERSHIPS:
        msg = f"membership {membership} is neither of {', '.join(_MEMBERSHIPS)}"
        raise Refused(msg)
    pkey, guids = _pkey(request), _guids(request)
    partitions.setdefault(pkey, {}).update(dict.fromkeys(guids, membership))


def _remove(partitions: Partitions, request: dict[str, Any]) -> None:
    pkey, guids = _pkey(request), _guids(request)
    if pkey not in partitions:
        msg = f"pkey {pkey} does not exist"
        raise Refused(msg)
    for guid in guids:
        partitions[pkey].pop(guid, None)


def _content(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except ValueError:
        request = None
    if not isinstance(request, dict):
        msg = "the content is no JSON object"
        raise Refused(msg)
    return request


def _pkey(request: Mapping[str, Any]) -> str:
    """Return a partition key in canonical notation."""
    text = str(request.get("pkey"))
    number = int(text, 16) if re.fullmatch(r"0x[0-9a-fA-F]{1,4}", text) else 0
    if not 0 < number < _DEFAULT:
        msg = f"pkey {text} is not between 0x0 and {_DEFAULT:#x}"
        raise Refused(msg)
    return f"{number:#x}"


def _guids(request: Mapping[str, Any]) -> list[str]:
    guids = request.get("guids")
    if not isinstance(guids, list) or not guids or not all(_GUID.fullmatch(str(guid)) for guid in guids):
        msg = f"guids {guids} are no GUIDs of 16 to 20 hexadecimal digits"
        raise Refused(msg)
    return [str(guid).lower() for guid in guids]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, manager: FabricManager) -> None:
        super().__init__((LOOPBACK, 0), _Call)
        self.manager = manager


class _Call(BaseHTTPRequestHandler):
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        manager = cast("_Server", self.server).manager
        status, content = manager.answer(self.command, self.path, self.headers.get("Authorization"), body)
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Log nothing, because ib-kubernetes logs the responses."""
