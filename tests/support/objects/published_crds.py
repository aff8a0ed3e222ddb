"""CustomResourceDefinitions that projects publish, to validate rendered objects."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.lab.toolchain import binaries
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

CRDS = Path(os.environ.get("CRDS_DIR", paths.ROOT.parent / "shared" / "crds"))
RECORDED_HERE = Path(__file__).parent / "recorded_crds"
"""Definitions that the folder lacks, written from upstream's types."""
_PINNED = {"kueue.x-k8s.io": ("kueue", "charts/kueue/templates/crd")}
"""Groups of which the folder has newer releases than the catalogue pins: module of the pinned chart, and its folder."""
_TEMPLATE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
"""Template expressions of charts in definitions: labels, annotations and the service of a conversion."""
_SEPARATOR = re.compile(r"^---.*$", re.MULTILINE)
_PLURAL = re.compile(r"plural: (\w+)")
BUILT_IN = {
    "admissionregistration.k8s.io/v1",
    "v1",
    "apps/v1",
    "batch/v1",
    "flowcontrol.apiserver.k8s.io/v1",
    "networking.k8s.io/v1",
    "policy/v1",
    "rbac.authorization.k8s.io/v1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1",
}
"""Groups of Kubernetes itself, which have no CRDs."""


class CrdFolder:
    """The folder of published definitions; skip the test if it does not exist."""

    def __init__(self) -> None:
        if not CRDS.is_dir():
            pytest.skip(f"no folder of published CustomResourceDefinitions at {CRDS}; set CRDS_DIR to one")
        self._definitions: dict[tuple[str, str], Mapping[str, Any]] = {}

    def definition(self, group: str, kind: str) -> Mapping[str, Any]:
        """Return the definition of ``kind``.

        Raises:
            LookupError: The kind has no published definition.
        """
        if (group, kind) not in self._definitions:
            self._definitions[group, kind] = self._read(group, kind)
        return self._definitions[group, kind]

    def plurals(self, group: str) -> frozenset[str]:
        """Return the plural names of the kinds of a group; empty if no definition is published or recorded."""
        files = chain(CRDS.rglob("*.yaml"), RECORDED_HERE.glob("*.yaml"))
        texts = (text for file in files if f"group: {group}\n" in (text := file.read_text(encoding="utf-8")))
        return frozenset(chain.from_iterable(_PLURAL.findall(text) for text in texts))

    def _read(self, group: str, kind: str) -> Mapping[str, Any]:
        if group in _PINNED:
            return definition_of_module(*_PINNED[group], group, kind)
        stem = kind.lower()[:-1]  # The plural may change the last letter.
        own = (path for path in sorted(CRDS.rglob(f"*{group}*.yaml")) if stem in path.name)
        bundles = sorted(CRDS.rglob("*-crd*.yaml"))  # One file with all kinds of a project
        recorded = sorted(RECORDED_HERE.glob(f"{group}_*.yaml"))
        named = re.compile(rf"\bkind: [\"']?{kind}\b")
        for text in chain.from_iterable(map(_documents, chain(own, bundles, recorded))):
            # Most documents of a bundle are of other kinds, and parsing takes much longer than this search.
            if group in text and named.search(text):
                document = yaml.load(text, yaml.CSafeLoader)
                if (document["spec"]["group"], document["spec"]["names"]["kind"]) == (group, kind):
                    return dict(document)
        msg = f"{CRDS} holds no CustomResourceDefinition of {kind} in {group}"
        raise LookupError(msg)


@cache
def _documents(path: Path) -> tuple[str, ...]:
    """Return the texts of the documents in a file."""
    return tuple(_SEPARATOR.split(path.read_text(encoding="utf-8")))


def definition_of_module(module: str, folder: str, group: str, kind: str) -> Mapping[str, Any]:
    """Return the definition of ``kind`` in a module of the toolchain; skip the test if the module is not available."""
    try:
        files = sorted((binaries.data(module) / folder).glob(f"{group}_*.yaml"))
    except ToolchainError as error:
        pytest.skip(f"no definitions of {group}: {error}")
    for path in files:
        definition = yaml.load(_TEMPLATE.sub("", path.read_text(encoding="utf-8")), yaml.CSafeLoader)
        if definition["spec"]["names"]["kind"] == kind:
            return dict(definition)
    msg = f"the module {module} has no CustomResourceDefinition of {kind} in {group}"
    raise LookupError(msg)
