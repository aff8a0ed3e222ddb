"""Rules of all rooms, by the condition under which they run. A module of rules that is missing here never runs."""

from components.rules import causes, references
from components.rules.add_ons import add_on_values, add_ons, charts, flux, network_kept, pod_priorities
from components.rules.control_planes import (
    cluster_namespaces,
    control_planes,
    data_stores,
    hosted_control_plane,
    restore_steps,
)
from components.rules.fleet import delegation
from components.rules.health import health, node_tests
from components.rules.hosts import bare_metal, host_states, inventory, released_hosts
from components.rules.network import (
    denied_networks,
    dpu_ports,
    dpu_release,
    dpus,
    dual_stack,
    fabrics,
    isolation,
    more_prefixes,
    node_addresses,
    outward,
    ovn,
    peerings,
    port_guids,
    rails,
    security_groups,
    tenant_network,
    vpc_clusters,
)
from components.rules.pools import (
    gpu_sharing,
    image_software,
    images,
    node_pool,
    nvlink_domains,
    placement,
    reserved_keys,
    rollouts,
    sites,
)
from components.rules.region import (
    announcements,
    capacity,
    cluster_api,
    contracts,
    contradictions,
    digests,
    dns,
    external_secrets,
    governance,
    lock_pins,
    locks,
    logs,
    names,
    observability,
    quotas,
    registry,
    running,
    version_limits,
)
from components.rules.rule import Rules
from components.rules.storage import backends, buckets, safe_mounts, storage, tenant_separation
from components.rules.vms import vm_gpus, vm_guests, vm_nodes, vm_offering, vm_orders, vm_snapshots
from components.rules.workloads import endpoint_services, queues, serving, slurm, slurm_backups, slurm_releases

_MODULES = (
    references,
    causes,
    names,
    announcements,
    registry,
    external_secrets,
    dns,
    delegation,
    capacity,
    cluster_api,
    version_limits,
    contracts,
    quotas,
    observability,
    logs,
    governance,
    locks,
    lock_pins,
    digests,
    contradictions,
    running,
    inventory,
    bare_metal,
    hosted_control_plane,
    control_planes,
    data_stores,
    cluster_namespaces,
    sites,
    node_pool,
    placement,
    gpu_sharing,
    images,
    image_software,
    reserved_keys,
    nvlink_domains,
    rollouts,
    health,
    node_tests,
    fabrics,
    peerings,
    security_groups,
    vpc_clusters,
    dpus,
    port_guids,
    tenant_network,
    isolation,
    more_prefixes,
    dual_stack,
    ovn,
    outward,
    node_addresses,
    denied_networks,
    rails,
    dpu_release,
    dpu_ports,
    buckets,
    storage,
    backends,
    safe_mounts,
    tenant_separation,
    vm_offering,
    vm_gpus,
    vm_orders,
    vm_nodes,
    vm_guests,
    vm_snapshots,
    slurm,
    slurm_releases,
    slurm_backups,
    add_ons,
    add_on_values,
    pod_priorities,
    flux,
    charts,
    queues,
    serving,
    endpoint_services,
)
ALL = Rules(
    **{
        kind: tuple(rule for module in _MODULES for rule in getattr(module.RULES, kind))
        for kind in Rules.__struct_fields__
    }
)
"""All rules, in the order of their modules."""
CHANGES = (
    *digests.CHANGES,
    *network_kept.CHANGES,
    *charts.CHANGES,
    *released_hosts.CHANGES,
    *host_states.CHANGES,
    *restore_steps.CHANGES,
)
"""All rules about the change from a base to a head."""
