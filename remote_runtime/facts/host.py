"""The family ``host``: ``info`` about the system (target)."""

from typing import Any, Dict

from remote_runtime.facts import distribution, virtualization
from remote_runtime.facts.fact_source import Source


def read(source: Source) -> Dict[str, Any]:
    """Return the family; ``OSError`` without ``/proc``. Times are in seconds."""
    kernel = source.uname()
    platform, family, version = distribution.read(source)
    system, role, container = virtualization.read(source)
    return {
        "info": {
            "hostname": kernel.nodename,
            "uptime": int(float(source.text("/proc/uptime").split()[0])),
            "bootTime": _boot_time(source),
            "procs": sum(1 for name in source.names_or_empty("/proc") if name.isdigit()),
            "os": kernel.sysname.lower(),
            "platform": platform,
            "platformFamily": family,
            "platformVersion": version,
            "kernelVersion": kernel.release,
            "kernelArch": kernel.machine,
            "virtualizationSystem": system,
            "virtualizationRole": role,
            "hostId": _host_id(source, container),
        }
    }


def _boot_time(source: Source) -> int:
    for line in source.text("/proc/stat").splitlines():
        if line.startswith("btime "):
            return int(line.split()[1])
    raise ValueError("/proc/stat has no btime")


def _host_id(source: Source, container: bool) -> str:
    """Return the machine's UUID (root only), or else its machine-id, or else the boot ID.

    The containers of one machine share its UUID, so the machine-id is used for them.
    """
    firmware = "" if container else source.text_or_empty("/sys/class/dmi/id/product_uuid")
    if firmware:
        return firmware.lower()
    number = source.text_or_empty("/etc/machine-id")
    if len(number) == 32:
        return "-".join((number[:8], number[8:12], number[12:16], number[16:20], number[20:]))
    return source.text_or_empty("/proc/sys/kernel/random/boot_id").lower()
