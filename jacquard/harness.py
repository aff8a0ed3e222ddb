"""Boundary between the product and the harness `jacquard.lab`: engine variables, plug-ins, set-up, doctor."""

from jacquard.lab.toolchain import environment, setup
from jacquard.lab.toolchain.doctor import Item, State, report
from jacquard.lab.toolchain.environment import REHEARSAL_PASSPHRASE
from jacquard.lab.toolchain.progress import Progress
from jacquard.lab.toolchain.serving import PlugIn, serving

__all__ = ["REHEARSAL_PASSPHRASE", "Item", "PlugIn", "Progress", "State", "environment", "report", "serving", "setup"]
