"""Rules about golden images: compatibility with pool, hardware, drivers and firmware."""

from collections.abc import Iterator

from components.intents.images import CHANNEL, MAX_DOCA_MINORS, find_image, mirror_objections, standing_objections
from components.intents.nodes import unfit_for_doca
from components.lookups.pools import place, pools, problem
from components.rules.references import lost_types
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import FIRMWARE, IMAGES, INSTANCE_TYPES, REGION, WAIVERS
from components.specs.reading.problems import FORM, Problem, listed, undeclared
from components.specs.region.policy import RuleId

NIC = "nic"
"""Component of a firmware baseline for which the drivers of an image are tested."""


def pool_images(environment: Environment) -> Iterator[Problem]:
    """Report named images that are not allowed in the pool."""
    for placed in pools(environment):
        image = find_image(environment, placed.pool.image)
        if placed.pool.image == CHANNEL or image is None:
            continue
        objection_rules = standing_objections(environment, image, placed.cluster, placed.pool)
        objection_rules |= dict.fromkeys(mirror_objections(environment, image), FORM)
        for objection, rule in objection_rules.items():
            text = f"{objection}; write channel, or another version of {IMAGES}{waiver_for(placed.key, rule)}"
            yield problem(environment, placed.file, (*placed.path, "image"), text, rule=rule)


def waiver_for(pool: str, rule: str) -> str:
    """Return the alternative remedy of an image outside the region's channel; empty for all other rules."""
    return f", or add a waiver of {rule} for {pool} to {WAIVERS}" * (rule == RuleId.IMAGE_OUTSIDE_CHANNEL)


def doca(environment: Environment) -> Iterator[Problem]:
    """Report declared or running DPU images whose DOCA version is incompatible with golden images in use."""
    chosen = {
        dpu.version: dpu.doca for dpu in environment.images.dpu_images if dpu.version == environment.region.dpus.image
    }
    running = {intent.image: intent.doca for intent in environment.image_pins.dpu_intents.values()}
    for version, release in {**running, **chosen}.items():
        wrong = []
        for index, image in unfit_for_doca(environment, release):
            there = place(environment, IMAGES, ("images", index, "contents", "doca"))
            wrong.append(f"{image.contents.doca} of {image.version} ({there})")
        if wrong:
            which = f"DOCA {release}" if version in chosen else f"DOCA {release} of {version}, which DPUs run,"
            text = (
                f"{which} does not work with {listed(wrong)}: host and DPU must have the same major version and differ"
                f" by at most {MAX_DOCA_MINORS} minor versions; pick another DPU image, or promote to other images"
            )
            yield problem(environment, REGION, ("dpus", "image"), text)


def drivers(environment: Environment) -> Iterator[Problem]:
    """Report images without a GPU driver for instance types with GPUs, unless they reserve GPUs for VMs."""
    for index, image in enumerate(environment.images.images):
        kinds = [environment.instance_types.by_name.get(name) for name in image.fits]
        gpus = [kind.name for kind in kinds if kind and kind.gpu]
        if gpus and image.contents.gpu_driver is None and not image.contents.vfio_devices:
            text = f"is missing, but the image fits {listed(gpus)} with GPUs; add the version, or correct fits"
            yield problem(environment, IMAGES, ("images", index, "contents", "gpu_driver"), text)


def gpu_fabrics(environment: Environment) -> Iterator[Problem]:
    """Report images without the fabric manager for NVSwitches, or without GPUDirect RDMA for ports that use it."""
    for index, image in enumerate(environment.images.images):
        contents = image.contents
        if contents.vfio_devices:  # The guest has the driver.
            continue
        kinds = [environment.instance_types.by_name.get(name) for name in image.fits]
        switched = [kind.name for kind in kinds if kind and kind.gpu and kind.gpu.nvswitch]
        direct = [kind.name for kind in kinds if kind and kind.gpu and kind.gpu.gpudirect_rdma]
        if switched and not contents.fabric_manager:
            text = (
                f"must be true, because GPUs of {listed(switched)} are connected by NVSwitches (gpu.nvswitch,"
                f" {INSTANCE_TYPES}), and CUDA does not start there without the fabric manager; add it to the image, or"
                " correct fits"
            )
            yield problem(environment, IMAGES, ("images", index, "contents", "fabric_manager"), text)
        if direct and not contents.gpudirect_rdma:
            text = (
                f"must be true, because fabric ports of {listed(direct)} access memory of GPUs (gpu.gpudirect_rdma,"
                f" {INSTANCE_TYPES}); load nvidia-peermem in the image, or correct fits"
            )
            yield problem(environment, IMAGES, ("images", index, "contents", "gpudirect_rdma"), text)


def architectures(environment: Environment) -> Iterator[Problem]:
    """Report images whose architecture differs from an instance type in ``fits``."""
    for index, image in enumerate(environment.images.images):
        for at, name in enumerate(image.fits):
            kind = environment.instance_types.by_name.get(name)
            if kind and kind.architecture is not image.architecture:
                which = environment.instance_types.instance_types.index(kind)
                there = place(environment, INSTANCE_TYPES, ("instance_types", which, "architecture"))
                text = (
                    f"{name} is {kind.architecture} ({there}) but the image is {image.architecture}, which it cannot"
                    " boot; remove it, or correct architecture"
                )
                yield problem(environment, IMAGES, ("images", index, "fits", at), text)


def firmware(environment: Environment) -> Iterator[Problem]:
    """Report firmware baselines of images that are undeclared, or for other hardware or drivers."""
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
            text = f"{baseline.name} does not list {listed(missing)} ({there}), which the image fits; add it there"
            yield problem(environment, IMAGES, path, text)
        nic, wanted = baseline.components.get(NIC), image.contents.nic_firmware
        if nic and wanted and nic.version != wanted:
            there = place(environment, FIRMWARE, ("firmware_baselines", at, "components", NIC, "version"))
            text = (
                f"{wanted} differs from nic of {baseline.name} ({nic.version}, {there}); write that version, or another"
                " baseline"
            )
            yield problem(environment, IMAGES, ("images", index, "contents", "nic_firmware"), text)


def firmware_instance_types(environment: Environment) -> Iterator[Problem]:
    """Report firmware baselines for undeclared instance types."""
    declared = [kind.name for kind in environment.instance_types.instance_types]
    known = {*declared, *lost_types(environment)}
    for index, baseline in enumerate(environment.firmware.firmware_baselines):
        for at, name in enumerate(baseline.instance_types):
            if name not in known:
                path = ("firmware_baselines", index, "instance_types", at)
                yield problem(environment, FIRMWARE, path, undeclared(name, declared, INSTANCE_TYPES))


RULES = Rules(data=(pool_images, doca, drivers, gpu_fabrics, architectures, firmware, firmware_instance_types))
