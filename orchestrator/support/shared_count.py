"""A growing number, for one process or for a process and its copies (controller)."""

import os
import threading

_BYTES = 8


class LocalCount:
    """The counter of one process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0

    def add(self, size: int) -> int:
        """Return the count after adding this number."""
        with self._lock:
            self._number += size
            return self._number


class SharedCounter:
    """The counter of a process and its copies, in shared memory; Linux only.
    OSError. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # that of the file is one of processes, not of threads
        self._file = os.memfd_create("ccm")
        os.pwrite(self._file, bytes(_BYTES), 0)

    def add(self, size: int) -> int:
        """Return the count after adding; a process that dies during this does not block others."""
        import fcntl

        with self._lock:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                number = int.from_bytes(os.pread(self._file, _BYTES, 0), "big") + size
                os.pwrite(self._file, number.to_bytes(_BYTES, "big"), 0)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)
        return number
