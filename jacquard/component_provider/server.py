"""Entry point of ``pulumi-resource-jacquard-components``, which the engine starts."""

import sys
from importlib.metadata import version
from typing import Any

from pulumi.provider import ConstructResult
from pulumi.provider import main as serve
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.resource import ResourceOptions

from jacquard.component_provider.components import COMPONENTS, PACKAGE, classes, find


class Provider(ComponentProvider):
    """Provider of the components, which reports wrong arguments as errors of properties, without a stack trace."""

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: ResourceOptions | None = None
    ) -> ConstructResult:
        """Register a component and its objects.

        Raises:
            InputPropertyError: an argument is missing or wrong, or the data are invalid.
        """
        self.validate_resource_type(PACKAGE, resource_type)
        kind = resource_type.rsplit(":", maxsplit=1)[-1]
        arguments: Any = self.map_inputs(inputs, self._component_defs[kind])
        find(COMPONENTS[kind], arguments)
        return super().construct(name, resource_type, inputs, options)


def main() -> None:
    """Serve the components until the engine exits."""
    serve(Provider([*classes()], PACKAGE, version=version("jacquard")), sys.argv[1:])


if __name__ == "__main__":
    main()
