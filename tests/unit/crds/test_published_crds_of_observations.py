"""Objects with which tests simulate controllers of a backend only have published fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from tests.support.objects.backend_objects import CONTROL_PLANE, MACHINE, TEMPLATE, boot_configuration, ironcore_host

Object = dict[str, Any]
_SHA256 = "0" * 64


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any) -> list[str]: ...


def observed() -> Iterator[Object]:
    for plane in CONTROL_PLANE.values():
        yield plane("lab", "v1.35.2")
    for template in TEMPLATE.values():
        yield template("lab", "batch-a", _SHA256)
    for machine in MACHINE.values():
        yield from machine("lab", "batch-a-0", "batch-a")
    yield from ironcore_host("a01-u02", bmc="Error", state="Error")
    yield boot_configuration("lab", "batch-a-0", "a01-u01", f"registry.example/node@sha256:{_SHA256}")


@pytest.mark.parametrize("body", list(observed()), ids=lambda body: f"{body['kind']}-{body['metadata']['name']}")
def test_an_observed_object_fits_its_published_schema(published: Oracle, body: Object) -> None:
    assert published.problems(body) == []
