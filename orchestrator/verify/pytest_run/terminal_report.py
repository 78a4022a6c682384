"""Suppresses pytest's own report if ccm writes one (controller); loaded by ``ccm verify``."""

import io

import pytest
from _pytest.terminal import TerminalReporter


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let other plugins write to pytest's report, which is discarded.

    ``-vv`` and options that only affect pytest's report keep it.
    """
    if own_report(config):
        return
    standard = config.pluginmanager.getplugin("terminalreporter")
    if standard is not None:
        config.pluginmanager.unregister(standard)
        muted = TerminalReporter(config, io.StringIO())
        config.pluginmanager.register(muted, "terminalreporter")


def own_report(config: pytest.Config) -> bool:
    """Whether the user wants to see pytest's own report."""
    option = config.option
    wanted = ("collectonly", "showfixtures", "show_fixtures_per_test", "setupshow", "markers")
    return option.verbose > 1 or any(getattr(option, name, None) for name in wanted)
