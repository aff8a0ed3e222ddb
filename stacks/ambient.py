"""Rejects objects without an explicit cluster, from Jacquard's components and from extensions.

Without a configured cluster, the vendor's Kubernetes provider uses the ambient cluster, from ``KUBECONFIG`` or from the
pod in which it runs. The engine's default provider, for objects without a provider, does the same.
"""

import pulumi

_OBJECT, _PROVIDER = "kubernetes:", "pulumi:providers:kubernetes"
_NO_KUBECONFIG = "has no kubeconfig", "set kubeconfig= to the absolute path of the cluster's kubeconfig"
_NO_PROVIDER = "has no provider", "set provider= to a provider whose kubeconfig names its cluster"


def refuse_ambient_clusters() -> None:
    """From now on, make the program fail if it registers an object without a cluster."""
    pulumi.runtime.register_stack_transformation(_refuse)


def _refuse(
    resource: pulumi.ResourceTransformationArgs,
) -> pulumi.ResourceTransformationResult | None:
    if resource.opts.urn:
        return None  # The resource is read back from a component of the provider: nothing is registered.
    if resource.type_ == _PROVIDER and not resource.props.get("kubeconfig"):
        raise pulumi.RunError(_message("provider", resource.name, *_NO_KUBECONFIG))
    if resource.type_.startswith(_OBJECT) and not _has_provider(resource):
        raise pulumi.RunError(_message(resource.type_.rpartition(":")[2], resource.name, *_NO_PROVIDER))
    return None


def _has_provider(resource: pulumi.ResourceTransformationArgs) -> bool:
    opts = resource.opts
    parent = opts.parent.get_provider(resource.type_) if opts.parent else None
    return bool(opts.provider or opts.providers or parent)


def _message(kind: str, name: str, what: str, remedy: str) -> str:
    return f"{kind} '{name}' {what}, so it would be created in the ambient cluster; {remedy}"
