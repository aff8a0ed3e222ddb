"""Manifests as a tree of YAML files: where each goes, how it is written, and how the tree is kept.

An index names the files that were written, so that only those are ever replaced or removed.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
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
        for manifest in sharing:
            group = manifest.api_version.rpartition("/")[0] or "core"
            exact = path if len(sharing) == 1 else _path(manifest, f"{manifest.kind.lower()}.{group}")
            texts[exact] = yaml_text(manifest.body)
    return texts


def yaml_text(body: Mapping[str, Any]) -> str:
    """Return an object as YAML, keys in the renderer's order."""
    writer = YAML()
    writer.Representer = _Representer
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.width = 4096  # folding would make a diff of one word into one of many lines
    stream = io.StringIO()
    writer.dump(_plain(body), stream)
    return stream.getvalue()


def write(folder: Path, environment: str, texts: Mapping[str, str]) -> Outcome:
    """Make ``folder`` hold exactly ``texts``.

    Raises:
        Stop: the folder holds files of somebody else; nothing is touched then.
    """
    before = _index(folder, environment)
    foreign = sorted(path for path in texts if path not in before and (folder / path).exists())
    if foreign:
        msg = (
            f"{folder}: holds {', '.join(foreign)} that jacquard did not write; move them away or choose another --out"
        )
        raise Stop(msg, ExitCode.BAD_DATA)
    folder.mkdir(parents=True, exist_ok=True)
    # The index first: after an interruption it names too many files, never too few.
    _write_index(folder, environment, sorted({*before, *texts}))
    written = [path for path, text in sorted(texts.items()) if _write(folder / path, text)]
    removed = sorted(before - texts.keys())
    for path in removed:
        _remove(folder, path)
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


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


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


def _write(path: Path, text: str) -> bool:
    if path.exists() and path.read_bytes() == text.encode():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


def _remove(folder: Path, path: str) -> None:
    (folder / path).unlink(missing_ok=True)
    for parent in (folder / path).parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
