"""Manifests as a tree of YAML files: paths and YAML text."""

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
"""Output folder of one environment."""
_CLUSTER_SCOPED = "_cluster"
_NO_TEXT_IN_YAML_1_1 = re.compile(
    r"y|n|yes|no|on|off|=|<<"
    r"|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"  # sexagesimal, such as a MAC address without letters
    r"|[-+]?0[bo][0-7_]+|[-+]?[0-9][0-9_]*(\.[0-9_]*)?(e[-+]?[0-9]+)?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?",
    re.IGNORECASE,
)
"""Strings that need quotes: kubectl reads YAML 1.1, while ruamel.yaml quotes by the rules of YAML 1.2."""
_PLAIN = re.compile(
    r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z/](?:[a-z0-9/._+@=,;(){}<>'\"-]|:(?=[a-z0-9/])| (?=[a-z0-9({<=]))*"
    r"|[0-9]+(?:\.[0-9]+){3}(?:/[0-9]+)?"  # an IPv4 address or prefix
    r"|(?=.*[a-f])[0-9a-f]{2}(?::[0-9a-f]{2}){5}",  # a MAC address with a letter
    re.IGNORECASE,
)
"""Strings that YAML 1.1 and 1.2 parse as strings; most values of objects match."""
_BLOCKS = (dict, list, tuple, MappingProxyType)
"""Types of mappings and lists; ``isinstance`` with ``Mapping`` takes several times as long."""
_WIDTH = 1 << 20
"""Practically unlimited line width, because folding would turn a diff of one word into a diff of many lines."""
_REMEMBERED = 1 << 16
"""Number of cached scalars; most occur in many objects."""
_NOT_IN_FILE_NAMES = str.maketrans({"/": "_", ":": "_"})


def files(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Return the text of each manifest by path.

    Kinds with the same name in different API groups would share a path; the API group is added to both paths.
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

    Mappings and lists are written without ruamel.yaml, because ruamel.yaml takes more than a minute for a large region;
    this function takes a second.
    """
    lines: list[str] = []
    _add_block(lines, body, "")
    return "\n".join([*lines, ""])


class _Representer(RoundTripRepresenter):
    def ignore_aliases(self, data: Any) -> bool:
        """Write shared values at each place instead of as YAML aliases."""
        del data
        return True

    def represent_text(self, text: str) -> Any:
        """Write multi-line strings as blocks, and quote strings that YAML 1.1 would not parse as strings."""
        style = "|" if "\n" in text else "'" if _NO_TEXT_IN_YAML_1_1.fullmatch(text) else None
        return self.represent_scalar("tag:yaml.org,2002:str", str(text), style=style)


_Representer.add_representer(str, _Representer.represent_text)
_Representer.add_multi_representer(str, _Representer.represent_text)


def _path(manifest: Manifest, kind: str) -> str:
    name = f"{kind}-{manifest.name}.yaml".translate(_NOT_IN_FILE_NAMES)
    return "/".join((manifest.cluster, manifest.namespace or _CLUSTER_SCOPED, name))


def _add_block(lines: list[str], value: Mapping[str, Any] | list[Any] | tuple[Any, ...], pad: str) -> None:
    """Add the lines of a mapping or list ``value``, which must not be empty."""
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
            lines[first] = f"{pad}- {lines[first][len(inner) :]}"  # a block starts on the line of its dash
        else:
            lines.append(f"{pad}-{_beside(item, pad)}")


def _beside(value: Any, pad: str) -> str:
    """Return the text of ``value`` after a key or a dash with indentation ``pad``."""
    if isinstance(value, _BLOCKS):
        return " []" if isinstance(value, list | tuple) else " {}"
    text = _scalar(value)
    if "\n" in text:
        text = text.replace("\n", f"\n{pad}").replace(f"\n{pad}\n", "\n\n")
    return f" {text}" if text else ""


@lru_cache(maxsize=_REMEMBERED, typed=True)
def _scalar(value: str | float | None) -> str:
    """Return the text of ``value`` after a key without indentation; ruamel.yaml writes all but plain strings."""
    if type(value) is int or (isinstance(value, str) and _PLAIN.fullmatch(value)):
        return str(value)
    writer = YAML()
    writer.Representer = _Representer
    writer.width = _WIDTH
    stream = io.StringIO()
    writer.dump({"k": value, "end": 0}, stream)  # ruamel.yaml can add a document end marker after a scalar
    return stream.getvalue().removeprefix("k:").removeprefix(" ").removesuffix("\nend: 0\n")
