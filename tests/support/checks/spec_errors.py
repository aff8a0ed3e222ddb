"""Error texts of a single spec."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from components.specs.reading.problems import dotted
from components.specs.reading.translate import mistakes


def error_texts(model: type[BaseModel], data: dict[str, Any]) -> dict[str, str]:
    """Return the text of each error in ``data`` by path; empty if ``model`` accepts the data."""
    try:
        model.model_validate(data)
    except ValidationError as error:
        return {dotted(mistake.path): mistake.text for mistake in mistakes(error, model, data)}
    return {}
