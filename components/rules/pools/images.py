"""Golden images: what they must fit beside their pool, and how long they may run."""

from __future__ import annotations

from collections.abc import Iterator

from components.intents.images import CHANNEL, MAX_DOCA_MINORS, find_image, mirror_objections, standing_objections
from components.intents.nodes import unfit_for_doca
from components.lookups.pools import place, pools, problem
from components.rules.references import lost_types, undeclared
from components.specs.environment import Environment
from components.specs.reading.loader import FIRMWARE, IMAGES, INSTANCE_TYPES, REGION
from components.specs.reading.problems import FORM, Problem, listed

NIC = "nic"
"""Component of a firmware baseline that drivers of an image are tested with."""


def pool_images(environment: Environment) -> Iterator[Problem]:
    """Report pools that name an image which may not run there."""
    for placed in pools(environment):
        image = find_image(environment, placed.pool.image)
        if placed.pool.image == CHANNEL or image is None:
            continue
        told = standing_objections(environment, image, placed.cluster, placed.pool)
        told |= dict.fromkeys(mirror_objections(environment, image), FORM)
        for objection, rule in told.items():
            text = f"{objection}; write channel, or another version of {IMAGES}"
            yield problem(environment, placed.file, (*placed.path, "image"), text, rule=rule)


def doca(environment: Environment) -> Iterator[Problem]:
    """Report a DPU image, the region's or one that DPUs run, whose DOCA is too far from that of images in use."""
    chosen = {
        dpu.version: dpu.doca for dpu in environment.images.dpu_images if dpu.version == environment.region.dpus.image
    }
    running = {intent.image: intent.doca for intent in environment.image_pins.dpu_intents.values()}
    for version, release in {**running, **chosen}.items():
        wrong = [
            f"{image.contents.doca} of {image.version} ({place(environment, IMAGES, ('images', index))})"
            for index, image in unfit_for_doca(environment, release)
        ]
        if wrong:
            which = f"DOCA {release}" if version in chosen else f"DOCA {release} of {version}, which DPUs run,"
            text = (
                f"{which} does not work with {listed(wrong)}: host and DPU have one major version and at most"
                f" {MAX_DOCA_MINORS} minor versions between them; pick another DPU image, or promote to other images"
            )
            yield problem(environment, REGION, ("dpus", "image"), text)


def drivers(environment: Environment) -> Iterator[Problem]:
    """Report images without a GPU driver for instance types with GPUs, unless they leave GPUs to VMs."""
    for index, image in enumerate(environment.images.images):
        kinds = [environment.instance_types.by_name.get(name) for name in image.fits]
        gpus = [kind.name for kind in kinds if kind and kind.gpu]
        if gpus and image.contents.gpu_driver is None and not image.contents.vfio_devices:
            text = f"is missing, and the image fits {listed(gpus)} with GPUs; add the version, or correct fits"
            yield problem(environment, IMAGES, ("images", index, "contents", "gpu_driver"), text)


def architectures(environment: Environment) -> Iterator[Problem]:
    """Report images for another instruction set than instance types have that they claim to fit."""
    for index, image in enumerate(environment.images.images):
        for at, name in enumerate(image.fits):
            kind = environment.instance_types.by_name.get(name)
            if kind and kind.architecture is not image.architecture:
                which = environment.instance_types.instance_types.index(kind)
                there = place(environment, INSTANCE_TYPES, ("instance_types", which, "architecture"))
                text = (
                    f"{name} is {kind.architecture} ({there}) and the image {image.architecture}, which it cannot boot;"
                    " remove it, or correct architecture"
                )
                yield problem(environment, IMAGES, ("images", index, "fits", at), text)


def firmware(environment: Environment) -> Iterator[Problem]:
    """Report firmware baselines that images name in vain, that are meant for other hardware, or for other drivers."""
    baselines = {entry.name: entry for entry in environment.firmware.firmware_baselines}
    for index, image in enumerate(environment.images.images):
        if image.firmware is None:
            continue
        path, baseline = ("images", index, "firmware"), baselines.get(image.firmware)
        if baseline is None:
            yield problem(environment, IMAGES, path, undeclared(image.firmware, baselines, FIRMWARE))
            continue
        at = environment.firmware.firmware_baselines.index(baseline)
        missing = [name for name in image.fits if name not in baseline.instance_types]
        if missing:
            there = place(environment, FIRMWARE, ("firmware_baselines", at, "instance_types"))
            text = f"{baseline.name} is not meant for {listed(missing)} ({there}), which the image fits; add it there"
            yield problem(environment, IMAGES, path, text)
        nic, wanted = baseline.components.get(NIC), image.contents.nic_firmware
        if nic and wanted and nic.version != wanted:
            there = place(environment, FIRMWARE, ("firmware_baselines", at, "components", NIC, "version"))
            text = (
                f"{wanted} is not the nic of {baseline.name} ({nic.version}, {there}); write that, or another baseline"
            )
            yield problem(environment, IMAGES, ("images", index, "contents", "nic_firmware"), text)


def firmware_instance_types(environment: Environment) -> Iterator[Problem]:
    """Report firmware baselines for instance types that nobody knows."""
    declared = [kind.name for kind in environment.instance_types.instance_types]
    known = {*declared, *lost_types(environment)}
    for index, baseline in enumerate(environment.firmware.firmware_baselines):
        for at, name in enumerate(baseline.instance_types):
            if name not in known:
                path = ("firmware_baselines", index, "instance_types", at)
                yield problem(environment, FIRMWARE, path, undeclared(name, declared, INSTANCE_TYPES))
