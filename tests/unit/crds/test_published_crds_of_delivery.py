"""Objects of GitOps controllers conform to the schemas of Flux and Argo CD."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from jacquard.delivery import argo_cd, flux
from jacquard.delivery.layout import Controller, layout
from tests.support.data.environment_data import REFERENCES, reference


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any) -> list[str]: ...


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize(
    ("controller", "source"),
    [(flux, "OCIRepository/regions"), (argo_cd, "https://git.example.com/regions.git")],
    ids=["flux", "argo-cd"],
)
def test_instructions_to_a_controller_fit_its_schemas(
    published: Oracle, controller: Controller, source: str, name: str
) -> None:
    items = [item for _, item in controller.delivery(layout(reference(name)), source, f"regions/{name}")]

    assert {item.key: found for item in items if (found := published.problems(item.body))} == {}
    assert len(items) > 5
