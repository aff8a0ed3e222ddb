"""Intents of nodes, declared in the data and pinned in the lock file.

You can edit the data at any time. Only ``jacquard promote`` changes pins. Until the promotion, a pool whose pins differ
from the data is reported as out of date.
"""

from collections.abc import Mapping

from components.intents.differences import At, Difference, differences
from components.intents.images import CHANNEL, choose_image, doca_fits, find_image
from components.intents.node_networks import wanted_network
from components.intents.succession import is_newer
from components.lookups.pools import DataPath, PlacedPool, pools
from components.render.health.quarantine import BURN_IN
from components.render.pools.template_revisions import newest
from components.specs.environment import Environment
from components.specs.hosts.firmware import Firmware
from components.specs.pools.intents import NodeIntent
from components.specs.pools.node_pool import BurnIn, TaintSpec
from components.specs.reading.loader import FIRMWARE, IMAGES, INSTANCE_TYPES, REGION
from components.specs.region.catalog import GoldenImage
from components.specs.region.region import RegionSpec

_OF_IMAGE = frozenset({"url", "sha256", "boot", "kubelet", "firmware"})
"""Fields that the image determines."""


def wanted_intent(
    environment: Environment, placed: PlacedPool, image: GoldenImage, revision: int | None = None
) -> NodeIntent:
    """Return the intent that the data declare for nodes of ``placed`` with ``image``.

    The default is the newest template revision. Other fields do not depend on the revision. A pool that sets a field
    which its pinned revision does not render is out of date until it is promoted.
    """
    region, kind = environment.region, environment.instance_types.by_name[placed.pool.instance_type]
    cluster, rollout = placed.cluster, placed.pool.rollout
    return NodeIntent(
        revision=newest() if revision is None else revision,
        image=image.version,
        url=image.url,
        sha256=image.sha256,
        boot=image.boot,
        kubelet=image.contents.kubelet,
        control_planes=region.control_planes.backend,
        bare_metal=region.bare_metal.backend,
        max_pods=kind.max_pods if cluster.max_pods is None else cluster.max_pods,
        taints=(*placed.pool.taints, *_startup_taints(environment, placed)),
        kubelet_configuration=cluster.kubelet.configuration(),
        firmware=_firmware(environment, image),
        mirror=_mirror(region),
        upstreams=region.registry.upstreams if region.registry and region.registry.nodes else (),
        network=wanted_network(environment, placed, image.boot),
        gpu_sharing=placed.pool.gpu_sharing,
        dual_stack=placed.dual_stack or None,
        after=rollout.after,
    )


def _startup_taints(environment: Environment, placed: PlacedPool) -> tuple[TaintSpec, ...]:
    """Return the taint that new nodes keep until their burn-in has passed."""
    nodes, gated = environment.region.nodes, placed.pool.health.burn_in is BurnIn.GATED
    return (TaintSpec.model_validate(BURN_IN),) if gated and nodes.tests and nodes.burn_in is None else ()


def pinned_image(environment: Environment, intent: NodeIntent) -> GoldenImage | None:
    """Return the image of ``intent``: the catalogue entry, overridden by the values pinned in the lock file.

    None if the image is no longer in the catalogue.
    """
    image = find_image(environment, intent.image)
    if image is None:
        return None
    contents = image.contents.model_copy(update={"kubelet": intent.kubelet})
    pinned = {"url": intent.url, "sha256": intent.sha256, "boot": intent.boot, "contents": contents}
    return image.model_copy(update=pinned | {"firmware": intent.firmware and intent.firmware.name})


def used_images(environment: Environment) -> list[tuple[int, GoldenImage]]:
    """Return the images that nodes run or that pools name, each with its index in the catalogue."""
    pins = environment.image_pins
    names = {pins.intents[name].image for name in pins.groups.values()}
    names |= {placed.pool.image for placed in pools(environment)}
    return [(index, image) for index, image in enumerate(environment.images.images) if image.version in names]


def unfit_for_doca(environment: Environment, doca: str) -> list[tuple[int, GoldenImage]]:
    """Return the images of `used_images` whose DOCA release is incompatible with ``doca`` on a DPU."""
    used = used_images(environment)
    return [(index, image) for index, image in used if not doca_fits(image.contents.doca, doca)]


