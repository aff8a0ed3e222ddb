"""Resource names (URNs) of the engine."""

from components.specs.struct import Struct

STACK = "pulumi:pulumi:Stack"
_PROVIDER = "pulumi:providers:"


class Urn(Struct, kw_only=False):
    """A resource name of the engine."""

    text: str

    @property
    def type(self) -> str:
        """Return the type of the resource, without the types of its parents."""
        parts = self.text.split("::")
        return parts[2].rsplit("$", 1)[-1] if len(parts) > 2 else ""  # noqa: PLR2004 - urn:pulumi:stack::project::type::name

    @property
    def name(self) -> str:
        """Return the resource's name."""
        return self.text.split("::", 3)[-1]

    @property
    def kind(self) -> str:
        """Return the last segment of the type, such as ``MachineDeployment``."""
        return self.type.rsplit(":", 1)[-1]

    def __str__(self) -> str:
        """Return kind and name, as messages show a resource."""
        return f"{self.kind} {self.name}"


def is_object(urn: Urn) -> bool:
    """Return whether a resource is an object: not a stack, component or provider."""
    return urn.type != STACK and not urn.type.startswith((_PROVIDER, "jacquard:components:"))
