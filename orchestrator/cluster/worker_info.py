"""The version and sites of workers, as resources of Dask (both sides).

A task that requires them runs only on such workers.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import inventory
import orchestrator
import remote_runtime
import schemas
from inventory.connection_properties import SITE, SITE_HINT
from orchestrator.cluster.dask_api import VERSION as DASK
from remote_runtime.errors import UsageError
from remote_runtime.version import VERSION

RESOURCE_AMOUNT = 1e9
_CODE = "ccm-code:"
_SITE = "ccm-site:"


@cache
def code_version() -> str:
    """The version of ccm, including a digest of its code, and the version of ``distributed``."""
    digest = hashlib.sha256()
    for package in (orchestrator, inventory, schemas, remote_runtime):
        root = Path(str(package.__file__)).parent
        for path in sorted((*root.rglob("*.py"), *root.rglob("*.json"))):
            digest.update(path.relative_to(root.parent).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return f"{VERSION}/{digest.hexdigest()[:12]}/distributed {DASK}"


def resources(sites: Iterable[str]) -> dict[str, float]:
    """The Dask resources of a worker for these sites; UsageError."""
    for site in sites:
        if not re.fullmatch(SITE, site):
            raise UsageError(
                f"--site {site[:60]!r} is not a valid site name",
                hint=SITE_HINT,
            )
    return {
        _CODE + code_version(): RESOURCE_AMOUNT,
        **{_SITE + site: RESOURCE_AMOUNT for site in sites},
    }


def needs(sites: Iterable[str]) -> dict[str, float]:
    """The Dask resources that a task for these sites requires."""
    return {_CODE + code_version(): 1.0, **{_SITE + site: 1.0 for site in sites}}


def code_of(known: Mapping[str, float]) -> str | None:
    """Return the digest of a worker's ccm code; None if it is not a worker of ccm."""
    return next((name.removeprefix(_CODE) for name in known if name.startswith(_CODE)), None)


def sites_of(known: Mapping[str, float]) -> frozenset[str]:
    """The sites of a worker."""
    return frozenset(name.removeprefix(_SITE) for name in known if name.startswith(_SITE))
