"""What people give to a rehearsal: objects that the region refers to and nobody renders, and what images hold.

On hardware a person reads ``jacquard show ENV prerequisites`` and makes them. In a rehearsal the simulated platform
reads the list of them, and gives what is on it and nothing else. Golden images hold what they declare, of which
simulated nodes read what no object tells.
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
    """Write what the platform of a rehearsal gives, and what its images hold, into its region's folder."""
    listed = [
        {
            "kind": one.target.kind,
            "cluster": one.target.cluster,
            "namespace": one.target.namespace,
            "name": one.target.name,
            "keys": sorted(one.keys),
        }
        for one in given(everything(environment), references_table()).values()
        if one.target.is_object
    ]
    replace_private(paths.given(environment.name), json.dumps(listed, indent=1))
    images = {one.version: {"rdma_exclusive": one.contents.rdma_exclusive} for one in environment.images.images}
    replace_private(paths.golden_images(environment.name), json.dumps(images, indent=1))
