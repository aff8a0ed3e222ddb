"""The fabric manager of a region's InfiniBand (UFM), as far as ib-kubernetes asks for it: its partitions by REST.

It takes what its reference says (UFM Enterprise REST API, PKey GUIDs; the calls are those of
Mellanox/ib-kubernetes:pkg/sm/plugins/ufm/ufm.go): every call needs the login, a partition key lies between 0x0 and
0x7fff, a GUID has 16 to 20 hexadecimal digits. A partition that is not there is made with its first members: UFM
knows nothing of tenants. It listens on this machine only, without TLS.
"""

from __future__ import annotations

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
"""File of the partitions in a region's folder: members by partition key, each GUID with its membership."""
_DEFAULT = 0x7FFF
"""Partition of all ports, which nobody is entered in by this way."""
_GUID = re.compile(r"[0-9a-f]{16,20}", re.IGNORECASE)
_MEMBERSHIPS = ("full", "limited")
_IDLE_SECONDS = 30

Partitions = dict[str, dict[str, str]]


class Refused(Exception):  # noqa: N818 - an answer, not a failure of this program
    """A call that UFM answers with 400, and why."""


class FabricManager:
    """A fabric manager that begins when somebody first asks for its port; its partitions outlive its process."""

    def __init__(self, folder: Path, username: str, password: str) -> None:
        """Know the region's folder, and the one login."""
        self._path = folder / PARTITIONS
        self._login = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
        self._server: _Server | None = None
        self._one_at_a_time = threading.Lock()

    @property
    def port(self) -> int:
        """Return where it listens on this machine."""
        if self._server is None:
            self._server = _Server(self)
            threading.Thread(target=self._server.serve_forever, name="fabric manager", daemon=True).start()
        return int(self._server.server_address[1])

    def answer(self, method: str, path: str, login: str | None, body: bytes) -> tuple[HTTPStatus, Any]:
        """Return status and content of the answer to a call."""
        if login != self._login:
            return HTTPStatus.UNAUTHORIZED, {"error": "Unauthorized"}
        with self._one_at_a_time:
            partitions = self._read()
            try:
                match method, path.partition("?")[0].rstrip("/"):
                    case "GET", "/ufmRest/app/ufm_version":
                        return HTTPStatus.OK, {"ufm_release_version": "rehearsal"}
                    case "GET", "/ufmRest/resources/pkeys":
                        return HTTPStatus.OK, {pkey: _told(members) for pkey, members in partitions.items()}
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
        there: Partitions = json.loads(self._path.read_text(encoding="utf-8")) if self._path.exists() else {}
        return there


def _told(members: Mapping[str, str]) -> dict[str, Any]:
    guids = [{"guid": guid, "membership": membership, "index0": True} for guid, membership in members.items()]
    return {"ip_over_ib": True, "guids": guids}


def _add(partitions: Partitions, asked: dict[str, Any]) -> None:
    membership = asked.get("membership", _MEMBERSHIPS[0])
    if membership not in _MEMBERSHIPS:
        msg = f"membership {membership} is neither of {', '.join(_MEMBERSHIPS)}"
        raise Refused(msg)
    pkey, guids = _pkey(asked), _guids(asked)
    partitions.setdefault(pkey, {}).update(dict.fromkeys(guids, membership))


def _remove(partitions: Partitions, asked: dict[str, Any]) -> None:
    pkey, guids = _pkey(asked), _guids(asked)
    if pkey not in partitions:
        msg = f"pkey {pkey} does not exist"
        raise Refused(msg)
    for guid in guids:
        partitions[pkey].pop(guid, None)


def _content(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body)
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        msg = "the content is no JSON object"
        raise Refused(msg)
    return asked


def _pkey(asked: Mapping[str, Any]) -> str:
    """Return a partition key as it is written down, in whatever digits it comes."""
    text = str(asked.get("pkey"))
    number = int(text, 16) if re.fullmatch(r"0x[0-9a-fA-F]{1,4}", text) else 0
    if not 0 < number < _DEFAULT:
        msg = f"pkey {text} is not between 0x0 and {_DEFAULT:#x}"
        raise Refused(msg)
    return f"{number:#x}"


def _guids(asked: Mapping[str, Any]) -> list[str]:
    guids = asked.get("guids")
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
        """Say nothing: ib-kubernetes says what it was told."""
