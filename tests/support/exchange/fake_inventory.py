"""A fake NetBox 4 or Nautobot 2 over HTTP or HTTPS, limited to reading devices.

Formats, limits and errors are those of netbox-community/netbox (netbox/api/pagination.py, api/authentication.py,
dcim/api/serializers_/devices.py, dcim/filtersets.py) and nautobot/nautobot (core/api/serializers.py with ``depth``,
core/filters.py, docs/user-guide/platform-functionality/rest-api)::

    with fake_inventory("netbox", map(device, hosts)) as inventory:
        run(["jacquard", "inventory", "diff", "netbox", "--url", inventory.address, ...])

`FakeInventory.answer` queues a response for the next request.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.inventory_text import cells
from components.specs.reading.loader import load_environment

PATH = "/api/dcim/devices/"
TOKEN = "0123456789abcdef0123456789abcdef01234567"
TOKEN_OF_4_5 = "nbt_4F9DAouzURLb.zjebxBPzICiPbWz0Wtx0fTL7bCKXKGTYhNzkgC2S"
VERSIONS = {"netbox": "4.4", "nautobot": "2.4"}
_CUSTOM = ("slot", "instance_type", "bmc", "bmc_secret", "boot_mac", "dpu_serial", "leaf", "dpu_bmc")
_FILTERS = {
    "netbox": {"site": "site", "role": "role", "tag": "tags", "location": "location", "rack": "rack"},
    "nautobot": {"location": "location", "role": "role", "tags": "tags", "rack": "rack"},
}
_STATUSES = ("offline", "active", "planned", "staged", "failed", "inventory", "decommissioning")
_OPTIONS = {"limit", "offset", "exclude", "omit", "depth", "brief", "ordering", "format"}


@dataclass(frozen=True)
class Answer:
    """A response that replaces the list of devices."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def related(kind: str, name: str) -> dict[str, Any]:
    """Return an object that a device refers to, with its relevant fields."""
    slug = name.lower().replace(" ", "-")
    return {"id": f"{kind}:{slug}", "display": name, "name": name, "slug": slug, "description": ""}


def device(host: HostSpec, **changes: Any) -> dict[str, Any]:
    """Return ``host`` as an installed device of the site ``desk`` with the role ``GPU node``."""
    values = cells(host)
    fields = {
        "name": host.host,
        "device_type": {"id": "type:dgx", "manufacturer": related("manufacturer", "NVIDIA"), "model": "DGX H100"},
        "role": related("role", "GPU node"),
        "tenant": None,
        "platform": None,
        "serial": host.serial,
        "asset_tag": None,
        "site": related("site", "desk"),
        "location": related("location", host.hall),
        "rack": related("rack", host.rack),
        "position": float(host.slot),
        "status": "active",
        "cluster": None,
        "oob_ip": None,
        "tags": [related("tag", "gpu")],
        "custom_fields": {name: values[name] or None for name in _CUSTOM},
        "config_context": {"ntp": "10.0.0.1"},
    }
    return fields | changes


