"""axe-core's rules for pages that everybody can use."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

_RUN = """
const told = arguments[arguments.length - 1];
const options = {resultTypes: ["violations"]};
axe.run(document, options).then(told, error => told(String(error)));
"""


def axe_source() -> str:
    """The text of axe-core; the test is skipped where it is not installed."""
    found = importlib.util.find_spec("axe_playwright_python")  # a carrier: nothing of it is run
    if found is None or found.origin is None:
        if os.environ.get("CCM_LAB") == "required":
            pytest.fail("axe-core is not installed, and CI needs it: see tests/axe.txt")
        pytest.skip("needs axe-core: pip install --no-deps --require-hashes -r tests/axe.txt")
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def violations(browser: Chrome, source: str) -> list[str]:
    """Each rule that the page in the browser breaks, with what is broken and where."""
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": source})
    browser.set_script_timeout(120)
    found: Any = browser.execute_async_script(_RUN)
    assert isinstance(found, dict), found
    assert len(found["passes"]) > 10, "hardly a rule was tried"
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"][:5]
    ]
