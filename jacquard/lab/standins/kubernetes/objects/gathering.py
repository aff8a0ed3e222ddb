"""Collection of a component's objects from files, URLs, texts, plain objects and kustomize folders."""

import glob
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jacquard.lab.standins.kubernetes.objects.documents import load
from jacquard.lab.standins.kubernetes.objects.kustomization import build
from jacquard.providers.errors import ProviderError

CONFIG_FILE = "kubernetes:yaml/v2:ConfigFile"
CONFIG_GROUP = "kubernetes:yaml/v2:ConfigGroup"
DIRECTORY = "kubernetes:kustomize/v2:Directory"
TYPES = (CONFIG_FILE, CONFIG_GROUP, DIRECTORY)

_ADDRESSES = ("https://", "http://")
_FETCH_SECONDS = 60
_PATTERN = frozenset("*?[")
_AS_THE_VENDORS = ("--load-restrictor=LoadRestrictionsNone", "--enable-helm")
"""Flags of the vendor's provider. In contrast to the older function, bases may be in any folder, and charts are
rendered if helm is installed."""


def gather(token: str, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of a component's inputs; lists are expanded into their items.

    Args:
        token: one of `TYPES`.
        inputs: the inputs, without unknown values.

    Raises:
        ProviderError: a source is unreadable, or an entry is not an object; the message lists all of them.
    """
    documents: list[Any] = []
    for source, text in _texts(token, inputs):
        documents += [document for document in load(text, source) if document]
    objects = list(_single([*documents, *inputs.get("objs", ())]))
    problems = [
        f"object {number} ({_description(obj)}): must have apiVersion, kind and metadata.name"
        for number, obj in enumerate(objects, 1)
        if not _is_object(obj)
    ]
    if problems:
        raise ProviderError("\n".join(problems))
    return objects


def complete(
    objects: Iterable[dict[str, Any]], namespace: str, is_namespaced: Callable[[str, str], bool | None]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Set the default namespace of objects, and normalize the apiVersion of the core group.

    Args:
        objects: result of `gather`.
        namespace: default namespace of objects of namespaced kinds.
        is_namespaced: returns whether an apiVersion and a kind are namespaced; None if unknown.

    Returns:
        The objects, and the unknown kinds; objects of unknown kinds get no default namespace.
    """
    completed, unknown = [], set()
    for original in objects:
        obj = {**original, "apiVersion": original["apiVersion"].removeprefix("core/")}
        metadata = obj["metadata"]
        namespaced = False if metadata.get("namespace") else is_namespaced(obj["apiVersion"], obj["kind"])
        if namespaced is None:
            unknown.add(f"{obj['apiVersion']} {obj['kind']}")
        completed.append({**obj, "metadata": {**metadata, "namespace": namespace}} if namespaced else obj)
    return completed, sorted(unknown)


def _texts(token: str, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return pairs of the name for error messages and the YAML text."""
    if token == DIRECTORY:
        return [(f"output of kustomize for '{inputs['directory']}'", build(inputs["directory"], *_AS_THE_VENDORS))]
    if token == CONFIG_FILE:
        return _read([inputs["file"]])
    text = inputs.get("yaml")
    return [*_read(_matching(inputs.get("files", ()))), *([("yaml", text)] if text else [])]


def _matching(names: Iterable[str]) -> list[str]:
    """Return file names; patterns are replaced by the files that they match."""
    files: list[str] = []
    for name in names:
        is_pattern = _PATTERN & set(name) and not name.startswith(_ADDRESSES)
        files += sorted(glob.glob(name)) or [name] if is_pattern else [name]  # noqa: PTH207 - keeps relative names
    return files


def _read(names: Iterable[str]) -> list[tuple[str, str]]:
    texts, problems = [], []
    for name in names:
        try:
            if name.startswith(_ADDRESSES):
                with urllib.request.urlopen(name, timeout=_FETCH_SECONDS) as answer:  # noqa: S310 - see _ADDRESSES
                    texts.append((f"'{name}'", answer.read().decode()))
            else:
                texts.append((f"'{name}'", Path(name).read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            problems.append(f"'{name}' cannot be read: it is not UTF-8 text")
        except urllib.error.URLError as error:
            reason = error.reason.strerror if isinstance(error.reason, OSError) else error.reason
            problems.append(f"'{name}' cannot be read: {reason}")
        except OSError as error:
            problems.append(f"'{name}' cannot be read: {error.strerror or error}")
    if problems:
        raise ProviderError("\n".join(problems))
    return texts


def _single(objects: Iterable[Any]) -> Iterator[Any]:
    for obj in objects:
        if isinstance(obj, dict) and isinstance(obj.get("items"), list):
            yield from _single(obj["items"])
        else:
            yield obj


def _is_object(value: Any) -> bool:
    metadata = value.get("metadata") if isinstance(value, dict) else None
    texts = [value.get("apiVersion"), value.get("kind"), metadata.get("name")] if isinstance(metadata, dict) else [None]
    return all(isinstance(text, str) and text for text in texts)


def _description(value: Any) -> str:
    if not isinstance(value, dict):
        return f"a {type(value).__name__}"
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return " ".join(str(text) for text in (value.get("apiVersion"), value.get("kind"), name) if text) or "none of them"
