"""Reads the devices of NetBox or Nautobot from their REST APIs.

Both APIs list devices at ``/api/dcim/devices/`` in pages of Django REST framework: ``count``, ``next``, ``previous``
and ``results`` (``api/pagination.py`` in netbox-community/netbox:netbox/netbox and nautobot/nautobot:nautobot/core).
``next`` contains the address under which the server believes it is reached, which a proxy changes. Only its query is
used, so that the token is sent to the requested address only.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, Field, ValidationError

from components.specs.reading.problems import first_violation, listed, shown, suggestion
from components.specs.struct import Struct, field
from jacquard.exchange.api_connection import Connection, Pairs, SourceError
from jacquard.exchange.formats import SourceFormat
from jacquard.exchange.nautobot import nautobot_fields
from jacquard.exchange.netbox import device_fields
from jacquard.exchange.records import Record, record

PATH = "/api/dcim/devices/"
_PAGE = 200
"""Devices per page. A server lowers a limit above its own maximum, 1,000 by default."""


class InventoryApi(Struct):
    """REST API of an inventory."""

    title: str
    versions: range
    """Supported major versions, by the header ``API-Version`` of each answer."""
    other: str
    """Remedy if the version is that of the other system."""
    token_variable: str
    """Default environment variable with the token."""
    filters: tuple[str, ...]
    """Names of filters; NetBox ignores unknown names, and would list all devices."""
    query: Mapping[str, str] = field(default_factory=dict)

    def authorization(self, token: str) -> str:
        """Return the header for ``token``; NetBox 4.5 has tokens with a prefix (docs/integrations/rest-api.md)."""
        return f"Bearer {token}" if self.title == "NetBox" and token.startswith("nbt_") else f"Token {token}"


APIS: Mapping[SourceFormat, InventoryApi] = {
    SourceFormat.NETBOX: InventoryApi(
        title="NetBox",
        versions=range(4, 10),
        other="use FORMAT nautobot for Nautobot",
        token_variable="NETBOX_TOKEN",  # noqa: S106 - the name of a variable
        # Values are slugs, or names of custom fields' values (netbox:netbox/dcim/filtersets.py, DeviceFilterSet).
        filters=("site", "location", "rack", "role", "status", "tag", "region", "site_group", "tenant", "manufacturer"),
        # Rendered configuration contexts are large, not used, and can contain credentials. NetBox 4.7 ignores
        # `exclude`, and releases before 4.5.2 ignore `omit`.
        query={"exclude": "config_context", "omit": "config_context"},
    ),
    SourceFormat.NAUTOBOT: InventoryApi(
        title="Nautobot",
        versions=range(2, 4),
        other="use FORMAT netbox for NetBox",
        token_variable="NAUTOBOT_TOKEN",  # noqa: S106 - the name of a variable
        # Values are names or IDs; a location includes its descendants (nautobot:nautobot/dcim/filters.py).
        filters=("location", "rack", "role", "status", "tags", "tenant", "manufacturer", "device_type"),
        # Without a depth, related objects have an ID and no name (rest-api/overview.md of Nautobot 2).
        query={"depth": "1"},
    ),
}


class _Page(BaseModel):
    count: int = Field(ge=0)
    next: str | None = None
    results: tuple[dict[str, Any], ...]


def unknown_filters(api: InventoryApi, filters: Pairs) -> Iterator[str]:
    """Yield a message for each filter that ``api`` does not have; custom fields start with ``cf_``."""
    for name, value in filters:
        if name not in api.filters and not name.startswith("cf_"):
            near = suggestion(name, api.filters) or "; choose a listed filter, or cf_NAME for a custom field"
            yield f"--filter {name}={value}: '{name}' is not a filter of {api.title} ({listed(api.filters)}){near}"


def read_devices(api: InventoryApi, connection: Connection, filters: Pairs) -> list[dict[str, Any]]:
    """Return all devices that match ``filters``; values of one name are alternatives, different names must all match.

    Raises:
        SourceError: there is no complete answer.
    """
    query: Pairs = [*api.query.items(), ("limit", str(_PAGE)), *filters]
    devices: dict[str, dict[str, Any]] = {}
    counts: set[int] = set()
    while query:
        page = _page(api, connection, query)
        before = len(devices)
        counts.add(page.count)
        devices |= {str(device.get("id")): device for device in page.results}
        query = parse_qsl(urlsplit(page.next).query) if page.next else []
        if query and len(devices) == before:
            msg = f"{connection.name} has a page without further devices before its last page; report this to its owner"
            raise SourceError(msg)
    if counts != {len(devices)}:  # a device that is deleted moves others to pages that were read before
        msg = f"{connection.name} changed while it was read; run the command again"
        raise SourceError(msg)
    if not devices:
        which = f" with {' '.join(f'{name}={value}' for name, value in filters)}" if filters else ""
        remedy = "correct --filter, or use a token that may view devices"
        msg = f"{connection.name} has no device{which}; {remedy}"
        raise SourceError(msg)
    return [*devices.values()]


def records(source: SourceFormat, address: str, devices: Sequence[Mapping[str, Any]]) -> list[Record]:
    """Return devices of the API at ``address`` as records. The page of a device is the same in both systems."""
    fields = nautobot_fields if source is SourceFormat.NAUTOBOT else device_fields
    return [record(0, fields(device), f"{address}/dcim/devices/{device.get('id')}/") for device in devices]


def _page(api: InventoryApi, connection: Connection, query: Sequence[tuple[str, str]]) -> _Page:
    answer = connection.get(PATH, query)
    major = answer.version.partition(".")[0]
    if not (major.isdecimal() and int(major) in api.versions):
        supported = f"{api.versions.start}.0 or later is required"
        got = f"has the API version {shown(answer.version)}" if answer.version else "has no API version"
        msg = f"{connection.name} {got}, and {api.title} {supported}; {api.other}, or correct --url"
        raise SourceError(msg)
    try:
        return _Page.model_validate_json(answer.content)
    except ValidationError as error:
        violation = first_violation(error).removeprefix(": ")
        text = connection.quoted(violation)
        msg = f"{connection.name} did not answer with a list of devices ({text}); correct --url"
        raise SourceError(msg) from None
