"""What runs in virtual machines, which decides what hardware they see and who sets them up at their first boot."""

from __future__ import annotations

from enum import StrEnum


class GuestSystem(StrEnum):
    """Family of an operating system."""

    LINUX = "linux"
    """Linux, which cloud-init sets up."""
    WINDOWS = "windows"
    """Windows 11, or Windows Server from 2019 on, with virtio drivers; Windows' own setup reads an answer file."""
