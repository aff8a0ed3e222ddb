"""Flash content of DPUs: all requirements of service chains and HBN, parsed from the texts that DPF writes."""

from __future__ import annotations

import shlex
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

from components.render.manifest import Manifest
from components.render.network.dpu_templates import templates
from components.render.network.tenant_network import TenantNetworkInput
from components.render.region.region import RegionInput
from components.specs.network.tenant_network import Isolation
from components.specs.struct import replace
from tests.support.changes.dpu_rollouts import INTENT
from tests.support.objects.rendered_objects import objects_of

LEAST_MEMORY_MIB = 16 * 1024
"""Memory of the smallest DPU that DPF supports, a BlueField-2."""


def flavor(**changes: Any) -> dict[str, Any]:
    return dict(templates(INTENT.model_copy(update=changes)).flavor)


@dataclass
class Switch:
    """Model of Open vSwitch, built from ``ovs-vsctl`` commands."""

    settings: dict[str, str] = field(default_factory=dict)
    started_with: dict[str, str] = field(default_factory=dict)
    bridges: dict[str, list[str]] = field(default_factory=dict)
    columns: dict[tuple[str, str], dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    kernel_datapath: bool = True

    def run(self, script: str) -> Switch:
        for line in script.splitlines():
            program, *words = shlex.split(line.removesuffix(" || true"))
            if program == "systemctl":
                self.started_with = dict(self.settings)
            elif program == "ovs-appctl":
                assert words == ["--timeout=15", "dpctl/del-dp", "system@ovs-system"]
                self.kernel_datapath = False
            else:
                assert program == "ovs-vsctl"
                self.vsctl([word for word in words if not word.startswith("--")])
        return self

    def vsctl(self, words: list[str]) -> None:
        match words:
            case ["del-br", name]:
                self.bridges.pop(name, None)
            case ["add-br", name]:
                self.bridges.setdefault(name, [])
            case ["add-port", bridge, name]:
                self.bridges[bridge].append(name)
            case ["set", "Open_vSwitch", ".", setting]:
                column, _, rest = setting.partition(":")
                assert column == "other_config"
                self.settings.update([rest.split("=")])
            case ["remove", "Open_vSwitch", ".", "other_config", setting]:
                self.settings.pop(setting, None)
            case ["set", table, record, setting]:
                key, _, value = setting.partition("=")
                self.columns[table, record][key] = value
            case _:
                raise AssertionError(words)


def test_the_switch_has_both_uplinks_in_the_bridge_of_chains_and_the_one_that_hbn_looks_for() -> None:
    switch = Switch(bridges={"ovsbr1": ["p0"], "ovsbr2": ["p1"]}).run(flavor()["ovs"]["rawConfigScript"])

    assert switch.bridges == {"br-sfc": ["p0", "p1"], "br-hbn": []}
    for name in switch.bridges:
        assert switch.columns["Bridge", name] == {"datapath_type": "netdev", "fail_mode": "secure"}
    for name in ("p0", "p1"):
        assert switch.columns["Interface", name] == {"type": "dpdk", "mtu_request": "8100"}
        assert switch.columns["Port", name] == {"external_ids:dpf-type": "physical"}


def test_nothing_of_the_image_or_of_an_earlier_run_is_left_in_the_switch() -> None:
    image = {"default-datapath-type": "netdev"}
    switch = Switch(settings=image, bridges={"ovsbr1": ["p0"], "br-hbn": ["p0_if"]})

    switch.run(flavor()["ovs"]["rawConfigScript"])

    assert (switch.kernel_datapath, switch.bridges["br-hbn"]) == (False, [])
    assert "default-datapath-type" not in switch.started_with


def test_a_failed_cleanup_does_not_end_the_script() -> None:
    lines = flavor()["ovs"]["rawConfigScript"].splitlines()

    cleanups = [line for line in lines if "del-dp" in line or "default-datapath-type" in line]
    assert [line.endswith(" || true") for line in cleanups] == [True, True]


def test_the_kernel_reserves_the_memory_of_the_switch() -> None:
    parameters = flavor()["grub"]["kernelParameters"]

    assert "hugepages=250" in parameters
    assert "fixrttc" not in parameters


def test_apparmor_permits_hbn_to_rotate_its_logs() -> None:
    files = {file["path"]: file["raw"].splitlines() for file in flavor()["configFiles"]}

    assert files["/etc/apparmor.d/local/usr.bin.tcpdump"] == ["signal (receive) peer=runc,"]
    assert {"/usr/{bin,sbin}/* ixr,", "/var/lib/logrotate/{,**} rwk,"} <= {
        *files["/etc/apparmor.d/local/usr.sbin.rsyslogd"]
    }


def test_the_first_revision_never_changes() -> None:
    made = templates(INTENT.model_copy(update={"revision": 1}))

    assert made.flavor_name == "zero-trust-dec6d5716c"


def test_the_switch_starts_with_its_settings_before_it_gets_ports() -> None:
    switch = Switch().run(flavor()["ovs"]["rawConfigScript"])

    assert switch.started_with == switch.settings
    assert {"doca-init": "true", "hw-offload": "true"}.items() <= switch.started_with.items()


def test_the_firmware_offers_scalable_functions_to_services_and_virtual_ones_to_the_host() -> None:
    [settings] = flavor()["nvconfig"]
    found = dict(parameter.split("=") for parameter in settings["parameters"])

    assert settings["device"] == "*"
    assert len(found) == len(settings["parameters"]) <= 32
    assert found["NUM_OF_VFS"] == "24"
    assert (found["PER_PF_NUM_SF"], found["PF_BAR2_ENABLE"], found["PF_SF_BAR_SIZE"]) == ("1", "0", "10")
    assert int(found["PF_TOTAL_SF"]) >= 4


def test_huge_pages_leave_most_of_the_memory_of_the_smallest_dpu() -> None:
    parameters = dict(one.partition("=")[::2] for one in flavor()["grub"]["kernelParameters"])

    assert parameters["hugepagesz"] == "2048kB"
    assert 500 <= int(parameters["hugepages"]) * 2 <= LEAST_MEMORY_MIB // 2


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("/etc/mellanox/mlnx-bf.conf", {"ENABLE_ESWITCH_MULTIPORT": "yes"}),
        ("/etc/mellanox/mlnx-ovs.conf", {"CREATE_OVS_BRIDGES": "no", "OVS_DOCA": "yes"}),
        ("/etc/mellanox/mlnx-sf.conf", {}),
    ],
)
def test_files_of_the_image_create_no_bridges_or_functions(path: str, settings: dict[str, str]) -> None:
    [file] = [file for file in flavor()["configFiles"] if file["path"] == path]
    found = dict(word.split("=") for line in file["raw"].splitlines() for word in shlex.split(line))

    assert (file["operation"], file["permissions"]) == ("override", "0644")
    assert settings.items() <= found.items()
    assert bool(found) == bool(settings)


