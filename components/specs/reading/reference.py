"""Field reference: one page for each kind of data file, generated from the docstrings and bounds of the model."""

import json
import re
from collections.abc import Iterator
from typing import Any

from components.specs.hosts.inventory import HostSpec
from components.specs.reading.kinds import KINDS, FileKind
from components.specs.reading.patterns import PATTERN_RULES
from components.specs.reading.schema import model_schema

FOLDER = "docs/reference"
"""Folder of the pages, relative to the parent of ``environments/``."""
MARK = "<!-- written by jacquard schema --write from the docstrings in components/specs; do not edit -->\n"
INDEX = "README.md"
INVENTORY = "inventory"
_HEAD = "| field | type | default | rule | meaning |\n|---|---|---|---|---|\n"
_REF = "#/definitions/"
_NULL = {"type": "null"}
_LENGTH = ("minLength", "maxLength", " characters")
_ANY = "any"
_WORDS = {
    _ANY: "any value",
    "string": "text",
    "integer": "number",
    "boolean": "`true`, `false`",
    "date": "date",
    "date-time": "moment",
    "ipv4": "address",
}
_LOCKED = "Written by `jacquard allocate` and `jacquard promote`; reviewed, never edited by hand.\n\n"
_CONCEPTS = (
    "Related pages: [regions](../region/region.md), [control planes](../control-planes/hosted-control-plane.md),\n"
    "[node pools](../pools/node-pool.md), [inventory](../hosts/inventory.md), "
    "[tenant networks](../network/tenant-network.md),\n"
    "[storage](../storage/storage.md), [virtual machines](../vms/virtual-machines.md), "
    "[cluster access](../control-planes/cluster-access.md), "
    "[add-ons](../add-ons/add-ons.md).\n\n"
)


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    texts = {f"{kind.name}.md": _page(kind.path, model_schema(kind.model), locked=kind.locked) for kind in KINDS}
    hosts = model_schema(HostSpec)
    columns = {name: field for name, field in hosts["properties"].items() if name != "hall"}
    texts[f"{INVENTORY}.md"] = _page("inventory/hall-<hall>.csv", {**hosts, "properties": columns}, locked=False)
    texts[INDEX] = _index()
    return texts