@dataclass
class FakeInventory:
    """Devices, and the requests for them."""

    kind: str
    devices: list[dict[str, Any]]
    token: str = TOKEN
    max_page: int = 1000
    address: str = ""
    seen_as: str = ""
    """Address in the links of responses, such as that of a proxy; empty for the actual one."""
    version: str = ""
    on_request: Callable[[], None] = lambda: None
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    """Path with query, and the header ``Authorization``."""
    _answers: list[Answer] = field(default_factory=list)

    def answer(self, *answers: Answer) -> None:
        """Queue ``answers`` for the next requests."""
        self._answers += answers

    def reply(self, path: str, authorization: str | None) -> Answer:
        """Return the response to a request."""
        self.requests.append((path, authorization))
        self.on_request()
        if self._answers:
            return self._answers.pop(0)
        scheme = "Bearer" if self.token.startswith("nbt_") else "Token"
        if authorization is None:
            return _problem(403, {"detail": "Authentication credentials were not provided."})
        if authorization != f"{scheme} {self.token}":
            return _problem(403, {"detail": "Invalid token"})
        parts = urlsplit(path)
        if parts.path != PATH:
            return Answer(404, "<!DOCTYPE html><title>Page Not Found</title>", {"Content-Type": "text/html"})
        return self._list(parse_qs(parts.query))

    def _list(self, query: dict[str, list[str]]) -> Answer:
        filters = {name: values for name, values in query.items() if name not in _OPTIONS}
        known = _FILTERS[self.kind]
        if self.kind == "nautobot" and (odd := [name for name in filters if name not in {*known, "status"}]):
            return _problem(400, {name: ["Unknown filter field"] for name in odd})
        wanted = self.devices
        for name, values in filters.items():
            if name == "status":
                wrong = [value for value in values if value.lower() not in _STATUSES]
                wanted = [item for item in wanted if item["status"] in [value.lower() for value in values]]
            elif name in known:
                names = {entry for item in self.devices for entry in self._keys(item, known[name])}
                wrong = [value for value in values if value not in names]
                wanted = [item for item in wanted if {*self._keys(item, known[name])} & {*values}]
            else:  # NetBox ignores it.
                continue
            if wrong:
                text = f"Select a valid choice. {wrong[0]} is not one of the available choices."
                return _problem(400, {name: [text]})
        asked = int(query.get("limit", ["50"])[0])
        limit, offset = min(asked or self.max_page, self.max_page), int(query.get("offset", ["0"])[0])
        end = offset + limit
        rest = {name: values for name, values in query.items() if name not in {"limit", "offset"}}
        here = f"{self.seen_as or self.address}{PATH}?"
        following = urlencode({**rest, "limit": limit, "offset": end}, doseq=True)
        page = {
            "count": len(wanted),
            "next": here + following if end < len(wanted) else None,
            "previous": here + urlencode({**rest, "limit": limit}, doseq=True) if offset else None,
            "results": [self._shown(number, item, query) for number, item in [*enumerate(wanted)][offset:end]],
        }
        headers = {"Content-Type": "application/json", "API-Version": self.version or VERSIONS[self.kind]}
        return Answer(200, json.dumps(page), headers)

    def _keys(self, item: Mapping[str, Any], name: str) -> list[str]:
        value = item[name] if isinstance(item[name], list) else [item[name]]
        key = "slug" if self.kind == "netbox" and name != "rack" else "name"
        return [str(entry[key]) for entry in value]

    def _shown(self, number: int, item: dict[str, Any], query: Mapping[str, list[str]]) -> dict[str, Any]:
        name = item["name"]
        if self.kind == "netbox":
            number = self.devices.index(item) + 1
            url = f"{self.seen_as or self.address}{PATH}{number}/"
            head = {"id": number, "url": url, "display": name}
            if query.get("brief"):
                return {**head, "name": name, "description": ""}
            newer = float(self.version or VERSIONS[self.kind]) >= 4.7  # Nautobot ignores the older option.
            hidden = {"config_context"} & {*query.get("omit" if newer else "exclude", [])}
            status = {"value": item["status"], "label": item["status"].title()}
            return {**head, **{key: value for key, value in item.items() if key not in hidden}, "status": status}
        identity = f"{number:08d}-ed58-4938-ab6f-cb6a9e584f14"
        head = {"id": identity, "object_type": "dcim.device", "display": name, "natural_slug": f"{name}_{number}"}
        nested = int(query.get("depth", ["0"])[0]) > 0
        status = related("status", item["status"].title())
        fields = {key: value for key, value in item.items() if key not in {"site", "oob_ip", "config_context"}}
        fields |= {"status": status, "location": {**item["location"], "parent": _reference(item["site"])}}
        return {**head, "url": f"{self.address}{PATH}{identity}/"} | {
            key: _reference(value) if isinstance(value, dict) and "id" in value and not nested else value
            for key, value in fields.items()
        }


def _reference(entry: Mapping[str, Any]) -> dict[str, Any]:
    kind = str(entry["id"]).partition(":")[0]
    return {"id": entry["id"], "object_type": f"dcim.{kind}", "url": f"http://nautobot/api/dcim/{kind}s/{entry['id']}/"}


def _problem(status: int, body: Mapping[str, Any]) -> Answer:
    return Answer(status, json.dumps(body), {"Content-Type": "application/json"})


@contextmanager
def fake_inventory(
    kind: str, devices: Iterable[dict[str, Any]], *, certificate: tuple[Path, Path] | None = None
) -> Iterator[FakeInventory]:
    """Serve ``devices`` on this machine until the block ends; ``certificate`` is a certificate file and its key."""
    inventory = FakeInventory(kind, list(devices))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = inventory.reply(self.path, self.headers.get("Authorization"))
            body = answer.body.encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Suppress the request log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scheme = "http"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    inventory.address = f"{scheme}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield inventory
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def netbox_with_a_new_host(name: str, data: Path) -> Iterator[dict[str, str]]:
    """Serve the hosts of an environment and a new one; yield the variables with the address and the token."""
    hosts = load_environment(name, data).hosts
    new = {"rack": "a05", "slot": 1, "host": "a05-u01", "serial": "G26A0501", "dpu_serial": "MT26A0501"}
    new |= {
        "bmc": hosts[0].bmc.replace("10.1.1.1", "10.1.5.1"),
        "boot_mac": "02:00:00:00:05:01",
        "bmc_secret": "bmc-a05",
    }
    site = related("site", "one")
    devices = [device(host, site=site) for host in (*hosts, hosts[0].model_copy(update=new))]
    with fake_inventory("netbox", devices) as netbox:
        yield {"NETBOX_URL": netbox.address, "NETBOX_TOKEN": TOKEN}
