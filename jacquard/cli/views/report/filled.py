"""Templates of pages, filled, with a policy by which a browser loads nothing but what is in the page.

Whatever comes from data is escaped by the templates, and what is invisible in it or steers a terminal is spelt out.
"""

from __future__ import annotations

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
    """Return the page that ``template`` makes of ``values``, with a style sheet and a script of ours within."""
    scripts = f"script-src {_digest(script)}; " if script else ""
    policy = f"default-src 'none'; style-src {_digest(style)}; {scripts}base-uri 'none'; form-action 'none'"
    ours = {"style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own files, and numbers
    return _templates().get_template(template).render(**ours, policy=policy, **values)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def source(name: str) -> str:
    """Return the text of a file beside the templates."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["at"] = lambda key, found: found[key]
    return made


def _shown(value: Any) -> Any:
    """Return what a template shows of ``value``: of a text also what is invisible in it."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return visible(value)
    return value
