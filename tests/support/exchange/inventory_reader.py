"""Reads the devices of a `fake_inventory` without wait times."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.exchange.api_connection import Connection, SourceError
from jacquard.exchange.formats import SourceFormat
from jacquard.exchange.inventory_api import APIS, read_devices
from tests.support.exchange.fake_inventory import TOKEN, FakeInventory


def read(
    server: FakeInventory,
    *filters: tuple[str, str],
    token: str = TOKEN,
    waits: list[float] | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    api = APIS[SourceFormat(server.kind)]
    sleep = ([] if waits is None else waits).append
    address = options.pop("address", server.address)
    connection = Connection(
        api.title,
        address,
        authorization=api.authorization(token),
        token=token,
        variable=api.token_variable,
        sleep=sleep,
        **options,
    )
    return read_devices(api, connection, filters)


def failure(server: FakeInventory, *filters: tuple[str, str], **options: Any) -> str:
    """Return the message of a failure, with ``URL`` in place of the address."""
    with pytest.raises(SourceError) as caught:
        read(server, *filters, **options)
    return str(caught.value).replace(server.address, "URL")
