"""Policies: one module per violation, with the violation's name. Policies are pure and never import Pulumi."""

from policies.rules import (
    change_in_freeze,
    chart_outside_channel,
    closed_vm_port,
    deprecated_image,
    emulated_vms,
    fetched_by_tag,
    host_beyond_identity,
    image_outside_channel,
    left_out_add_on,
    overcommitted_namespaces,
    overridden_add_on,
    provider_without_cluster_identifier,
    self_chosen_partition,
    template_edited_in_place,
    turns_on_fabric,
    unpinned_image,
    unsigned_image,
    unverified_bmc,
)
from policies.verdict import Rule

RULES: tuple[Rule, ...] = (
    unpinned_image.RULE,
    image_outside_channel.RULE,
    chart_outside_channel.RULE,
    unsigned_image.RULE,
    deprecated_image.RULE,
    fetched_by_tag.RULE,
    host_beyond_identity.RULE,
    unverified_bmc.RULE,
    template_edited_in_place.RULE,
    provider_without_cluster_identifier.RULE,
    self_chosen_partition.RULE,
    left_out_add_on.RULE,
    overridden_add_on.RULE,
    closed_vm_port.RULE,
    emulated_vms.RULE,
    turns_on_fabric.RULE,
    overcommitted_namespaces.RULE,
    change_in_freeze.RULE,
)
