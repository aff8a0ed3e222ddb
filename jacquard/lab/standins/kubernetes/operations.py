"""Create, update, read and delete of single objects at their API server."""

import threading
from collections.abc import Mapping
from typing import Any, Literal

from jacquard.lab.standins.kubernetes.cluster import NoKubeconfig
from jacquard.lab.standins.kubernetes.config import Config
from jacquard.lab.standins.kubernetes.failures import PartialFailure, already_there, refused, unreachable
from jacquard.lab.standins.kubernetes.handover import foresee, take_over
from jacquard.lab.standins.kubernetes.objects import bodies, takeover
from jacquard.lab.standins.kubernetes.objects.kept import Before, ReadResult
from jacquard.lab.standins.kubernetes.objects.normal import with_dashes
from jacquard.lab.standins.kubernetes.objects.patches import give_back, made_by_it
from jacquard.lab.standins.kubernetes.objects.takeover import Move
from jacquard.lab.standins.kubernetes.objects.tokens import is_patch
from jacquard.lab.standins.kubernetes.waits import Wait, skips_wait_on_delete
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, KubeconfigError, ObjectRef, Unreachable
from jacquard.providers.kube.wait import NotReached, WaitCancelled, wait_gone
from jacquard.providers.ownership import MADE_BY
from jacquard.providers.rpc.server import Engine
from jacquard.providers.rpc.values import Properties

PROPAGATION = "pulumi.com/deletionPropagationPolicy"

_PROPAGATIONS: dict[str, Literal["Background", "Foreground", "Orphan"]] = {
    "background": "Background",
    "foreground": "Foreground",
    "orphan": "Orphan",
}
_FORBIDDEN = 403
_CONFLICT = 409


_NOTHING = Before({}, {})


