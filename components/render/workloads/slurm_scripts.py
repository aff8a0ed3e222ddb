"""Scripts that slurmd runs before and after jobs: those of the tenant, and the check of GPUs.

slurmctld sends each file to the nodes that a line of slurm.conf names without a path (SLURM:src/common/fetch_config.c).
slurmd runs the files in the order of the lines, and stops at the first failure
(SLURM:src/plugins/prep/script/prep_script_slurmd.c). The library writes the lines, and the operator only mounts the
files: it would sort the lines of ``prologScriptRefs`` by file, and does not watch the ConfigMap for further files
(SLURMOP:internal/controller/controller/controller_controller.go).
"""

from collections.abc import Iterator

from components.specs.workloads.slurm import SlurmSpec

NAME = "slurm-prolog"
"""Name of the ConfigMap with the files of all scripts."""
GPU_CHECK = "check-gpus.sh"
"""Script before and after jobs. It runs as root in the pod of the node, without a search path; the container toolkit
adds ``nvidia-smi``."""
_GPU_CHECK = r"""#!/bin/sh
# Fails if a GPU on the PCI bus does not answer; Slurm then drains the node.
present=0
for device in /sys/bus/pci/devices/*; do
  read -r vendor <"$device/vendor" && read -r class <"$device/class" || continue
  case "$vendor $class" in "0x10de 0x03"*) present=$((present + 1)) ;; esac
done
[ "$present" -gt 0 ] || exit 0
answering=0
for line in $(/usr/bin/timeout 30 /usr/bin/nvidia-smi --query-gpu=uuid --format=csv,noheader); do
  case "$line" in GPU-*) answering=$((answering + 1)) ;; esac
done
[ "$answering" -eq "$present" ]
"""


def files(spec: SlurmSpec) -> dict[str, str]:
    """Return the text of each script by file name; empty without scripts."""
    return {
        **({GPU_CHECK: _GPU_CHECK} if spec.gpu_check else {}),
        **{_file("prolog", script.name): script.script for script in spec.prolog},
        **{_file("epilog", script.name): script.script for script in spec.epilog},
    }


def lines(spec: SlurmSpec) -> str:
    """Return the lines of slurm.conf about scripts; empty without scripts.

    Before a job, the tenant's scripts find GPUs that answer. After a job, the check also finds GPUs that these scripts
    lost.
    """
    return "".join(f"{line}\n" for line in _lines(spec))


def _lines(spec: SlurmSpec) -> Iterator[str]:
    check = (GPU_CHECK,) * spec.gpu_check
    before = (*check, *(_file("prolog", script.name) for script in spec.prolog))
    if before:
        # Otherwise, Slurm holds the job of a failed prolog until an administrator releases it.
        yield "SchedulerParameters=nohold_on_prolog_fail"
    yield from (f"Prolog={name}" for name in before)
    yield from (f"Epilog={name}" for name in (*(_file("epilog", script.name) for script in spec.epilog), *check))


def _file(kind: str, name: str) -> str:
    return f"{kind}-{name}.sh"