def _index() -> str:
    rows = [_index_row(kind) for kind in KINDS]
    rows.insert(2, f"| `inventory/hall-<hall>.csv` | [{INVENTORY}]({INVENTORY}.md) | environment | users |")
    return (
        f"{MARK}# Data files\n\nFields, types, defaults and bounds of every file below `environments/`.\n\n"
        f"{_CONCEPTS}| file | page | belongs to | written by |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def _index_row(kind: FileKind) -> str:
    owner = "all environments" if kind.shared else "environment"
    writer = "jacquard" if kind.model.WRITTEN_BY_COMMAND else "users"
    return f"| `{kind.path}` | [{kind.name}]({kind.name}.md) | {owner} | {writer} |"


def _page(title: str, schema: dict[str, Any], *, locked: bool) -> str:
    writer = _Page(schema["definitions"])
    writer.section("", schema)
    return f"{MARK}# {title}\n\n{_LOCKED if locked else ''}{''.join(writer.sections)}"


class _Page:
    """Writer of one page: a section for the root, then one section for each mapping below it."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions
        self._places: dict[str, str] = {}
        self.sections: list[str] = []

    def section(self, path: str, schema: dict[str, Any]) -> None:
        """Add the section of the mapping at ``path``, and the sections of its inner mappings."""
        below: list[tuple[str, str]] = []
        rows = "".join(self._row(path, name, schema, below) for name in schema["properties"])
        heading = f"\n## {_title(path)}\n\n" if path else ""
        intro = schema.get("description", "")
        self.sections.append(f"{heading}{intro}\n\n{_HEAD}{rows}")
        for place, name in below:
            self.section(place, self._definitions[name])

    def _row(self, path: str, name: str, schema: dict[str, Any], below: list[tuple[str, str]]) -> str:
        field = schema["properties"][name]
        here = f"{path}.{name}" if path else name
        default = "" if "default" not in field else f"`{json.dumps(field['default'], ensure_ascii=False)}`"
        if name in schema.get("required", ()):
            default = "required"
        texts = [field.get("description", ""), *self._meanings(field)]
        kind = self._type(field, here, below)
        rules = "; ".join(dict.fromkeys(self._rules(field)))
        cells = (f"`{name}`", kind, default, rules, " ".join(text for text in texts if text))
        return f"| {' | '.join(cell.replace('|', '&#124;').replace(chr(10), ' ') for cell in cells)} |\n"

    def _type(self, field: dict[str, Any], path: str, below: list[tuple[str, str]]) -> str:
        members = [member for key in ("allOf", "anyOf", "oneOf") for member in field.get(key, ()) if member != _NULL]
        if members:
            return " or ".join(self._type(member, path, below) for member in members)
        if "$ref" in field:
            return self._reference(field["$ref"].removeprefix(_REF), path, below)
        if "const" in field or "enum" in field:
            return ", ".join(f"`{word}`" for word in field.get("enum", [field.get("const")]))
        match field.get("type", _ANY):
            case "array":
                return f"list of {self._type(field['items'], f'{path}[]', below)}"
            case "object":
                return f"mapping of names to {self._type(field['additionalProperties'], f'{path}.<name>', below)}"
            case kind:
                return _WORDS[str(field.get("format", kind))]

    def _reference(self, name: str, path: str, below: list[tuple[str, str]]) -> str:
        definition = self._definitions[name]
        if "properties" not in definition:
            return self._type(definition, path, below)
        if name not in self._places:
            drivers = [entry["const"] for entry in definition["properties"].values() if "const" in entry]
            self._places[name] = f"{path} ({drivers[0]})" if drivers else path
            below.append((self._places[name], name))
        place = self._places[name]
        return f"[{_title(place)}](#{re.sub(r'[^a-z0-9_ -]', '', place.lower()).replace(' ', '-')})"

    def _rules(self, field: dict[str, Any]) -> Iterator[str]:
        for member in self._members(field):
            yield from _bounds(member)
            if "pattern" in member:
                yield _pattern_rule(member)
            if "propertyNames" in member:
                yield f"names: {_pattern_rule(member['propertyNames'])}"

    def _members(self, field: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the schemas of a scalar, a list and its entries, except schemas of mappings."""
        yield field
        for inner in (*field.get("anyOf", ()), *field.get("allOf", ())):
            yield from self._members(inner)
        for keyword in ("items", "additionalProperties"):
            if isinstance(field.get(keyword), dict):
                yield from self._members(field[keyword])

    def _meanings(self, field: dict[str, Any]) -> Iterator[str]:
        """Yield the descriptions of the enum values of the field or of its entries."""
        for member in self._members(field):
            definition = self._definitions.get(member.get("$ref", "").removeprefix(_REF), {})
            if "properties" not in definition:
                for word, text in zip(definition.get("enum", ()), definition.get("enumDescriptions", ()), strict=False):
                    yield f"`{word}`: {text}" if text else ""


def _title(path: str) -> str:
    """Return a path as heading or link text; ``<name>`` outside of code would be an HTML tag."""
    return f"`{path}`" if "<" in path else path


def _bounds(field: dict[str, Any]) -> Iterator[str]:
    for low, high, unit in (("minimum", "maximum", ""), ("minItems", "maxItems", " entries"), _LENGTH):
        match field.get(low), field.get(high):
            case int(least), int(most):
                yield f"{least} to {most}{unit}" if least != most else f"{least}{unit}"
            case int(least), None:
                yield f"at least {least}{unit}"
            case None, int(most):
                yield f"at most {most}{unit}"


def _pattern_rule(field: dict[str, Any]) -> str:
    if field["pattern"] in PATTERN_RULES:
        return PATTERN_RULES[field["pattern"]].removeprefix("must be ")
    return f"like `{field['examples'][0]}`" if "examples" in field else f"`{field['pattern']}`"