class Operations:
    """Operations of the provider on single objects. All methods are thread-safe."""

    def __init__(self, config: Config, engine: Engine, cancelled: threading.Event) -> None:
        self._config = config
        self._engine = engine
        self._cancelled = cancelled
        self._has_warned = threading.Event()

    def plan(self, urn: str, inputs: Properties, before: Before = _NOTHING) -> dict[str, Any]:
        """Return the expected outputs of an apply, by a dry run at the API server if possible.

        The outputs are derived from the inputs if an input is unknown, or the cluster, namespace or kind does not exist
        yet.

        Args:
            urn: URN of the resource.
            inputs: the new inputs.
            before: the recorded object before an update.

        Raises:
            ProviderError: the API server would reject the object.
        """
        body, old = inputs.plain, before.outputs
        name = bodies.manager(urn, body, old)
        if inputs.unknowns:
            return bodies.planned(body, old, name)
        ref = bodies.reference(body, old)
        try:
            live = self._dry_run(urn, self._config.cluster.api(), body, ref, name, before)
        except (NoKubeconfig, Unreachable) as error:
            self._warn_unchecked(error)
            live = body
        except ApiError as error:
            if not error.not_found and error.status != _FORBIDDEN:
                raise refused(error, ref, urn) from None
            live = body
        return bodies.planned(live, old, name)

    def create(self, urn: str, inputs: Properties, seconds: float) -> dict[str, Any]:
        """Create the object, wait until it is ready, and return its outputs.

        An existing object is rejected, unless the same resource created the object in a run that ended before recording
        it, or the provider adopts existing objects.

        Raises:
            PartialFailure: the object exists, but is not ready.
            ProviderError: the API server rejects the object.
        """
        body = inputs.plain
        ref, name = bodies.reference(body), bodies.manager(urn, body)
        wait = Wait(body, ref, seconds)
        api = self._config.cluster.api()
        try:
            existing = api.get(ref)
            if existing is not None and existing["metadata"].get("deletionTimestamp"):
                self._until_gone(api, ref, existing["metadata"]["uid"], wait.seconds)
                existing = None
            if existing is not None and not _may_apply(urn, body, existing):
                if not self._adopts(existing):
                    raise already_there(ref, existing)
                self._warn_taken_over(urn, ref, take_over(api, ref, name, (body,)))
            live = self._apply(urn, api, body, name)
        except ApiError as error:
            raise refused(error, ref, urn) from None
        return self._when_ready(urn, api, wait, body, live, name)

    def update(self, urn: str, inputs: Properties, before: Before, seconds: float) -> dict[str, Any]:
        """Apply new inputs, wait until the object is ready, and return its outputs.

        Raises:
            PartialFailure: the object was updated, but is not ready.
            ProviderError: the API server rejects the update, or another manager owns a field.
        """
        body, old = inputs.plain, before.outputs
        ref, name = bodies.reference(body, old), bodies.manager(urn, body, old)
        try:
            api = self._config.cluster.api()
            if not is_patch(urn, body):
                self._warn_taken_over(urn, ref, take_over(api, ref, name, (before.inputs, body)))
            live = self._apply(urn, api, body, name)
        except (NoKubeconfig, Unreachable) as error:
            if not self._config.skip_update_unreachable:
                raise unreachable(error, f"{ref} cannot be updated") from None
            self._engine.warning(f"{ref} is not updated, its last state is kept: {error}", urn)
            return dict(old)
        except ApiError as error:
            raise refused(error, ref, urn) from None
        return self._when_ready(urn, api, Wait(body, ref, seconds), body, live, name, old)

    def read(self, urn: str, ref: ObjectRef, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> ReadResult | None:
        """Return the current object, or None if it does not exist.

        Raises:
            PartialFailure: the object exists, but is not ready.
            ProviderError: the cluster does not respond.
        """
        try:
            api = self._config.cluster.api()
            live = api.get(ref)
        except KindNotFound:
            return None
        except (KubeconfigError, Unreachable) as error:
            return self._unread(urn, ref, inputs, state, error)
        if live is None:
            return None
        name = bodies.manager(urn, inputs, state)
        recorded = dict(inputs) or bodies.imported(live)
        drifted = bodies.overlay(recorded, with_dashes(state or live), live)
        outputs = bodies.outputs(live, name, drifted, state)
        result = ReadResult(identity=bodies.identity(live), outputs=outputs, inputs=drifted)
        missing = Wait(recorded, ref).missing(api, live)
        if missing and inputs:
            message = f"{ref} is not ready"
            raise PartialFailure(
                message, identity=result.identity, outputs=result.outputs, inputs=result.inputs, reasons=missing
            )
        return result

    def delete(
        self, urn: str, ref: ObjectRef, inputs: Mapping[str, Any], state: Mapping[str, Any], seconds: float
    ) -> None:
        """Delete the object and wait until it is gone.

        Raises:
            ProviderError: finalizers block the deletion, another client recreated the object, or the cluster does not
                respond.
        """
        policy = _PROPAGATIONS.get(bodies.annotation(inputs, PROPAGATION).lower(), "Foreground")
        try:
            api = self._config.cluster.api()
            live = api.get(ref)
            if live is None:
                return
            if is_patch(urn, inputs):
                give_back(api, ref, live, bodies.manager(urn, inputs, state))
                return
            uid = (state.get("metadata") or {}).get("uid") or live["metadata"]["uid"]
            if uid != live["metadata"]["uid"]:
                raise _recreated(ref)
            api.delete(ref, propagation=policy, uid=uid)
            if not skips_wait_on_delete(inputs):
                self._until_gone(api, ref, uid, Wait(inputs, ref, seconds).seconds)
        except KindNotFound:
            return
        except (KubeconfigError, Unreachable) as error:
            if not self._config.delete_unreachable:
                raise unreachable(error, f"{ref} cannot be deleted") from None
            self._engine.warning(f"{ref} is removed from the state without being deleted: {error}", urn)
        except ApiError as error:
            if error.status == _CONFLICT:
                raise _recreated(ref) from None
            raise refused(error, ref, urn) from None

    def _dry_run(
        self,
        urn: str,
        api: ApiServer,
        body: Mapping[str, Any],
        ref: ObjectRef,
        name: str,
        before: Before,
    ) -> Mapping[str, Any]:
        """Return the result of a dry run of ``body``; for a create of an existing object, return ``body`` itself."""
        live = api.get(ref)
        patch = is_patch(urn, body)
        if live is None and patch:
            self._engine.warning(made_by_it(ref), urn)
        if live is None or patch:
            return self._apply(urn, api, body, name, dry_run=True)
        is_terminating = live["metadata"].get("deletionTimestamp")
        foreign = not is_terminating and not _may_apply(urn, body, live)
        if before.outputs or (foreign and self._adopts(live)):
            move = takeover.moved(live, name, (before.inputs, body))
            self._warn_taken_over(urn, ref, move)
            return foresee(api, live, bodies.marked(body, urn), name, move, force=_forced(body))
        if foreign:
            self._engine.warning(str(already_there(ref, live)), urn)
        return body

    def _adopts(self, live: Mapping[str, Any]) -> bool:
        return self._config.adopts and not bodies.annotation(live, MADE_BY)

    def _apply(
        self, urn: str, api: ApiServer, body: Mapping[str, Any], name: str, *, dry_run: bool = False
    ) -> dict[str, Any]:
        return api.apply(bodies.marked(body, urn), field_manager=name, dry_run=dry_run, force=_forced(body))

    def _until_gone(self, api: ApiServer, ref: ObjectRef, uid: str, seconds: float) -> None:
        wait_gone(api, ref, uid=uid, timeout_seconds=seconds, cancelled=self._cancelled)

    def _when_ready(
        self,
        urn: str,
        api: ApiServer,
        wait: Wait,
        body: Mapping[str, Any],
        live: dict[str, Any],
        name: str,
        old: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        def failed(reasons: list[str], last: dict[str, Any], message: str) -> PartialFailure:
            return PartialFailure(
                message,
                identity=bodies.identity(last),
                outputs=bodies.outputs(last, name, body, old),
                inputs=body,
                reasons=reasons,
            )

        if live["metadata"].get("deletionTimestamp"):
            reason = f"{wait.ref} is being deleted by another client; run `pulumi up` again after its deletion"
            raise failed([reason], live, reason)
        if str(wait):
            self._engine.info(f"waiting for {wait}", urn, ephemeral=True)
        try:
            live = wait.until_ready(api, live, self._cancelled)
        except NotReached as error:
            last = error.last if error.last and error.last["kind"] == live["kind"] else live
            raise failed([str(error)], last, str(error)) from None
        except (WaitCancelled, ApiError) as error:
            raise failed([str(error)], live, str(error)) from None
        return bodies.outputs(live, name, body, old)

    def _warn_taken_over(self, urn: str, ref: ObjectRef, move: Move | None) -> None:
        if move and move.from_hands:
            managers = ", ".join(move.from_hands)
            self._engine.warning(f"{ref}: ownership of the declared fields moves from {managers} to this resource", urn)

    def _warn_unchecked(self, error: ProviderError) -> None:
        """Warn once per cluster, instead of once per object, that plans are made without the cluster."""
        if not self._has_warned.is_set():
            self._has_warned.set()
            self._engine.warning(f"objects are planned without validation by their cluster: {error}")

    def _unread(
        self, urn: str, ref: ObjectRef, inputs: Mapping[str, Any], state: Mapping[str, Any], error: ProviderError
    ) -> ReadResult | None:
        if self._config.delete_unreachable:
            self._engine.warning(f"{ref} is removed from the state: {error}", urn)
            return None
        if self._config.skip_update_unreachable and state:
            self._engine.warning(f"{ref} is not refreshed, its last state is kept: {error}", urn)
            return ReadResult(identity=bodies.identity(state), outputs=state, inputs=inputs)
        raise unreachable(error, f"{ref} cannot be read") from None


def _may_apply(urn: str, body: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    return is_patch(urn, body) or bodies.is_made_by(live, body, urn)


def _forced(body: Mapping[str, Any]) -> bool:
    return bodies.annotation(body, bodies.PATCH_FORCE) == "true"


def _recreated(ref: ObjectRef) -> ProviderError:
    return ProviderError(
        f"{ref} was deleted and recreated by another client; "
        "run `pulumi refresh` to adopt it, or `pulumi state delete` to remove it from the state"
    )
