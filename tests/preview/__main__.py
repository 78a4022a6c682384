"""``python -m tests.preview [-k PATTERN] [--resume FILE] [--write PAGE]``: preview and push."""

import argparse
import sys
import textwrap
import time
from contextlib import nullcontext
from pathlib import Path

from . import page
from .kept_results import KeptResults
from .running import Corpus, Result
from .scenario import chosen, load


def main() -> int:
    """Exit with 1 where a certain prediction was wrong, a preview left something, or the like."""
    parser = argparse.ArgumentParser(prog="python -m tests.preview", description=__doc__)
    parser.add_argument("-k", default="", metavar="PATTERN", help="parts of names, with commas")
    parser.add_argument(
        "--quick", action="store_true", help="only those that the long form of the suite runs"
    )
    parser.add_argument("-j", type=int, default=2, metavar="HOSTS", help="as many at once")
    parser.add_argument("-v", action="store_true", help="tell every resource")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="keep the table in this page")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="keep results here, and go on")
    parser.add_argument("--kept", action="store_true", help="push the plan that the preview made")
    given = parser.parse_args()
    picked = [s for s in chosen(load(), given.k) if s.quick or not given.quick]
    kept = KeptResults(given.resume) if given.resume else None
    results, left = kept.left(picked) if kept else ([], picked)
    began = time.monotonic()
    for result in results:
        tell(result, given.v)
    with Corpus(given.j, kept=given.kept) if left else nullcontext() as corpus:
        for result in corpus.run(left) if corpus else ():
            results.append(result)
            if kept:
                kept.add(result)
            tell(result, given.v)
    print(f"\n{page.table(results)}\n\n{page.share(results)}")
    print(f"{len(results)} scenarios in {time.monotonic() - began:.0f} s")
    if given.write:
        page.write(given.write, results)
    return 1 if any(result.faults() for result in results) else 0


def tell(result: Result, all_of_them: bool) -> None:
    """Print a scenario: one word where it holds, else what does not, with both records."""
    missed = [v for v in result.verdicts if v.missed]
    word = "FAILED" if result.faults() else "missed" if missed else "ok"
    print(f"{word:6} {result.scenario.area}/{result.scenario.name}")
    lines = [v.told() for v in (result.verdicts if all_of_them else missed)] + result.faults()
    print(textwrap.indent("\n".join(lines), "    "), end="\n" if lines else "", flush=True)


if __name__ == "__main__":
    sys.exit(main())
