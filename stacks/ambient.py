"""No object goes to a cluster that nobody named, whatever registers it: a component of ours or code of a repository.

The vendor's Kubernetes provider takes the ambient cluster where it is given none, of ``KUBECONFIG`` or of the pod that
it runs in, and so does the engine's default provider for objects that name no provider.
"""

from __future__ import annotations

import pulumi

_OBJECT, _PROVIDER = "kubernetes:", "pulumi:providers:kubernetes"
_NO_KUBECONFIG = "has no kubeconfig", "give it kubeconfig= with the whole path of the file that reaches its cluster"
_NO_PROVIDER = "names no provider", "give it provider= with one whose kubeconfig names its cluster"


def refuse_ambient_clusters() -> None:
    """Let the program end with what registers an object without a cluster, from here on."""
    pulumi.runtime.register_stack_transformation(_refuse)


def _refuse(
    resource: pulumi.ResourceTransformationArgs,
) -> pulumi.ResourceTransformationResult | None:
    if resource.opts.urn:
        return None  # read back from a component that the provider made: nothing is registered
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
    return f"{kind} '{name}' {what}, so it would go to whatever cluster is ambient; {remedy}"
