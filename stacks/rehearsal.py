"""Clusters of a rehearsal, and its simulated prerequisites: objects that no stack creates, and contents of images."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pulumi
from pulumi_command import local

from components.inputs.manifests import everything
from components.lookups.pools import clusters
from components.lookups.references.table import references_table
from components.lookups.references.walk import missing_targets
from components.render.manifest import MANAGEMENT
from components.reports.platform_images import container_images
from components.specs.environment import Environment
from jacquard.machine import paths
from jacquard.machine.files import replace_private
from stacks import kubeconfig
from stacks.commands import python
from stacks.simulated_machines import machines


def write_list(environment: Environment) -> None:
    """Write the prerequisites of a rehearsal, and the contents of its images, to its region's folder.

    On hardware a person reads ``jacquard show ENV prerequisites`` and creates the objects. In a rehearsal the simulated
    platform reads this list, and creates exactly the objects on it. Simulated nodes read the declared contents of
    golden images that no object contains, and pull the container images that objects name. Simulated machines are
    installed once: edits of the data do not change the hardware of a machine.
    """
    items = tuple(everything(environment))
    prerequisites = [
        {
            "kind": item.target.kind,
            "cluster": item.target.cluster,
            "namespace": item.target.namespace,
            "name": item.target.name,
            "keys": sorted(item.keys),
        }
        for item in missing_targets(items, references_table()).values()
        if item.target.is_object
    ]
    replace_private(paths.given(environment.name), json.dumps(prerequisites, indent=1))
    images = {image.version: {"rdma_exclusive": image.contents.rdma_exclusive} for image in environment.images.images}
    replace_private(paths.golden_images(environment.name), json.dumps(images, indent=1))
    upstream = {"images": sorted(container_images(items)), "addresses": _addresses(environment)}
    replace_private(paths.images(environment.name), json.dumps(upstream, indent=1))
    installed = paths.hardware(environment.name)
    known = json.loads(installed.read_text(encoding="utf-8")) if installed.exists() else {}
    replace_private(installed, json.dumps(machines(environment) | known, indent=1))


def _addresses(environment: Environment) -> dict[str, str]:
    """Return the addresses of hosts outside the region in DNS, by name: of the registry mirror."""
    registry = environment.region.registry
    if registry is None or registry.address is None:
        return {}
    return {str(urlsplit(f"//{registry.mirror}").hostname): str(registry.address)}


def deploy_clusters(environment: Environment, kubeconfigs: Path) -> None:
    """Register a command for the management cluster and each hosted one; they are created in parallel.

    A removed cluster is deleted only after the region's stack has deleted the objects in the cluster.
    """
    tenants = [placed.cluster.name for placed in clusters(environment)]
    tenants += kubeconfig.ending(environment, kubeconfigs)
    for cluster in (MANAGEMENT, *tenants):
        local.Command(
            f"{environment.name}-{cluster}",
            **python(
                create=f"jacquard.lab.rehearsal up {environment.name} --cluster {cluster}",
                delete=f"jacquard.lab.rehearsal down {environment.name} --cluster {cluster}",
            ),
        )
    pulumi.export("clusters", [MANAGEMENT, *tenants])
