"""Fabric ports of a node as shown by the kernel: inactive ones, and counters that grow during the test."""

from __future__ import annotations

from pathlib import Path

from components.programs import link_errors


def port(root: Path, name: str, *, state: str = "4: ACTIVE", layer: str = "InfiniBand", downs: int = 0) -> Path:
    folder = root / name / "ports" / "1"
    (folder / "counters").mkdir(parents=True, exist_ok=True)
    (folder / "state").write_text(f"{state}\n")
    (folder / "link_layer").write_text(f"{layer}\n")
    for counter in link_errors.COUNTERS:
        (folder / "counters" / counter).write_text(f"{downs if counter == 'link_downed' else 0}\n")
    return folder


def test_active_ports_whose_counters_stay_pass(tmp_path: Path) -> None:
    port(tmp_path, "mlx5_0", downs=7)
    port(tmp_path, "mlx5_1", layer="Ethernet", state="1: DOWN")  # A virtual function of a DPU

    assert link_errors.problems(tmp_path, 0) == []


def test_an_inactive_port_and_a_node_without_ports_fail(tmp_path: Path) -> None:
    assert link_errors.problems(tmp_path, 0) == [f"no ports in {tmp_path}"]
    port(tmp_path, "mlx5_0", state="1: DOWN")

    assert link_errors.problems(tmp_path, 0) == ["mlx5_0/1 is 1: DOWN"]


def test_a_counter_that_grows_fails(tmp_path: Path) -> None:
    port(tmp_path, "mlx5_0", downs=7)
    before = link_errors.counts(tmp_path)
    port(tmp_path, "mlx5_0", downs=9)

    assert before["mlx5_0/1 link_downed"] == 7
    assert link_errors.counts(tmp_path)["mlx5_0/1 link_downed"] == 9
