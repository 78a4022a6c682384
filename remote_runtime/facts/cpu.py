"""The family ``cpu``: one entry for each logical processor (target)."""

from typing import Any, Dict, List

from remote_runtime.facts.fact_source import Source

_CPUS = "/sys/devices/system/cpu/cpu%d/"

_TEXTS = {
    "vendor_id": "vendorId",
    "cpu family": "family",
    "model": "model",
    "physical id": "physicalId",
    "core id": "coreId",
    "model name": "modelName",
    "microcode": "microcode",
    # ARM
    "CPU architecture": "family",
    "CPU part": "model",
    # POWER
    "cpu": "modelName",
}

_ARM_VENDORS = {
    0x41: "ARM",
    0x42: "Broadcom",
    0x43: "Cavium",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x50: "APM",
    0x51: "Qualcomm",
    0x56: "Marvell",
    0x61: "Apple",
    0x69: "Intel",
    0xC0: "Ampere",
}

# The parts of vendor 0x41; 64-bit ARM does not name its model.
_ARM_PARTS = {
    0xB76: "ARM1176",
    0xC07: "Cortex-A7",
    0xC08: "Cortex-A8",
    0xC09: "Cortex-A9",
    0xC0F: "Cortex-A15",
    0xD03: "Cortex-A53",
    0xD04: "Cortex-A35",
    0xD05: "Cortex-A55",
    0xD07: "Cortex-A57",
    0xD08: "Cortex-A72",
    0xD09: "Cortex-A73",
    0xD0A: "Cortex-A75",
    0xD0B: "Cortex-A76",
    0xD0C: "Neoverse-N1",
    0xD40: "Neoverse-V1",
    0xD49: "Neoverse-N2",
    0xD4F: "Neoverse-V2",
}


def read(source: Source) -> Dict[str, Any]:
    """Return the family; ``OSError`` without ``/proc/cpuinfo``, ``ValueError`` if it lists no
    processor.
    """
    found = _parse(source.text("/proc/cpuinfo"))
    if not found:
        raise ValueError("/proc/cpuinfo lists no processor")
    _add_frequencies(source, found)
    for entry in found:
        _add_topology(source, entry)
    return {"info": found}


def _blank(number: int) -> Dict[str, Any]:
    return {
        "cpu": number,
        "vendorId": "",
        "family": "",
        "model": "",
        "stepping": 0,
        "physicalId": "",
        "coreId": "",
        "cores": 1,
        "modelName": "",
        "mhz": 0.0,
        "cacheSize": 0,
        "flags": [],
        "microcode": "",
    }


def _parse(text: str) -> List[Dict[str, Any]]:
    result: Dict[int, Dict[str, Any]] = {}
    shared = current = _blank(-1)  # fields before the first processor apply to all
    for line in text.splitlines():
        name, separator, value = line.partition(":")
        name, value = name.rstrip(), value.strip()
        if not separator:
            continue
        number = _processor(name, value)
        if number < 0:
            _take(current, name, value)
        else:
            current = result.setdefault(number, dict(shared, cpu=number))
    for entry in result.values():
        _finish(entry)
    return list(result.values())


def _processor(name: str, value: str) -> int:
    """Return which processor the following lines are about, -1 for any other line."""
    if name in ("processor", "cpu number"):
        number = value
    else:
        number = name[len("processor ") :] if name.startswith("processor ") else ""  # s390
    return int(number) if number.isdigit() else -1


def _take(entry: Dict[str, Any], name: str, value: str) -> None:
    if name in ("flags", "Features", "features"):
        entry["flags"] = value.split()
    elif name in ("stepping", "CPU revision"):
        entry["stepping"] = int(value) if value.isdigit() else 0
    elif name in ("cpu MHz", "clock"):
        entry["mhz"] = _number(value.replace("MHz", ""))
    elif name == "cache size":
        entry["cacheSize"] = int(_number(value.partition(" ")[0]))
    elif name == "CPU implementer":
        entry["vendorId"] = _ARM_VENDORS.get(int(value, 0), value)
    elif name in _TEXTS:
        entry[_TEXTS[name]] = value


def _finish(entry: Dict[str, Any]) -> None:
    if entry["vendorId"] == "ARM" and not entry["modelName"]:
        entry["modelName"] = _ARM_PARTS.get(int(entry["model"] or "0", 0), "")
    if entry["modelName"].startswith("POWER"):
        entry["vendorId"], entry["family"] = "IBM", "POWER"
        entry["model"] = entry["modelName"].partition(" ")[0].rstrip(",")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _add_frequencies(source: Source, cpus: List[Dict[str, Any]]) -> None:
    """Replace each processor's current frequency with its maximum, if known."""
    for entry in cpus:
        limit = source.text_or_empty(_CPUS % entry["cpu"] + "cpufreq/cpuinfo_max_freq")
        if not limit.isdigit():
            return  # virtual machines: none has it, so do not ask for each
        entry["mhz"] = int(limit) / 1000.0


def _add_topology(source: Source, entry: Dict[str, Any]) -> None:
    for key, name in (("coreId", "core_id"), ("physicalId", "physical_package_id")):
        if not entry[key]:
            value = source.text_or_empty(_CPUS % entry["cpu"] + "topology/" + name)
            entry[key] = "" if value == "-1" else value