def test_ports_of_the_host_have_the_mtu_of_hosts() -> None:
    assert flavor()["hostNetworkInterfaceConfigs"] == [
        {"portNumber": 0, "dhcp": True, "mtu": 8000},
        {"portNumber": 1, "dhcp": True, "mtu": 8000},
    ]


def test_containers_are_pulled_through_the_mirror_if_there_is_one() -> None:
    assert flavor(mirror="registry.example")["containerdConfig"] == {"registryEndpoint": "https://registry.example"}
    assert "containerdConfig" not in flavor()


def test_hbn_has_as_many_scalable_functions_as_ports_and_the_image_and_logins_of_the_data(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    control = region.platform.control.model_copy(
        update={"pull_secrets": ("registry-login",), "bfb_registry": "10.0.0.12:80"}
    )
    [bare] = [item for item in inputs_of(TenantNetworkInput) if item.vpc.spec.isolation is Isolation.DPF_HBN]
    rendered = [*objects_of(replace(region, platform=replace(region.platform, control=control))), *objects_of(bare)]

    [template] = [item for item in rendered if item.kind == "DPUServiceTemplate" and item.name == "hbn"]
    image = region.platform.hbn_image
    assert template.body["spec"]["helmChart"]["values"] == {
        "image": {"repository": image.image, "tag": image.tag},
        "imagePullSecrets": [{"name": "registry-login"}],
    }
    [config] = [item.body["spec"] for item in rendered if item.kind == "DPFOperatorConfig"]
    assert config["imagePullSecrets"] == ["registry-login"]
    assert config["provisioningController"]["registry"] == {"loadBalancerAddress": "http://10.0.0.12:80"}
    ports = {
        item.name: (
            len(item.body["spec"]["interfaces"]),
            resources(item)["nvidia.com/bf_sf"],
            resources(item)["memory"],
        )
        for item in rendered
        if item.kind == "DPUServiceConfiguration"
    }
    assert ports == {"unassigned-hbn": (2, 2, "6Gi"), f"{bare.vpc.spec.name}-hbn": (3, 3, "6Gi")}


def test_hbn_uses_the_image_of_its_chart_without_one_in_the_catalogue(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    rendered = objects_of(replace(region, platform=replace(region.platform, hbn_image=None)))

    [template] = [item for item in rendered if item.kind == "DPUServiceTemplate" and item.name == "hbn"]
    assert "values" not in template.body["spec"]["helmChart"]


def test_settings_of_hbn_name_the_release_of_its_image_not_the_version_of_its_chart(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    image = region.platform.hbn_image.model_copy(update={"tag": "3.4.0-doca3.4.0"})
    untagged = image.model_copy(update={"tag": None})

    releases = [replace(region.platform, hbn_image=one).fabric.release for one in (image, untagged, None)]

    chart = region.platform.hbn_chart.version
    assert releases == ["3.4.0", chart, chart]


def resources(item: Manifest) -> dict[str, Any]:
    return dict(item.body["spec"]["serviceConfiguration"]["helmChart"]["values"]["resources"])
