"""What may stand in place of a path at ``jacquard show``, and which options go with which word."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from cli.errors import ExitCode, Stop
from components.plan.report.examples import Example
from components.specs.problems import listed, suggestion

CAPACITY, IMAGES, MAP, NETWORK, OFFERINGS = "capacity", "images", "map", "network", "offerings"
PREREQUISITES, UNIFORMITY, UPGRADES = "prerequisites", "uniformity", "upgrades"
"""Words in place of a path."""
_TABLES = {CAPACITY, IMAGES, NETWORK, OFFERINGS, PREREQUISITES, UNIFORMITY, UPGRADES}
_DRAWN = {CAPACITY, MAP, NETWORK}


class ShowFormat(StrEnum):
    """How ``show`` answers."""

    TEXT = "text"
    YAML = "yaml"
    JSON = "json"


def refuse_format(environment: str, path: str, output: ShowFormat) -> None:
    """Refuse a form that an answer does not have.

    Raises:
        Stop: it has another.
    """
    if path == MAP and output is not ShowFormat.TEXT:
        msg = f"--format {output}: {MAP} is a picture; say: jacquard show {environment} {CAPACITY} --format json"
        raise Stop(msg, ExitCode.BAD_DATA)
    if path in _TABLES and output is ShowFormat.YAML:
        msg = f"--format yaml: {path} is a table; write text or json"
        raise Stop(msg, ExitCode.BAD_DATA)


def refuse_contradictions(
    environment: str,
    path: str,
    svg: Path | None,
    html: Path | None,
    example: str | None,
    between: tuple[str, str] | None,
    port: str | None,
    *,
    helm: bool,
    border: bool,
    live: bool,
    platform: bool,
) -> None:
    """Refuse options that do not go with ``path``, or with each other.

    Raises:
        Stop: there is one.
    """
    if border and (path != NETWORK or svg is not None or between is not None):
        msg = f"--border tells in words what routers do; say: jacquard show {environment} {NETWORK} --border"
        raise Stop(msg, ExitCode.BAD_DATA)
    if between is not None and (path != NETWORK or svg is not None):
        msg = f"--path tells the way between two; say: jacquard show {environment} {NETWORK} --path {' '.join(between)}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if port is not None and between is None:
        msg = f"--port is of a path; say: jacquard show {environment} {NETWORK} --path FROM TO --port {port}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if example is not None and path != OFFERINGS:
        msg = f"--example orders what is offered; say: jacquard show {environment} {OFFERINGS} --example {example}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if helm and example is None:
        msg = f"--helm prints an order as values; say: jacquard show {environment} {OFFERINGS} --example SIZE --helm"
        raise Stop(msg, ExitCode.BAD_DATA)
    if html is not None and (path != OFFERINGS or example is not None):
        msg = f"--html is a page of what is offered; say: jacquard show {environment} {OFFERINGS} --html {html}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if svg is not None and path not in _DRAWN:
        msg = f"--svg draws the capacity of a region; say: jacquard show {environment} {CAPACITY} --svg {svg}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if live and path != UNIFORMITY:
        msg = f"--live asks clusters what nodes are; say: jacquard show {environment} {UNIFORMITY} --live"
        raise Stop(msg, ExitCode.BAD_DATA)
    if platform and path != IMAGES:
        msg = f"--platform tells what the platform fetches; say: jacquard show {environment} {IMAGES} --platform"
        raise Stop(msg, ExitCode.BAD_DATA)


def chosen(every: Mapping[str, Example], wanted: str, *, helm: bool) -> Example:
    """Return the example that orders ``wanted``, one with values where ``helm`` asks for them.

    Raises:
        Stop: there is none.
    """
    known = [name for name, example in every.items() if example.values is not None or not helm]
    if wanted in known:
        return every[wanted]
    if wanted in every:
        msg = f"--helm: the chart makes VMs, and '{wanted}' is no size of VM (sizes: {listed(known)}); leave --helm out"
        raise Stop(msg, ExitCode.BAD_DATA)
    msg = f"--example: nobody is offered '{wanted}' (known: {listed(known)}){suggestion(wanted, known)}"
    raise Stop(msg, ExitCode.BAD_DATA)
