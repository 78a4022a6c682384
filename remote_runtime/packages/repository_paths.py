"""The paths of repositories and their keys on a host (both sides)."""

from typing import List

ETC = "/etc"


def sources(manager: str, name: str) -> str:
    """Return the file of a repository."""
    if manager == "apt":
        return "%s/apt/sources.list.d/%s.sources" % (ETC, name)
    return "%s/yum.repos.d/%s.repo" % (ETC, name)


def keys(manager: str, name: str) -> List[str]:
    """Return the possible key files of a repository: armored, and binary."""
    if manager == "apt":
        return ["%s/apt/keyrings/%s%s" % (ETC, name, ending) for ending in (".asc", ".gpg")]
    return ["%s/pki/rpm-gpg/RPM-GPG-KEY-%s" % (ETC, name)]


def others(manager: str) -> List[str]:
    """Return the directories of all repositories, and a file that some repositories use."""
    if manager == "apt":
        return ["%s/apt/sources.list" % ETC, "%s/apt/sources.list.d" % ETC]
    return ["%s/yum.repos.d" % ETC]
