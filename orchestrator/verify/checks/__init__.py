"""A module for each kind of resource: from desired values to questions (controller).

Each takes a ``Subject`` and returns the expectations of it, none where nothing can be looked at. A
type without a module is left out of a verify, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.verify.checks import archive, file, package, scaffold, service
from orchestrator.verify.checks import exec as exec_
from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject

CHECKS: Mapping[str, Callable[[Subject], list[Expectation]]] = {
    "archive": archive.expectations,
    "exec": exec_.expectations,
    "file": file.expectations,
    "package": package.expectations,
    "scaffold": scaffold.expectations,
    "service": service.expectations,
}
