"""How much work something is, whatever else the machine does: its calls, not its time."""

import sys
from collections.abc import Callable


def calls_of(work: Callable[[], object]) -> int:
    """How many functions were called, those of the interpreter among them."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls
