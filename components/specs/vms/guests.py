"""Guest operating systems of virtual machines. They determine the virtual hardware and the first-boot setup."""

from enum import StrEnum


class GuestSystem(StrEnum):
    """Family of an operating system."""

    LINUX = "linux"
    """Linux, set up by cloud-init."""
    WINDOWS = "windows"
    """Windows 11, or Windows Server from 2019 on, with virtio drivers. Windows Setup reads an answer file."""
