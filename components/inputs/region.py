"""Input of the foundation of a region."""

from collections.abc import Iterator

from components.inputs.dpu_release import dpu_release
from components.lookups.charts import needed_charts
from components.lookups.data_stores import region_stores
from components.lookups.health.node_checks import repair_limits
from components.lookups.network.dpus import dpu_platform, uses_dpf, uses_ovn
from components.lookups.pools import clusters
from components.lookups.receivers import tenant_receivers
from components.render import labels as keys
from components.render.manifest import objects
from components.render.namespaces import FREE_HOSTS
from components.render.objects import given
from components.render.pools.failed_repairs import FailedRepairs
from components.render.pools.pool_rollout import window_text
from components.render.program_pods import TOOL
from components.render.region.cluster_api import PROVIDERS
from components.render.region.external_secrets import external_secrets
from components.render.region.kustomizations import ByManifests
from components.render.region.region import RegionInput
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import RegionSpec
from components.specs.region.tenant import TenantSpec
from components.specs.struct import replace


def of_region(environment: Environment, region: RegionSpec) -> Iterator[RegionInput]:
    """Yield the single input of the foundation."""
    needed, dpf = needed_charts(environment), uses_dpf(environment)
    installed = environment.versions.installed(region.image_channel)
    made = RegionInput(
        name=environment.name,
        spec=region,
        charts=tuple(chart for name, chart in installed.items() if name in needed),
        by_manifests=ByManifests.taken(environment.versions, (*needed, PROVIDERS)),
        platform=dpu_platform(environment),
        dpf=dpf,
        data_stores=tuple(region_stores(environment, dpf=dpf)),
        ovn=uses_ovn(environment),
        clusters={placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)},
        tenants={tenant.tenant: _about(tenant) for tenant in environment.tenants},
        receivers=tenant_receivers(environment),
        release=environment.versions.release,
        watched=_watched(environment),
        cluster_api=environment.versions.cluster_api,
        ironic=environment.versions.ironic,
        dpu_release=dpu_release(environment) if dpf else None,
        failed_repairs=_failed_repairs(environment),
        tools={tool.name: str(tool) for tool in environment.versions.tools},
    )
    store = region.secrets.store
    if store is None:
        yield made
        return
    from components.inputs.deliveries import deliveries  # noqa: PLC0415 - its tables take time to load

    secrets = external_secrets(store, deliveries(environment, objects(made.render())))
    yield replace(made, secrets=tuple(secrets))


def _failed_repairs(environment: Environment) -> FailedRepairs | None:
    """Return the input for the replacement of Machines after repairs by Metal3; None without an image of Python."""
    image = environment.versions.optional_tool(TOOL)
    metal3 = environment.region.bare_metal.backend is BareMetalBackend.METAL3
    return FailedRepairs(image=str(image), limits=repair_limits(environment)) if image and metal3 else None


def _about(tenant: TenantSpec) -> dict[str, str]:
    """Return the namespace annotations of ``tenant``, read by operators and alerts: contacts, window, contract."""
    contacts, changes = tenant.contacts, tenant.changes
    contract = ", ".join(f"{part.nodes} {part.instance_type}{part.period}" for part in tenant.contract)
    return {
        keys.CONTACT_ALERTS: contacts.alerts,
        keys.CONTACT_CHANGES: contacts.changes,
        keys.CONTACT_MAINTENANCE: contacts.maintenance or contacts.changes,
        keys.APPROVAL: changes.approval.value,
        **given(**{keys.WINDOW: changes.window and window_text(changes.window), keys.CONTRACT: contract or None}),
    }


def _watched(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the namespaces with hosts of each bare-metal controller; the namespace of free hosts is last."""
    metal, lock = environment.region.bare_metal, environment.allocations.clusters
    every = [placed.cluster.name for placed in clusters(environment)] if metal.controllers else []
    return {
        controller.name: (
            *(cluster for cluster in every if lock[cluster].controller == controller.name),
            *((FREE_HOSTS,) if controller.name == metal.free_hosts else ()),
        )
        for controller in metal.controllers
    }
