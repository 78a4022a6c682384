"""The distribution of this host, in the words of the fact ``host.info`` (target)."""

from typing import Dict, Tuple

from remote_runtime.facts.fact_source import Source

_NAMES = {"rhel": "redhat", "ol": "oracle", "amzn": "amazon", "sles_sap": "sles"}

_FAMILIES = {
    "debian": "debian",
    "ubuntu": "debian",
    "linuxmint": "debian",
    "raspbian": "debian",
    "redhat": "rhel",
    "rhel": "rhel",
    "centos": "rhel",
    "oracle": "rhel",
    "amazon": "rhel",
    "almalinux": "rhel",
    "rocky": "rhel",
    "scientific": "rhel",
    "fedora": "fedora",
    "suse": "suse",
    "sles": "suse",
    "sled": "suse",
    "opensuse": "suse",
    "arch": "arch",
    "alpine": "alpine",
    "gentoo": "gentoo",
    "slackware": "slackware",
}


def read(source: Source) -> Tuple[str, str, str]:
    """Return platform, family and version; the platform is ``linux`` if nothing is more specific.

    The family is the platform's own name if it does not belong to any known family.
    """
    release = _release(source)
    platform = release.get("ID", "linux").lower()
    platform = _NAMES.get(platform, platform)
    family = platform
    for name in [platform, platform.partition("-")[0]] + release.get("ID_LIKE", "").split():
        if name in _FAMILIES:
            family = _FAMILIES[name]
            break
    version = release.get("VERSION_ID") or release.get("BUILD_ID", "")
    return platform, family, _point_release(source, platform, family) or version


def _release(source: Source) -> Dict[str, str]:
    text = source.text_or_empty("/etc/os-release") or source.text_or_empty("/usr/lib/os-release")
    release = {}
    for line in text.splitlines():
        name, separator, value = line.strip().partition("=")
        if separator and not name.startswith("#"):
            release[name] = value.strip("\"'")
    return release or _before_os_release(source)


def _before_os_release(source: Source) -> Dict[str, str]:
    """Recognize systems from before 2012, some of which have a supported Python."""
    line = source.text_or_empty("/etc/redhat-release").lower()
    if line:
        return {"ID": "rhel" if line.startswith("red hat") else line.split()[0]}
    if source.exists("/etc/debian_version"):
        return {"ID": "debian"}
    return {}


def _point_release(source: Source, platform: str, family: str) -> str:
    """Return the full version if os-release has only its beginning; otherwise ""."""
    if platform == "debian":
        return source.text_or_empty("/etc/debian_version")
    if family == "rhel":
        line = source.text_or_empty("/etc/redhat-release")
        words = line.partition(" release ")[2].split()
        return words[0] if words and words[0][0].isdigit() else ""
    return ""
