"""Names of resources in the engine."""

from __future__ import annotations

from dataclasses import dataclass

STACK = "pulumi:pulumi:Stack"
_PROVIDER = "pulumi:providers:"


@dataclass(frozen=True, slots=True)
class Urn:
    """A resource's name in the engine."""

    text: str

    @property
    def type(self) -> str:
        """Return the resource's own type, without its parents'."""
        parts = self.text.split("::")
        return parts[2].rsplit("$", 1)[-1] if len(parts) > 2 else ""  # noqa: PLR2004 - urn:pulumi:stack::project::type::name

    @property
    def name(self) -> str:
        """Return the resource's name."""
        return self.text.split("::", 3)[-1]

    @property
    def kind(self) -> str:
        """Return the last word of the type, such as ``MachineDeployment``."""
        return self.type.rsplit(":", 1)[-1]

    def __str__(self) -> str:
        """Return kind and name, as messages quote a resource."""
        return f"{self.kind} {self.name}"


def is_object(urn: Urn) -> bool:
    """Tell whether a resource is more than a frame for others: no stack, component or provider."""
    return urn.type != STACK and not urn.type.startswith((_PROVIDER, "jacquard:components:"))
