"""Rendering of page templates, with a content security policy that permits no external resources.

The templates escape all values from data; invisible and control characters are shown as escapes.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from components.specs.reading.problems import visible

_TEMPLATES = Path(__file__).parent / "templates"


def filled(template: str, style: str, script: str = "", **values: Any) -> str:
    """Return the page rendered from ``template`` and ``values``, with an inline style sheet and script."""
    scripts = f"script-src {_digest(script)}; " if script else ""
    policy = f"default-src 'none'; style-src {_digest(style)}; {scripts}base-uri 'none'; form-action 'none'"
    ours = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own files, and numbers
    return _templates().get_template(template).render(**ours, policy=policy, **values)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def source(name: str) -> str:
    """Return the text of a file in the folder of the templates."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["at"] = lambda key, mapping: mapping[key]
    return templates


def _shown(value: Any) -> Any:
    """Return ``value`` for a template; invisible characters of strings are escaped."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return visible(value)
    return value
