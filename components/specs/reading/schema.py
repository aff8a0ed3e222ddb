"""JSON Schemas of data files for editors, generated from the models. Each schema validates a single file.

The schemas use draft 7, which yaml-language-server supports.
"""

import ast
import inspect
import json
import re
import textwrap
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import EnumSchema, ModelSchema

from components.specs.base import Spec
from components.specs.reading.kinds import FileKind

FOLDER = "schemas"
"""Folder of the schemas, relative to the parent of ``environments/``."""
HEADER = "# yaml-language-server: $schema="
MARK = "written by jacquard schema --write"
"""Text that marks a generated file."""
_WRITTEN = f"{MARK} from the models in components/specs; do not edit"
_WRITTEN_OF_OUTPUT = f"{MARK} from the model of the answer; do not edit"
_DRAFT = "http://json-schema.org/draft-07/schema#"
_NETWORKS = {
    "ipv4network": {"pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/([0-9]|[12][0-9]|3[0-2])$", "examples": ["10.64.0.0/16"]},
    "ipv6network": {"pattern": r"^[0-9a-f:]{2,39}/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$", "examples": ["fd42::/40"]},
}
"""Patterns of network types, for which JSON Schema has no format, by pydantic's format name."""
_ENTRIES = {"properties", "definitions", "patternProperties"}
"""Schema keywords whose keys are names from the data."""


def file_name(kind: FileKind) -> str:
    """Return the file name of the schema of ``kind``."""
    return f"{kind.name}.schema.json"


def header(kind: FileKind, path: Path, folder: Path) -> str:
    """Return the comment in the file ``path`` that refers editors to the schema. ``folder`` has all environments."""
    return f"{HEADER}{'../' * len(path.relative_to(folder).parts)}{FOLDER}/{file_name(kind)}\n"


def with_header(text: str, line: str) -> str:
    """Return ``text`` with ``line`` as the only schema header."""
    rest = text.partition("\n")[2] if text.startswith(HEADER) else text
    return line + rest


def schema_text(kind: FileKind) -> str:
    """Return the schema of ``kind`` as the text of its file."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"


def output_text(title: str, model: type[Spec]) -> str:
    """Return the schema of a command's output as the text of its file."""
    return text_of(title, model_schema(model))


def text_of(title: str, found: dict[str, Any]) -> str:
    """Return a schema as the text of its file, for schemas that do not describe data files."""
    whole = {"$schema": _DRAFT, "$comment": _WRITTEN_OF_OUTPUT, "title": title, **found}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def schema(kind: FileKind) -> dict[str, Any]:
    """Return the schema of ``kind``: closed mappings, titles and descriptions from docstrings."""
    return {"$schema": _DRAFT, "$comment": _WRITTEN, "title": kind.path, **model_schema(kind.model)}


@cache
def model_schema(model: type[Spec]) -> dict[str, Any]:
    """Return the schema of ``model``, with its inner models under ``definitions``; callers do not change it.

    Cached, since the schema of a data file is also the content of its reference page.
    """
    raw = model.model_json_schema(ref_template="#/definitions/{model}", schema_generator=_Generator)
    definitions = raw.pop("$defs", {})
    named = {name: {"title": _words(name), **_clean(definition)} for name, definition in sorted(definitions.items())}
    return {**_clean(raw), "definitions": named}


class _Generator(GenerateJsonSchema):
    """Schema generator that adds the descriptions of fields and enum values, without fields that are not written."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        found = super().model_schema(schema)
        texts = _field_texts(schema["cls"])
        for name, field in schema["cls"].model_fields.items():
            if field.exclude:
                del found["properties"][field.alias or name]
            elif texts.get(name):
                found["properties"][field.alias or name]["description"] = texts[name]
        return found

    def enum_schema(self, schema: EnumSchema) -> JsonSchemaValue:
        found = super().enum_schema(schema)
        texts = meanings(schema["cls"])
        return {**found, "enumDescriptions": list(texts.values())} if any(texts.values()) else found


def _clean(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of pydantic in draft 7, without titles that repeat a key."""
    found = {key: _cleaned(key, value) for key, value in raw.items() if key not in {"title", "discriminator"}}
    if found.get("format") in _NETWORKS:
        found |= _NETWORKS[found.pop("format")]
    if "patternProperties" in found:
        [(pattern, found["additionalProperties"])] = found.pop("patternProperties").items()
        found["propertyNames"] = {"pattern": pattern}
    if isinstance(found.get("default", {}), dict | None):
        found.pop("default", None)  # The definition already has a description, or no description exists.
    if "description" in found:
        found["description"] = _prose(found["description"])
    if "$ref" in found and len(found) > 1:
        found = {"allOf": [{"$ref": found.pop("$ref")}], **found}
    return found


def _cleaned(key: str, value: Any) -> Any:
    if key in _ENTRIES:
        return {name: _clean(entry) for name, entry in value.items()}
    if isinstance(value, dict) and key != "default":
        return _clean(value)
    if isinstance(value, list) and key in {"anyOf", "oneOf", "allOf"}:
        return [_clean(entry) for entry in value]
    return value


def _prose(docstring: str) -> str:
    """Return a docstring as Markdown with one line per paragraph."""
    paragraphs = inspect.cleandoc(docstring).replace("``", "`").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _words(name: str) -> str:
    """Return the name of a model as separate words; ``NodePoolSpec`` becomes ``node pool``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.removesuffix("Spec")).lower()


@cache
def meanings(enum: type[Enum]) -> dict[str, str]:
    """Return the docstrings below the members of ``enum``, by value; empty for members without a docstring."""
    texts = _attribute_texts(enum)
    return {member.value: texts.get(member.name, "") for member in enum}


def _field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings below the fields of ``model``, including inherited fields.

    Pydantic would read the docstrings whenever a module is loaded, which takes a tenth of a second.
    """
    bases = [base for base in reversed(model.__mro__) if issubclass(base, BaseModel) and base is not BaseModel]
    return {name: text for base in bases for name, text in _attribute_texts(base).items()}


@cache
def _attribute_texts(definition: type) -> dict[str, str]:
    """Return the docstrings below the attributes of a class, by name."""
    [parsed] = ast.parse(textwrap.dedent(inspect.getsource(definition))).body
    texts, last = dict[str, str](), ""
    for statement in getattr(parsed, "body", []):
        match statement:
            case ast.Assign(targets=[ast.Name(id=last)]) | ast.AnnAssign(target=ast.Name(id=last)):
                pass
            case ast.Expr(value=ast.Constant(value=str(text))) if last:
                texts[last] = _prose(text)
                last = ""
    return texts
