"""Manifests as a tree of YAML files: where each goes, and how it is written."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.representer import RoundTripRepresenter

from components.render.manifest import Manifest
from jacquard.cli.output_folder import KeptFolder

FOLDER = KeptFolder(index=".jacquard-render.json", command="jacquard render")
"""Where the files of one environment are kept."""
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
