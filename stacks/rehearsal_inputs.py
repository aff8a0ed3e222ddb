"""Writes the simulated prerequisites of a rehearsal: referenced objects that no stack creates, and image contents.

On hardware a person reads ``jacquard show ENV prerequisites`` and creates the objects. In a rehearsal the simulated
platform reads this list, and creates exactly the objects on it. Simulated nodes read the declared contents of golden
images that no object contains.
"""

from __future__ import annotations

import json

from components.inputs.manifests import everything
from components.lookups.references.table import references_table
from components.lookups.references.walk import given
from components.specs.environment import Environment
from jacquard.machine import paths
from jacquard.machine.files import replace_private


def write_list(environment: Environment) -> None:
    """Write the prerequisites of a rehearsal, and the contents of its images, to its region's folder."""
    prerequisites = [
        {
            "kind": item.target.kind,
            "cluster": item.target.cluster,
            "namespace": item.target.namespace,
            "name": item.target.name,
            "keys": sorted(item.keys),
        }
        for item in given(everything(environment), references_table()).values()
        if item.target.is_object
    ]
    replace_private(paths.given(environment.name), json.dumps(prerequisites, indent=1))
    images = {image.version: {"rdma_exclusive": image.contents.rdma_exclusive} for image in environment.images.images}
    replace_private(paths.golden_images(environment.name), json.dumps(images, indent=1))
