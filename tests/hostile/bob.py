"""What Bob does in his directory: something of it becomes a link to what is root's, and back.

As a program it does so at random as Bob, between one byte on its input and the next.
"""

import os
import random
import select
import sys
from contextlib import suppress

UID = 61001
_WAYS = (
    ("app", "../victim"),
    ("app/data", "../../victim/data"),
    ("app/conf", "../../victim/conf"),
    ("app/data/inner", "../../../victim/data/inner"),
    ("app/new", "../../victim"),
)
WAYS = len(_WAYS) + 1  # the last: a second name of root's file, which a system may keep Bob from


def swap(way: int) -> None:
    """Put a link in the place of something; in Bob's directory."""
    name = _name(way)
    with suppress(OSError):
        os.rename(name, f"{name}.away")
    with suppress(OSError):
        if way < len(_WAYS):
            os.symlink(_WAYS[way][1], name)
        else:
            os.link("../victim/conf", name)


def restore(way: int) -> None:
    """Put what was there back."""
    name = _name(way)
    with suppress(OSError):
        os.unlink(name)
    with suppress(OSError):
        os.rename(f"{name}.away", name)


def _name(way: int) -> str:
    return _WAYS[way][0] if way < len(_WAYS) else "app/conf"


def main(home: str, seed: str) -> None:
    """Swap and restore until told to stop, then say how often in all."""
    os.chdir(home)
    os.setgid(UID)
    os.setuid(UID)
    chance, swaps = random.Random(seed), 0
    while os.read(0, 1):
        while not select.select([0], [], [], 0)[0]:
            way = chance.randrange(WAYS)
            swap(way)
            for _ in range(chance.randrange(300)):
                pass
            restore(way)
            swaps += 1
        os.read(0, 1)
        print(swaps, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
