"""Promotion of a node pool to an image that fits the pool, in waves within the rollout limits."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NoReturn

from components.intents.images import CHANNEL, find_image, mirror_objections, objections, standing_objections
from components.intents.nodes import offered_image, pinned_image, wanted_intent
from components.intents.succession import day_objections, succession_objections
from components.lookups.pools import place, pool_named, problem
from components.render.pools.template_revisions import newest
from components.rollout.limits import Excess, RolloutLimits
from components.rollout.replacement import replacements, spare_hosts
from components.rollout.soak import shortcomings
from components.rollout.subject import DATA, DeclaredIntent
from components.rollout.waves import PlannedGroup, backwards, excess, waves
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.locks import Wave
from components.specs.pools.intents import Intent, IntentName, NodeIntent
from components.specs.reading.loader import IMAGES, WAIVERS
from components.specs.reading.problems import FORM, ArgumentError, SpecError, listed, suggestion
from components.specs.region.catalog import GoldenImage
from components.specs.region.evidence import Evidence


class PoolSubject:
    """Nodes of one pool.

    Raises:
        SpecError: The pool does not exist.
    """

    section = "groups"
    intent_section = "intents"

    def __init__(self, environment: Environment, pool: str) -> None:
        self._environment, self._placed = environment, pool_named(environment, pool, "POOL")
        self.place = (self._placed.file, (*self._placed.path, "image"))
        self.canary = self._placed.pool.rollout.canary

    @property
    def groups(self) -> Mapping[str, IntentName]:
        """Return the name of the intent of each rollout group of the pool."""
        pins = self._environment.image_pins.groups
        return {key: name for key, name in pins.items() if pool_of(key) == self._placed.key}

    @property
    def canary_rule(self) -> str:
        """Return the rule that requires a separate canary wave, with its size, as message text."""
        nodes = f"{self.canary} node{'' if self.canary == 1 else 's'}"
        return f"rollout.canary of the pool requires a first wave of {nodes}"

    @property
    def intents(self) -> Mapping[IntentName, NodeIntent]:
        """Return the intents of nodes in use, by name."""
        return self._environment.image_pins.intents

    def declared_intent(self, version: str, today: dt.date | None) -> DeclaredIntent:
        """Return the node intent for image ``version``, with all other values from the data.

        Raises:
            SpecError: The image is unknown or not allowed in this pool; all reasons are reported.
        """
        image = self._offered() if version == DATA else self._image(version)
        reasons = self._objections(image, today) + mirror_objections(self._environment, image)
        reasons = reasons or succession_objections(self._environment, self._placed, image)
        if reasons and version != DATA:
            where = place(self._environment, self._placed.file, self._placed.path)
            texts = (f"{reason}{self._remedy(image, reason)}" for reason in reasons)
            raise ArgumentError(self._environment.name, f"--to {version} for {self._placed.key} ({where})", *texts)
        if reasons:
            self._refuse(reasons)
        at = partial(wanted_intent, self._environment, self._placed, image)
        return DeclaredIntent(at=at, newest=newest())

    def unfit(self, intent: Intent, today: dt.date | None) -> Iterable[str]:
        """Return why nodes of the pool may not have ``intent``, regardless of their current intent."""
        image = pinned_image(self._environment, intent) if isinstance(intent, NodeIntent) else None
        if image is None:
            return [f"image {intent.release} is no longer in the catalogue; add it to {IMAGES} again"]
        return self._objections(image, today)

    def planned(self, groups: Iterable[str]) -> Mapping[str, PlannedGroup]:
        """Return the planned change of each of ``groups``: nodes, spare hosts, and how nodes are replaced."""
        spares, how = spare_hosts(self._environment), replacements(self._environment)
        sizes = self._environment.allocations.groups
        return {
            key: PlannedGroup(key=key, nodes=sizes[key].nodes, spares=spares[key], replacement=how[key].reason)
            for key in groups
        }

    def waves(self, limits: RolloutLimits, groups: Sequence[str], canary: int) -> list[list[str]]:
        """Return ``groups`` in waves."""
        return waves(self._environment, limits, groups, canary)

    def excess(self, limits: RolloutLimits, groups: Sequence[str]) -> list[Excess]:
        """Return the limits that ``groups`` exceed together with unsettled waves of other pools."""
        return excess(limits, self._environment.image_pins, self._placed.key, groups)

    def backwards(self, limits: RolloutLimits, groups: Sequence[str], moved: Sequence[str]) -> list[list[str]]:
        """Return ``groups`` in the waves of a rollback."""
        return backwards(limits, groups, moved)

    def shortcomings(self, wave: Wave, target: Intent, evidence: Evidence, *, back: bool) -> Iterator[str]:
        """Yield why ``evidence`` does not prove that the groups of ``wave`` run ``target`` and have soaked."""
        soak = 0 if back else self._placed.pool.rollout.soak_minutes
        if isinstance(target, NodeIntent):
            yield from shortcomings(self._environment.name, self._placed, wave, target, soak, evidence)

    def _image(self, version: str) -> GoldenImage:
        image = find_image(self._environment, version)
        if image is None:
            known = [item.version for item in self._environment.images.images]
            text = f"is not declared in {IMAGES} (declared: {listed(known)}); add it there{suggestion(version, known)}"
            raise ArgumentError(self._environment.name, f"--to {version}", text)
        return image

    def _offered(self) -> GoldenImage:
        image = offered_image(self._environment, self._placed)
        if image is None:
            channel = self._environment.region.image_channel
            self._refuse(
                [f"no image of channel {channel} fits this pool; add one to {IMAGES}, or select one with --to"]
            )
        return image

    def _objections(self, image: GoldenImage, today: dt.date | None) -> list[str]:
        placed = self._placed
        reasons = [*objections(self._environment, image, placed.cluster, placed.pool), *day_objections(image, today)]
        if placed.pool.image not in {CHANNEL, image.version}:
            reasons.append(
                f"this pool declares image {placed.pool.image}; write {image.version} or {CHANNEL} here first"
            )
        return reasons

    def _remedy(self, image: GoldenImage, reason: str) -> str:
        """Return the rule and the remedy of an objection to a requested image; empty if it contains a remedy."""
        if ";" in reason:
            return ""
        environment, placed = self._environment, self._placed
        rule = standing_objections(environment, image, placed.cluster, placed.pool).get(reason, FORM)
        if rule == FORM:
            return f"; select another image: jacquard show {environment.name} images"
        where = place(environment, IMAGES, ("images", environment.images.images.index(image), "channel"))
        channel = environment.region.image_channel
        return (
            f" ({rule}); add {channel} to its channel in {where}, or a waiver of {rule} for {placed.key} to {WAIVERS}"
        )

    def _refuse(self, reasons: Iterable[str]) -> NoReturn:
        file, path = self.place
        problems = [problem(self._environment, file, path, reason) for reason in reasons]
        raise SpecError(self._environment.name, problems)
