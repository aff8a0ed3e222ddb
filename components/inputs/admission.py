"""Inputs of admission policies in the management cluster and in tenant clusters."""

from collections.abc import Iterator, Mapping

from components.lookups.admission import admission_rules
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import PlacedCluster
from components.render.add_ons.flux import NAMESPACE as FLUX
from components.render.manifest import MANAGEMENT
from components.render.region.admission import AdmissionInput, PolicyAdmission
from components.render.region.admission_rule import ClusterKind
from components.render.region.operator_places import privileged_namespaces
from components.render.region.region import operator_places
from components.specs.environment import Environment
from components.specs.region.admission import AdmissionAction
from components.specs.region.region import RegionSpec

_REGISTRIES, _HOST_NAMESPACES, _ADMINS = "registries", "host_namespaces", "admins"
_OPTIONAL = frozenset({_REGISTRIES})
"""Values without which a policy is not evaluated."""


def of_region(environment: Environment, region: RegionSpec) -> Iterator[AdmissionInput]:
    """Yield the admission policies of the management cluster; operators install charts and Cluster API there."""
    if region.admission and region.admission.management is not AdmissionAction.NONE:
        values = {_HOST_NAMESPACES: tuple(sorted(privileged_namespaces(region.bare_metal)))}
        yield AdmissionInput(
            name=environment.name,
            cluster=MANAGEMENT,
            action=region.admission.management,
            policies=_policies(environment, ClusterKind.MANAGEMENT),
            exempt=(FLUX, *operator_places(region, dpf=uses_dpf(environment))),
            values=_values(environment, values),
        )


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[AdmissionInput]:
    """Yield the admission policies of a tenant cluster."""
    admission, oidc = environment.region.admission, placed.cluster.oidc
    if admission and admission.tenants is not AdmissionAction.NONE:
        values = {_ADMINS: (oidc.admins,) if oidc and oidc.admins else ()}
        yield AdmissionInput(
            name=placed.cluster.name,
            cluster=placed.cluster.name,
            action=admission.tenants,
            policies=_policies(environment, ClusterKind.TENANT),
            values=_values(environment, values),
        )


def _values(environment: Environment, values: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    registries = tuple(name.rstrip("/") for name in environment.policy.registries)
    return {_REGISTRIES: registries, _HOST_NAMESPACES: (), _ADMINS: (), **values}


def _policies(environment: Environment, kind: ClusterKind) -> tuple[PolicyAdmission, ...]:
    levels, waivers = environment.policy.rules, environment.waivers.waivers
    return tuple(
        PolicyAdmission(
            rule=rule,
            level=levels.get(rule.policy, rule.level),
            waived=tuple(sorted(waiver.subject for waiver in waivers if waiver.rule == rule.policy)),
        )
        for rule in admission_rules()
        if kind in rule.clusters and (environment.policy.registries or not _OPTIONAL.intersection(rule.values))
    )
