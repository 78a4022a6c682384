"""Sets the flags with which a file or directory is kept from being changed."""

import fcntl
import os
import unittest

_SET = 0x40086602


def flag(path: str, bits: int) -> None:
    """Set them; the test is skipped where the file system has none."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, _SET, bits.to_bytes(8, "little"))
    except OSError as error:
        raise unittest.SkipTest("this file system has no attribute flags: %s" % error) from error
    finally:
        os.close(descriptor)
