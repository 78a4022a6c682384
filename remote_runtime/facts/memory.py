"""The family ``memory``: ``virtual`` and ``swap``; amounts in bytes (target)."""

from typing import Any, Dict, List

from remote_runtime.facts.fact_source import Source
from remote_runtime.system.mount_escapes import unescape


def read(source: Source) -> Dict[str, Any]:
    """Return the family; ``OSError`` without ``/proc/meminfo``, ``ValueError`` without a total."""
    amounts = _amounts(source.text("/proc/meminfo"))
    return {
        "virtual": _virtual(amounts),
        "swap": {"info": _swap(amounts), "devices": _devices(source)},
    }


def percent(part: int, whole: int) -> float:
    """Return ``part`` as a percentage of ``whole``; 0 if that is 0."""
    return 100.0 * part / whole if whole else 0.0


def _amounts(text: str) -> Dict[str, int]:
    amounts = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            amounts[name] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    if not amounts.get("MemTotal"):
        raise ValueError("/proc/meminfo has no MemTotal")
    return amounts


def _virtual(amounts: Dict[str, int]) -> Dict[str, Any]:
    def of(name: str) -> int:
        return amounts.get(name, 0)

    total, free = of("MemTotal"), of("MemFree")
    cached = of("Cached") + of("SReclaimable")
    # Linux before 3.14 has no such estimate.
    available = min(total, amounts.get("MemAvailable", free + of("Buffers") + cached))
    used = total - available
    return {
        "total": total,
        "available": available,
        "used": used,
        "usedPercent": percent(used, total),
        "free": free,
        "active": of("Active"),
        "inactive": of("Inactive"),
        "buffers": of("Buffers"),
        "cached": cached,
        "shared": of("Shmem"),
        "slab": of("Slab"),
        "swapTotal": of("SwapTotal"),
        "swapFree": of("SwapFree"),
    }


def _swap(amounts: Dict[str, int]) -> Dict[str, Any]:
    total, free = amounts.get("SwapTotal", 0), amounts.get("SwapFree", 0)
    used = max(0, total - free)
    return {"total": total, "used": used, "free": free, "usedPercent": percent(used, total)}


def _devices(source: Source) -> List[Dict[str, Any]]:
    devices = []
    for line in source.text_or_empty("/proc/swaps").splitlines()[1:]:
        words = line.split()
        if len(words) < 4:
            continue
        size, used = int(words[2]) * 1024, int(words[3]) * 1024
        devices.append({"name": unescape(words[0]), "usedBytes": used, "freeBytes": size - used})
    return devices
