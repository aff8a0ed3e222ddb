"""Manifests as a tree of YAML files: where each goes, how it is written, and how the tree is kept.

An index names the files that were written, so that only those are ever replaced or removed.
"""

from __future__ import annotations

import io
import json
import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.representer import RoundTripRepresenter

from cli.errors import ExitCode, Stop
from components.render.manifest import Manifest

INDEX = ".jacquard-render.json"
_CLUSTER_SCOPED = "_cluster"
_NO_TEXT_IN_YAML_1_1 = re.compile(
    r"y|n|yes|no|on|off|=|<<"
    r"|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"  # sexagesimal, such as a MAC address without letters
    r"|[-+]?0[bo][0-7_]+|[-+]?[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?",
    re.IGNORECASE,
)
"""kubectl reads YAML 1.1; ruamel.yaml quotes by the rules of 1.2."""
_PLAIN = re.compile(
    r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z/](?:[a-z0-9/._+@=,;(){}<>'\"-]|:(?=[a-z0-9/])| (?=[a-z0-9({<=]))*"
    r"|[0-9]+(?:\.[0-9]+){3}(?:/[0-9]+)?"  # an IPv4 address or prefix
    r"|(?=.*[a-f])[0-9a-f]{2}(?::[0-9a-f]{2}){5}",  # a MAC address with a letter
    re.IGNORECASE,
)
"""Text that no reader takes for anything else, and most of what objects hold."""
_BLOCKS = (dict, list, tuple, MappingProxyType)
"""What mappings and lists are made of; asking for a Mapping takes several times as long."""
_WIDTH = 1 << 20
"""Folding would make a diff of one word into one of many lines."""
_REMEMBERED = 1 << 16
"""Texts that are written once: most stand in many objects."""
_NOT_IN_FILE_NAMES = str.maketrans({"/": "_", ":": "_"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a render did to its folder; paths are relative and sorted."""

    written: list[str]
    removed: list[str]
    unchanged: list[str]

    def to_json(self) -> dict[str, list[str]]:
        """Return the outcome as data."""
        return {"written": self.written, "removed": self.removed, "unchanged": self.unchanged}


def files(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Return the text of each manifest by its path.

    Two kinds of the same name in different API groups would meet in one path; both then carry their group.
    """
    by_path: dict[str, list[Manifest]] = {}
    for manifest in manifests:
        by_path.setdefault(_path(manifest, manifest.kind.lower()), []).append(manifest)
    texts = {}
    for path, sharing in by_path.items():
        if len(sharing) == 1:
            texts[path] = yaml_text(sharing[0].body)
            continue
        for manifest in sharing:
            group = manifest.api_version.rpartition("/")[0] or "core"
            texts[_path(manifest, f"{manifest.kind.lower()}.{group}")] = yaml_text(manifest.body)
    return texts


def yaml_text(body: Mapping[str, Any]) -> str:
    """Return an object as YAML, keys in the renderer's order.

    Mappings and lists are laid out here: ruamel.yaml takes more than a minute for a large region, this a second.
    """
    lines: list[str] = []
    _add_block(lines, body, "")
    return "\n".join([*lines, ""])


def write(folder: Path, environment: str, texts: Mapping[str, str]) -> Outcome:
    """Make ``folder`` hold exactly ``texts``.

    Files are opened by name: a Path for each of many thousand would take as long as writing them.

    Raises:
        Stop: the folder holds files of somebody else; nothing is touched then.
    """
    before = _index(folder, environment)
    contents = {path: text.encode() for path, text in texts.items()}
    foreign = sorted(path for path in texts.keys() - before if os.path.exists(f"{folder}/{path}"))  # noqa: PTH110
    if foreign:
        msg = (
            f"{folder}: holds {', '.join(foreign)} that jacquard did not write; move them away or choose another --out"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    folder.mkdir(parents=True, exist_ok=True)
    # The index first: after an interruption it names too many files, never too few.
    _write_index(folder, environment, sorted({*before, *texts}))
    for parent in {posixpath.dirname(path) for path in texts}:
        (folder / parent).mkdir(parents=True, exist_ok=True)
    written = [path for path in sorted(texts) if path not in before or not _holds(f"{folder}/{path}", contents[path])]
    for path in written:
        with open(f"{folder}/{path}", "wb") as file:  # noqa: PTH123
            file.write(contents[path])
    removed = sorted(before - texts.keys())
    for path in removed:
        _remove(folder, path)
    if removed:
        _write_index(folder, environment, sorted(texts))
    return Outcome(written=written, removed=removed, unchanged=sorted(texts.keys() - set(written)))


class _Representer(RoundTripRepresenter):
    def ignore_aliases(self, data: Any) -> bool:
        """Write a value that two places share twice: kubectl and people read it without looking elsewhere."""
        del data
        return True

    def represent_text(self, text: str) -> Any:
        """Write lines as lines, and quote what YAML 1.1 would not read as text."""
        style = "|" if "\n" in text else "'" if _NO_TEXT_IN_YAML_1_1.fullmatch(text) else None
        return self.represent_scalar("tag:yaml.org,2002:str", str(text), style=style)


_Representer.add_representer(str, _Representer.represent_text)
_Representer.add_multi_representer(str, _Representer.represent_text)


def _path(manifest: Manifest, kind: str) -> str:
    name = f"{kind}-{manifest.name}.yaml".translate(_NOT_IN_FILE_NAMES)
    return "/".join((manifest.cluster, manifest.namespace or _CLUSTER_SCOPED, name))


def _add_block(lines: list[str], value: Mapping[str, Any] | list[Any] | tuple[Any, ...], pad: str) -> None:
    """Add ``value``, which is not empty, below what it belongs to."""
    inner = f"{pad}  "
    if not isinstance(value, list | tuple):
        for key, item in value.items():
            if isinstance(item, _BLOCKS) and item:
                lines.append(f"{pad}{_scalar(key)}:")
                _add_block(lines, item, inner)
            else:
                lines.append(f"{pad}{_scalar(key)}:{_beside(item, pad)}")
        return
    for item in value:
        if isinstance(item, _BLOCKS) and item:
            first = len(lines)
            _add_block(lines, item, f"{inner}  " if isinstance(item, list | tuple) else inner)
            lines[first] = f"{pad}- {lines[first][len(inner) :]}"  # a block begins beside the dash
        else:
            lines.append(f"{pad}-{_beside(item, pad)}")


def _beside(value: Any, pad: str) -> str:
    """Return ``value`` as it stands after a key or a dash at ``pad``."""
    if isinstance(value, _BLOCKS):
        return " []" if isinstance(value, list | tuple) else " {}"
    text = _scalar(value)
    if "\n" in text:
        text = text.replace("\n", f"\n{pad}").replace(f"\n{pad}\n", "\n\n")
    return f" {text}" if text else ""


@lru_cache(maxsize=_REMEMBERED, typed=True)
def _scalar(value: str | float | None) -> str:
    """Return ``value`` as it stands after a key without indentation; ruamel.yaml writes what is not plain text."""
    if type(value) is int or (isinstance(value, str) and _PLAIN.fullmatch(value)):
        return str(value)
    writer = YAML()
    writer.Representer = _Representer
    writer.width = _WIDTH
    stream = io.StringIO()
    writer.dump({"k": value, "end": 0}, stream)  # what stands last may be followed by an end of the document
    return stream.getvalue().removeprefix("k:").removeprefix(" ").removesuffix("\nend: 0\n")


def _index(folder: Path, environment: str) -> set[str]:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return set()
    try:
        content = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        owner, listed = content["environment"], content["files"]
    except (OSError, ValueError, KeyError, TypeError):
        msg = f"{folder}: is not empty and no 'jacquard render' wrote it; choose an empty or a new folder for --out"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    if owner != environment:
        msg = f"{folder}: holds environment '{owner}', not '{environment}'; choose another folder for --out"
        raise Stop(msg, ExitCode.BAD_DATA)
    return {path for path in listed if ".." not in Path(path).parts and not Path(path).is_absolute()}


def _write_index(folder: Path, environment: str, names: list[str]) -> None:
    content = json.dumps({"environment": environment, "files": names}, indent=1)
    (folder / INDEX).write_text(content + "\n", encoding="utf-8")


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - see `write`
            return file.read() == content
    except FileNotFoundError:
        return False


def _remove(folder: Path, path: str) -> None:
    (folder / path).unlink(missing_ok=True)
    for parent in (folder / path).parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
