"""The pytest plugin of ccm: ``pytest --hosts='ccm://web1?inventory=hosts.yaml'`` (controller).

pytest loads it wherever ccm is installed, so imports happen when a host is requested.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from orchestrator.verify.verify_hosts import Member
    from remote_runtime.plan_item import Item

MARK = "ccm_hosts(pattern): run this test on these hosts only, such as web:&prod"


def pytest_configure(config: pytest.Config) -> None:
    """Register ``ccm://`` with testinfra, if that is installed and used."""
    config.addinivalue_line("markers", MARK)
    backends: Any = sys.modules.get("testinfra.backend")
    if backends is None or "ccm" in backends.BACKENDS:
        return
    backends.BACKENDS["ccm"] = "orchestrator.verify.pytest_run.backend.LiveBackend"
    known = backends.parse_hostspec

    def parse_hostspec(hostspec: str) -> tuple[str, dict[str, Any]]:
        """Parse ccm:// host specs, and leave others to testinfra."""
        if not isinstance(hostspec, str) or not hostspec.startswith("ccm://"):
            found: tuple[str, dict[str, Any]] = known(hostspec)
            return found
        from orchestrator.verify.pytest_run.hostspecs import parsed

        return parsed(hostspec)

    # testinfra keeps only the parameters that its own backends have
    backends.parse_hostspec = parse_hostspec


def pytest_unconfigure() -> None:
    """Close all connections."""
    hostspecs = sys.modules.get("orchestrator.verify.pytest_run.hostspecs")
    if hostspecs is not None:
        hostspecs.close_all()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip a test on hosts that its ``ccm_hosts`` marker does not name."""
    marked = [item for item in items if item.get_closest_marker("ccm_hosts")]
    dropped = [item for item in marked if not _meant(item)]
    if dropped:
        left_out = set(map(id, dropped))
        items[:] = [item for item in items if id(item) not in left_out]
        config.hook.pytest_deselected(items=dropped)


def _meant(item: pytest.Item) -> bool:
    callspec: Any = getattr(item, "callspec", None)
    host: Any = callspec.params.get("_testinfra_host") if callspec is not None else None
    fleet = getattr(getattr(host, "backend", None), "fleet", None)
    if fleet is None:
        return True  # a host that no inventory knows
    from remote_runtime.errors import InputError

    patterns = [str(word) for mark in item.iter_markers("ccm_hosts") for word in mark.args]
    try:
        return all(host.backend.hostname in fleet.names(pattern) for pattern in patterns)
    except InputError as error:
        raise pytest.UsageError(f"{item.nodeid}: ccm_hosts: {error}") from error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report problems of ccm's hosts in one sentence, without a traceback through ccm; mask the
    secrets in their data and plan.
    """
    report = yield
    host = getattr(item, "funcargs", {}).get("_testinfra_host")
    backend: Any = getattr(host, "backend", None)
    if getattr(backend, "NAME", "") == "ccm":
        from orchestrator.support.plain_text import plain
        from orchestrator.verify.pytest_run.masking import hide
        from remote_runtime.errors import CcmError
        from remote_runtime.reporting.masking import Mask

        if call.excinfo is not None and isinstance(call.excinfo.value, CcmError):
            report.longrepr = plain(str(call.excinfo.value))
        if backend.member.secrets:
            hide(report, Mask(backend.member.secrets))
    return report


@pytest.fixture(scope="module")
def ccm_facts(host: Any) -> dict[str, Any]:
    """The facts of the host, as provided to the manifest's templates."""
    return _member(host, "ccm_facts").scope().facts


@pytest.fixture(scope="module")
def ccm_data(host: Any) -> Any:
    """The resolved data of the manifest for the host."""
    return _member(host, "ccm_data").scope().data


@pytest.fixture(scope="module")
def ccm_resource(host: Any) -> Callable[[str], Item]:
    """Finds a resource of the host's plan by ``type#name`` or ``type#alias``.

    It has ``type``, ``name``, ``alias``, ``managed`` and ``properties``, which are final.
    """
    member = _member(host, "ccm_resource")

    def find(identity: str) -> Item:
        """The planned resource of this ID."""
        from orchestrator.verify.plan_resources import find_resource

        return find_resource(member.plan(), identity, member.name)

    return find


def _member(host: Any, fixture: str) -> Member:
    member = getattr(host.backend, "member", None)
    if member is None:
        pytest.fail(f"{fixture} requires a ccm:// host, not {host!r}", pytrace=False)
    host_member: Member = member
    return host_member
