"""Create, update, read and delete of one object against its API server."""

import threading
from collections.abc import Mapping
from typing import Any, Literal

from jacquard.lab.standins.kubernetes.cluster import NoKubeconfig
from jacquard.lab.standins.kubernetes.config import Config
from jacquard.lab.standins.kubernetes.failures import PartialFailure, already_there, refused, unreachable
from jacquard.lab.standins.kubernetes.handover import foresee, take_over
from jacquard.lab.standins.kubernetes.objects import bodies, takeover
from jacquard.lab.standins.kubernetes.objects.kept import Before, Found
from jacquard.lab.standins.kubernetes.objects.normal import with_dashes
from jacquard.lab.standins.kubernetes.objects.patches import give_back, made_by_it
from jacquard.lab.standins.kubernetes.objects.takeover import Move
from jacquard.lab.standins.kubernetes.objects.tokens import is_patch
from jacquard.lab.standins.kubernetes.waits import Wait, skips_wait_on_delete
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ApiError, ApiServer, KindNotFound, KubeconfigError, ObjectRef, Unreachable
from jacquard.providers.kube.wait import WaitCancelled, WaitTimeout, wait_gone
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
    """What the provider does with single objects. Every method may be called from any thread."""

    def __init__(self, config: Config, engine: Engine, cancelled: threading.Event) -> None:
        self._config = config
        self._engine = engine
        self._cancelled = cancelled
        self._said_unchecked = threading.Event()

    def plan(self, urn: str, inputs: Properties, before: Before = _NOTHING) -> dict[str, Any]:
        """Return the outputs that an apply will give, from the API server's dry-run where that is possible.

        It is not while an input is unknown, or the cluster, the namespace or the kind is still to come: then from the
        inputs alone.

        Args:
            urn: of the resource.
            inputs: the new inputs.
            before: what the state has before an update.

        Raises:
            ProviderError: the API server would refuse the object.
        """
        body, old = inputs.plain, before.outputs
        name = bodies.manager(urn, body, old)
        if inputs.unknowns:
            return bodies.planned(body, old, name)
        ref = bodies.reference(body, old)
        try:
            live = self._dry_run(urn, self._config.cluster.api(), body, ref, name, before)
        except (NoKubeconfig, Unreachable) as error:
            self._say_unchecked(error)
            live = body
        except ApiError as error:
            if not error.not_found and error.status != _FORBIDDEN:
                raise refused(error, ref, urn) from None
            live = body
        return bodies.planned(live, old, name)

    def create(self, urn: str, inputs: Properties, seconds: float) -> dict[str, Any]:
        """Make the object, wait until it is ready, and return its outputs.

        An object that is there already is refused, unless this very resource made it in a run that was killed before
        it could record it, or somebody said that what is there is taken over.

        Raises:
            PartialFailure: it is there but not ready.
            ProviderError: the API server refuses it.
        """
        body = inputs.plain
        ref, name = bodies.reference(body), bodies.manager(urn, body)
        wait = Wait(body, ref, seconds)
        api = self._config.cluster.api()
        try:
            found = api.get(ref)
            if found is not None and found["metadata"].get("deletionTimestamp"):
                self._until_gone(api, ref, found["metadata"]["uid"], wait.seconds)
                found = None
            if found is not None and not _may_apply(urn, body, found):
                if not self._adopts(found):
                    raise already_there(ref, found)
                self._say_taken(urn, ref, take_over(api, ref, name, (body,)))
            live = self._apply(urn, api, body, name)
        except ApiError as error:
            raise refused(error, ref, urn) from None
        return self._when_ready(urn, api, wait, body, live, name)

    def update(self, urn: str, inputs: Properties, before: Before, seconds: float) -> dict[str, Any]:
        """Apply new inputs, wait until the object is ready, and return its outputs.

        Raises:
            PartialFailure: it was changed but is not ready.
            ProviderError: the API server refuses the change, or other managers own a field.
        """
        body, old = inputs.plain, before.outputs
        ref, name = bodies.reference(body, old), bodies.manager(urn, body, old)
        try:
            api = self._config.cluster.api()
            if not is_patch(urn, body):
                self._say_taken(urn, ref, take_over(api, ref, name, (before.inputs, body)))
            live = self._apply(urn, api, body, name)
        except (NoKubeconfig, Unreachable) as error:
            if not self._config.skip_update_unreachable:
                raise unreachable(error, f"{ref} cannot be updated") from None
            self._engine.warning(f"{ref} is not updated, its last state is kept: {error}", urn)
            return dict(old)
        except ApiError as error:
            raise refused(error, ref, urn) from None
        return self._when_ready(urn, api, Wait(body, ref, seconds), body, live, name, old)

    def read(self, urn: str, ref: ObjectRef, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Found | None:
        """Return the object as it is now, or None when it is gone.

        Raises:
            PartialFailure: it is there but not ready.
            ProviderError: the cluster does not answer.
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
        given = dict(inputs) or bodies.imported(live)
        drifted = bodies.overlay(given, with_dashes(state or live), live)
        kept = bodies.outputs(live, name, drifted, state)
        found = Found(identity=bodies.identity(live), outputs=kept, inputs=drifted)
        missing = Wait(given, ref).missing(api, live)
        if missing and inputs:
            message = f"{ref} is not ready"
            raise PartialFailure(
                message, identity=found.identity, outputs=found.outputs, inputs=found.inputs, reasons=missing
            )
        return found

    def delete(
        self, urn: str, ref: ObjectRef, inputs: Mapping[str, Any], state: Mapping[str, Any], seconds: float
    ) -> None:
        """Delete the object and wait until it is gone.

        Raises:
            ProviderError: it is held by finalizers, was made anew by someone else, or the cluster does not answer.
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
                raise _made_anew(ref)
            api.delete(ref, propagation=policy, uid=uid)
            if not skips_wait_on_delete(inputs):
                self._until_gone(api, ref, uid, Wait(inputs, ref, seconds).seconds)
        except KindNotFound:
            return
        except (KubeconfigError, Unreachable) as error:
            if not self._config.delete_unreachable:
                raise unreachable(error, f"{ref} cannot be deleted") from None
            self._engine.warning(f"{ref} is dropped from the state without being deleted: {error}", urn)
        except ApiError as error:
            if error.status == _CONFLICT:
                raise _made_anew(ref) from None
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
        """Return what the API server would make of ``body``; a create over something that is there cannot be asked."""
        found = api.get(ref)
        patch = is_patch(urn, body)
        if found is None and patch:
            self._engine.warning(made_by_it(ref), urn)
        if found is None or patch:
            return self._apply(urn, api, body, name, dry_run=True)
        leaving = found["metadata"].get("deletionTimestamp")
        foreign = not leaving and not _may_apply(urn, body, found)
        if before.outputs or (foreign and self._adopts(found)):
            move = takeover.moved(found, name, (before.inputs, body))
            self._say_taken(urn, ref, move)
            return foresee(api, found, bodies.marked(body, urn), name, move, force=_forced(body))
        if foreign:
            self._engine.warning(str(already_there(ref, found)), urn)
        return body

    def _adopts(self, found: Mapping[str, Any]) -> bool:
        return self._config.adopts and not bodies.annotation(found, MADE_BY)

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
            why = f"{wait.ref} is being deleted by someone else; run `pulumi up` again once it is gone"
            raise failed([why], live, why)
        if str(wait):
            self._engine.info(f"waiting for {wait}", urn, ephemeral=True)
        try:
            live = wait.until_ready(api, live, self._cancelled)
        except WaitTimeout as error:
            last = error.last if error.last and error.last["kind"] == live["kind"] else live
            raise failed([str(error)], last, str(error)) from None
        except (WaitCancelled, ApiError) as error:
            raise failed([str(error)], live, str(error)) from None
        return bodies.outputs(live, name, body, old)

    def _say_taken(self, urn: str, ref: ObjectRef, move: Move | None) -> None:
        if move and move.from_hands:
            managers = ", ".join(move.from_hands)
            self._engine.warning(f"{ref}: what the program declares is taken over from {managers}", urn)

    def _say_unchecked(self, error: ProviderError) -> None:
        """Say once for the whole cluster, not for each of its objects, that a plan is made without it."""
        if not self._said_unchecked.is_set():
            self._said_unchecked.set()
            self._engine.warning(f"objects are planned without being checked against their cluster: {error}")

    def _unread(
        self, urn: str, ref: ObjectRef, inputs: Mapping[str, Any], state: Mapping[str, Any], error: ProviderError
    ) -> Found | None:
        if self._config.delete_unreachable:
            self._engine.warning(f"{ref} is dropped from the state: {error}", urn)
            return None
        if self._config.skip_update_unreachable and state:
            self._engine.warning(f"{ref} is not refreshed, its last state is kept: {error}", urn)
            return Found(identity=bodies.identity(state), outputs=state, inputs=inputs)
        raise unreachable(error, f"{ref} cannot be read") from None


def _may_apply(urn: str, body: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    return is_patch(urn, body) or bodies.is_made_by(found, body, urn)


def _forced(body: Mapping[str, Any]) -> bool:
    return bodies.annotation(body, bodies.PATCH_FORCE) == "true"


def _made_anew(ref: ObjectRef) -> ProviderError:
    return ProviderError(
        f"{ref} was deleted and made anew by someone else, so it is left alone; "
        "run `pulumi refresh` to take it over, or `pulumi state delete` to forget it"
    )
