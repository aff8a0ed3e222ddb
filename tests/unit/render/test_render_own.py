"""Provider options that a repository's own objects may set."""

from __future__ import annotations

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.extensions import annotation_problems
from components.render.manifest import Manifest, objects
from components.specs.reading.loader import load_environment
from jacquard.machine import paths


def annotated(**annotations: str) -> Manifest:
    metadata = {"name": "x", "annotations": {f"pulumi.com/{key}": value for key, value in annotations.items()}}
    return Manifest(body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


READINESS = "pass readiness=Readiness(...) to the Manifest instead"
KNOWN = "pulumi.com/deletionPropagationPolicy, pulumi.com/patchForce, pulumi.com/skipAwait"


@pytest.mark.parametrize(
    ("item", "wrong"),
    [
        (annotated(skipAwait="true", deletionPropagationPolicy="orphan", patchForce="false"), []),
        (Manifest(body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}), []),
        (
            annotated(waitFor="condition=Ready"),
            [f"annotation pulumi.com/waitFor is set from readiness; {READINESS}"],
        ),
        (annotated(patchForce="yes"), ["annotation pulumi.com/patchForce is 'yes'; write one of true, false"]),
        (
            annotated(skipawait="true"),
            [f"annotation pulumi.com/skipawait is not supported on an object; use one of {KNOWN}"],
        ),
    ],
    ids=["right", "none", "wait", "value", "misspelt"],
)
def test_options_that_a_provider_would_ignore_are_reported(item: Manifest, wrong: list[str]) -> None:
    assert list(annotation_problems(item)) == wrong


def test_built_in_objects_have_no_other_options() -> None:
    laptop = load_environment("laptop", paths.ROOT / "environments")
    rendered = (item for part in slices(laptop) for item in objects(manifests(laptop, part)))

    assert [text for item in rendered for text in annotation_problems(item)] == []
