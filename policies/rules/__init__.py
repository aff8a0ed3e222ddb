"""Policies by room: one module per violation, with the violation's name. Policies are pure and never import Pulumi."""

from policies.rules.access import escalating_role, excessive_binding, privileged_namespace, self_chosen_partition
from policies.rules.clusters import (
    closed_vm_port,
    emulated_vms,
    incomplete_alert,
    large_vm_disks,
    left_out_add_on,
    overcommitted_namespaces,
    overridden_add_on,
    shared_control_plane_host,
    turns_on_fabric,
    unmatched_monitor,
    unmonitored_component,
    unobserved_component,
    unsized_vm,
)
from policies.rules.deployments import (
    change_in_freeze,
    duplicate_object,
    foreign_region,
    forgetful_provider,
    ignored_changes,
    provider_without_cluster_identifier,
    unlimited_waiver,
)
from policies.rules.hosts import (
    host_beyond_identity,
    missing_template,
    mixed_pool,
    plain_text_bmc,
    template_edited_in_place,
    unverified_bmc,
)
from policies.rules.images import (
    chart_outside_channel,
    deprecated_image,
    fetched_by_tag,
    image_outside_channel,
    unlisted_registry,
    unpinned_image,
    unsigned_image,
)
from policies.verdict import Rule

MODULES = (
    unpinned_image,
    image_outside_channel,
    chart_outside_channel,
    unsigned_image,
    deprecated_image,
    fetched_by_tag,
    unlisted_registry,
    host_beyond_identity,
    unverified_bmc,
    plain_text_bmc,
    template_edited_in_place,
    missing_template,
    mixed_pool,
    duplicate_object,
    provider_without_cluster_identifier,
    forgetful_provider,
    foreign_region,
    ignored_changes,
    self_chosen_partition,
    escalating_role,
    excessive_binding,
    privileged_namespace,
    unmatched_monitor,
    unmonitored_component,
    unobserved_component,
    incomplete_alert,
    left_out_add_on,
    overridden_add_on,
    closed_vm_port,
    emulated_vms,
    unsized_vm,
    large_vm_disks,
    turns_on_fabric,
    shared_control_plane_host,
    overcommitted_namespaces,
    change_in_freeze,
    unlimited_waiver,
)
"""Modules of all policies, in the order of reports."""
RULES: tuple[Rule, ...] = tuple(module.RULE for module in MODULES)
