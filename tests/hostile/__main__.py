"""``python -m tests.hostile [NAME ...] --minutes 3``: run campaigns, tell and keep figures."""

import argparse
import importlib
import pkgutil
import random
import sys
import time
from pathlib import Path
from types import ModuleType

import tests.hostile
from tests.hostile import figures


def campaigns() -> dict[str, ModuleType]:
    """Every campaign by its name."""
    names = [
        found.name
        for found in pkgutil.iter_modules(tests.hostile.__path__)
        if not found.name.startswith(("test_", "__"))
    ]
    modules = {name: importlib.import_module(f"tests.hostile.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def main() -> int:
    """Exit with 1 where something did not hold."""
    known = campaigns()
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(known)}; all without one")
    parser.add_argument("--minutes", type=float, default=1.0, help="for each campaign")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--write", type=Path, metavar="PAGE", help="keep the figures in this page")
    given = parser.parse_args()
    unknown = set(given.name) - set(known)
    if unknown:
        parser.error(f"there is no campaign {', '.join(sorted(unknown))}")
    rows, broken = {}, 0
    for name in given.name or known:
        began = time.monotonic()
        found = known[name].run(given.minutes * 60, given.seed)
        title = known[name].TITLE
        rows[title] = found.row(title, time.monotonic() - began, given.seed)
        print(rows[title], *found.broken, sep="\n", flush=True)
        broken += len(found.broken)
    if given.write:
        figures.write(given.write, rows)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