def intents_of(environment: Environment, pool: str) -> dict[str, NodeIntent]:
    """Return the intent of each rollout group of ``pool`` (``cluster/pool``), in the order of the lock file."""
    pins = environment.image_pins
    return {key: pins.intents[name] for key, name in pins.groups_by_pool.get(pool, {}).items()}


def behind(environment: Environment, placed: PlacedPool, offered: GoldenImage) -> tuple[Difference, ...]:
    """Return the fields in which the nodes of ``placed`` are out of date; empty if they match the data.

    During a rollout its target intent is compared.

    Args:
        environment: environment whose data declare the expected intent.
        placed: pool to compare.
        offered: `offered_image` of the pool; rules report a pool without one.
    """
    intent = standing_intent(environment, placed)
    if intent is None:
        return ()
    wanted = wanted_intent(environment, placed, offered, intent.revision)
    return differences(environment, intent, wanted, _places(environment, placed, offered), _OF_IMAGE)


def standing_intent(environment: Environment, placed: PlacedPool) -> NodeIntent | None:
    """Return the pinned intent of ``placed``, or the target of its open rollout; None for a pool without nodes."""
    pins, opened = environment.image_pins, environment.image_pins.rollouts.get(placed.key)
    name = opened.to if opened else min(pins.groups_by_pool.get(placed.key, {}).values(), default=None)
    return pins.intents[name] if name else None


def offered_image(environment: Environment, placed: PlacedPool) -> GoldenImage | None:
    """Return the image that the data declare for ``placed``: the named image, or the channel's newest suitable image.

    A pool whose current image is newer than all images of its channel keeps the current image.
    """
    offered, intent = choose_image(environment, placed.cluster, placed.pool), standing_intent(environment, placed)
    running = find_image(environment, intent.image) if intent else None
    if running and placed.pool.image == CHANNEL and not (offered and is_newer(offered, running)):
        return running
    return offered


def _places(environment: Environment, placed: PlacedPool, image: GoldenImage) -> Mapping[str, At]:
    """Return the file and path of the value in the data that determines each field of an intent."""
    catalog = environment.images.images
    entry: DataPath = ("images", catalog.index(image))
    types = environment.instance_types.instance_types
    kind = types.index(environment.instance_types.by_name[placed.pool.instance_type])
    cluster = placed.path[:2]
    of_cluster = placed.cluster.max_pods is not None
    named = placed.pool.image != CHANNEL
    return {
        "image": (placed.file, (*placed.path, "image")) if named else (IMAGES, (*entry, "version")),
        **{name: (IMAGES, (*entry, name)) for name in ("url", "sha256", "boot")},
        "kubelet": (IMAGES, (*entry, "contents", "kubelet")),
        "control_planes": (REGION, ("control_planes", "backend")),
        "bare_metal": (REGION, ("bare_metal", "backend")),
        "max_pods": (placed.file, (*cluster, "max_pods"))
        if of_cluster
        else (INSTANCE_TYPES, ("instance_types", kind, "max_pods")),
        "taints": (placed.file, (*placed.path, "taints")),
        "kubelet_configuration": (placed.file, (*cluster, "kubelet")),
        "firmware": _firmware_at(environment, image, entry),
        "mirror": (REGION, ("registry", "mirror")),
        "upstreams": (REGION, ("registry", "cache", "upstreams")),
        "network": (REGION, ("nodes", "addresses")),
        "gpu_sharing": (placed.file, (*placed.path, "gpu_sharing")),
        "dual_stack": (placed.file, ("vpcs",)),
        "after": (placed.file, (*placed.path, "rollout", "after")),
    }


def _firmware(environment: Environment, image: GoldenImage) -> Firmware | None:
    baselines = environment.firmware.firmware_baselines
    return next((baseline.content for baseline in baselines if baseline.name == image.firmware), None)


def _mirror(region: RegionSpec) -> str | None:
    return region.registry.mirror if region.registry and region.registry.nodes else None


def _firmware_at(environment: Environment, image: GoldenImage, entry: DataPath) -> At:
    names = [baseline.name for baseline in environment.firmware.firmware_baselines]
    if image.firmware in names:
        return FIRMWARE, ("firmware_baselines", names.index(image.firmware))
    return IMAGES, (*entry, "firmware")
