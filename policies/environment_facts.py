"""Facts about an environment that few objects need, for `policies.facts.Context`.

The functions import many modules of lookups and rendering. The policy pack loads them when the first such object is
evaluated.
"""

from collections.abc import Mapping
from typing import Any

from components.intents.time_slicing import turns_on_fabrics as turns
from components.lookups.add_ons import gives, left_out, own_values
from components.lookups.bmcs import unverified_bmcs as unverified
from components.lookups.network.closed_ports import closed_ports
from components.lookups.overcommitted import overcommitted
from components.lookups.pools import clusters
from components.render.hosts.bare_metal_hosts import MACHINES, root_device_hints
from components.render.region.operator_places import privileged_namespaces
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment

__all__ = [
    "closed_ports",
    "declared",
    "host_namespaces",
    "left_out",
    "overcommitted",
    "own_values",
    "scraped",
    "turns",
    "unverified",
]


def declared(environment: Environment) -> Mapping[str, Mapping[str, Any]]:
    """Return the host settings in the data beyond identity, by host and field path."""
    kinds, skipped = environment.instance_types.by_name, unverified(environment)
    disks = {name: root_device_hints(kind.root_device) for name, kind in kinds.items() if kind.root_device}
    return {
        host.host: {
            **({"spec.architecture": MACHINES[kind.architecture]} if (kind := kinds.get(host.instance_type)) else {}),
            **({"spec.rootDeviceHints": disks[host.instance_type]} if host.instance_type in disks else {}),
            **({"spec.bmc.disableCertificateVerification": True} if host.host in skipped else {}),
        }
        for host in environment.hosts
    }


def host_namespaces(environment: Environment) -> Mapping[str, bool]:
    """Return the namespaces of the management cluster whose agents use their host."""
    return dict.fromkeys(sorted(privileged_namespaces(environment.region.bare_metal)), True)


def scraped(environment: Environment) -> Mapping[str, bool]:
    """Return the clusters with an add-on that provides monitoring."""
    every = clusters(environment)
    return {placed.cluster.name: True for placed in every if gives(environment, placed, Capability.MONITORING)}
