"""Imports what commands import, once, where those of the tests are forked from."""

import importlib
import pkgutil
from contextlib import suppress

import orchestrator

importlib.import_module("pytest")  # which ``ccm verify`` runs
for _found in pkgutil.walk_packages(orchestrator.__path__, "orchestrator."):
    if not _found.name.startswith("orchestrator.verify"):
        with suppress(ImportError):  # of an extra that is not installed
            importlib.import_module(_found.name)
