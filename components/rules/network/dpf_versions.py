"""Rules about versions around DPF: DPU images, services on DPUs and Kamaji fit the release of DPF."""

from collections.abc import Iterator

from components.intents.dpus import find_dpu_image
from components.lookups.dpf_releases import HBN_CHARTS, release_of, train
from components.lookups.dpus import uses_dpf, uses_ovn
from components.lookups.pools import DataPath, place, problem
from components.render.control_planes import kamaji
from components.render.network.dpus import DPF_CHART, HBN_CHART, HBN_IMAGE
from components.render.network.ovn_services import CHARTS
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, VERSIONS
from components.specs.reading.problems import Problem, listed
from components.specs.region.versions import Chart


def dpu_trains(environment: Environment) -> Iterator[Problem]:
    """Report a DPU image of a train that the release of DPF does not support."""
    dpf = _installed(environment).get(DPF_CHART)
    release = release_of(dpf.version) if dpf else None
    image = find_dpu_image(environment, environment.region.dpus.image)
    if dpf and release and image and train(image.doca) not in release.trains:
        text = (
            f"DOCA {image.doca} of {image.version} is not supported by {DPF_CHART} {dpf.version}"
            f" ({_place(environment, dpf)}), which supports {listed(release.trains)}; pick another DPU image"
        )
        yield problem(environment, REGION, ("dpus", "image"), text)


def hbn(environment: Environment) -> Iterator[Problem]:
    """Report an HBN image of another train than the region's DPU image, or of another release than its chart."""
    chart = _installed(environment).get(HBN_CHART)
    tools = environment.versions.tools
    index, tool = next(((at, tool) for at, tool in enumerate(tools) if tool.name == HBN_IMAGE), (0, None))
    image = next(
        (item for item in environment.images.dpu_images if item.version == environment.region.dpus.image), None
    )
    if chart is None or tool is None or tool.tag is None or image is None:
        return
    release, path = tool.tag.partition("-")[0], ("tools", index, "tag")
    if train(release) != train(image.doca):
        there = place(environment, REGION, ("dpus", "image"))
        text = (
            f"HBN {release} does not run on {image.version} ({there}) with DOCA {image.doca}; write a release of train"
            f" {train(image.doca)}, or pick another DPU image"
        )
        yield problem(environment, VERSIONS, path, text)
    elif HBN_CHARTS.get(chart.version, release) != release:
        wanted = HBN_CHARTS[chart.version]
        text = f"chart {HBN_CHART} {chart.version} requires HBN {wanted} (got {release}); write that release"
        yield problem(environment, VERSIONS, path, text)


def charts(environment: Environment) -> Iterator[Problem]:
    """Report charts that do not fit DPF: OVN's charts of another release, and a Kamaji that its DPUs cannot join."""
    installed = _installed(environment)
    dpf = installed.get(DPF_CHART)
    if dpf is None:
        return
    for name in CHARTS if uses_ovn(environment) else ():
        if name in installed and installed[name].version != dpf.version:
            yield _wrong(environment, installed[name], f"is released with {DPF_CHART}; write {dpf.version}")
    release, used = release_of(dpf.version), installed.get(kamaji.CHART)
    if release and release.kamaji and used and used.version != release.kamaji:
        text = (
            f"{used.version} lacks NVIDIA's patches for the kubelets of DPUs, which {DPF_CHART} {dpf.version} requires;"
            f" write {release.kamaji}, built with ghcr.io/nvidia/kamaji"
        )
        yield _wrong(environment, used, text)


def _wrong(environment: Environment, chart: Chart, text: str) -> Problem:
    return problem(environment, VERSIONS, _path(environment, chart), text)


def _place(environment: Environment, chart: Chart) -> str:
    return place(environment, VERSIONS, _path(environment, chart))


def _path(environment: Environment, chart: Chart) -> DataPath:
    return ("charts", environment.versions.charts.index(chart), "version")


def _installed(environment: Environment) -> dict[str, Chart]:
    """Return the installed charts of a region that has DPF; empty for other regions."""
    return environment.versions.installed(environment.region.image_channel) if uses_dpf(environment) else {}


RULES = Rules(data=(dpu_trains, hbn, charts))
