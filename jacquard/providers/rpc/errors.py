"""Errors in the engine's protocol."""

from collections.abc import Iterable
from typing import NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.struct_pb2 import Struct

from jacquard.providers.errors import ProviderError
from jacquard.providers.rpc.paths import Path, render
from jacquard.providers.rpc.stubs import provider_pb2, status_pb2


def check_failure(path: Path, reason: str) -> provider_pb2.CheckFailure:
    """Return a failure of a Check; ``path`` must exist in the program's inputs, or the engine drops the failure."""
    return provider_pb2.CheckFailure(property=render(path), reason=reason)


class InitFailed(ProviderError):  # noqa: N818 - named like the engine's own message
    """Ends a Create, Update or Read whose resource exists, but not in the requested state.

    The engine then records the resource with these properties, so that the state stays correct and the next run
    continues from there.

    Args:
        message: Failure, in one sentence.
        reasons: Reasons, one sentence each, shown below the message.
        id_: Id of the resource.
        properties: Outputs to record.
        inputs: Inputs to record after a Read. After a Create, the engine records the sent inputs; after an Update, it
            keeps the old inputs. In both cases this value is ignored.
    """

    def __init__(
        self, message: str, *, reasons: Iterable[str], id_: str, properties: Struct, inputs: Struct | None = None
    ) -> None:
        super().__init__(message)
        self.detail = provider_pb2.ErrorResourceInitFailed(
            id=id_, properties=properties, inputs=inputs, reasons=list(reasons)
        )

    def abort(self, context: grpc.ServicerContext) -> NoReturn:
        """End the call with this error and its details."""
        detail = AnyMessage()
        detail.Pack(self.detail)
        code = grpc.StatusCode.UNKNOWN
        status = status_pb2.Status(code=code.value[0], message=str(self), details=[detail])
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(code, str(self))
