"""Golden files: reviewed text, refreshed by JACQUARD_UPDATE_GOLDEN=1 and reviewed again before each commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.render.manifest import Manifest

UPDATE = "JACQUARD_UPDATE_GOLDEN"
SHOWN = 60
"""Number of lines of a difference to show."""


class _Dumper(yaml.SafeDumper):
    """Dumps multi-line text as block scalars, and repeats shared values instead of using anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the base class's signature
        return True


_Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def as_yaml(data: Any) -> str:
    """Return ``data`` as YAML in its order."""
    return str(yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=110))


def document(item: Manifest) -> str:
    """Return one object as YAML, with its apply options as a comment."""
    return f"# {', '.join((f'cluster: {item.cluster}', *_marks(item)))}\n{as_yaml(item.body)}"


def documents(items: Iterable[Manifest]) -> str:
    """Return objects as one YAML file."""
    return "---\n".join(document(item) for item in items)


def _marks(item: Manifest) -> Iterator[str]:
    yield from (mark for mark in ("retain", "protect") if getattr(item, mark))
    if item.readiness is not None:
        yield f"awaited {item.readiness.timeout_seconds} s: {' and '.join(item.readiness.conditions)}"


def assert_reviewed(path: Path, text: str) -> None:
    """Fail if ``text`` differs from the content of ``path``; write it instead if an update is requested.

    Empty text means no file: an environment without VMs has no golden file for them.
    """
    if os.environ.get(UPDATE) and not text:
        path.unlink(missing_ok=True)
    elif os.environ.get(UPDATE):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    reviewed = path.read_text(encoding="utf-8") if path.exists() else ""
    if text != reviewed:
        changes = list(unified_diff(reviewed.splitlines(), text.splitlines(), "reviewed", "rendered", n=0, lineterm=""))
        rest = [f"and {len(changes) - SHOWN} more lines"] if len(changes) > SHOWN else []
        remedy = f"{path} differs; if that is meant, run {UPDATE}=1 python -m pytest tests/golden and read it"
        pytest.fail("\n".join([remedy, *changes[:SHOWN], *rest]))
