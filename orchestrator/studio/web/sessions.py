"""Sessions, one-time login links, and the limit of failed logins (controller).

Everything is kept in memory, so every session ends with ``ccm studio``. Secrets are stored as
hashes, and compared in constant time.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

LIFETIME = 12 * 3600.0  # seconds of a session, however it is used
IDLE = 3600.0  # seconds of a session that is not used
LINK_LIFETIME = 12 * 3600.0  # seconds of a login link
MAX_SESSIONS = 1_000
MAX_FAILURES = 5  # of one address in PERIOD
MAX_TOTAL_FAILURES = 100
PERIOD = 300.0  # seconds
ROLES = ("look", "design", "push")
"""The roles; each includes those before it."""

Clock = Callable[[], float]


class Session(NamedTuple):
    """``csrf`` is the token that each form of the session must send. ``groups`` of the inventory
    limit it to their hosts; none means all hosts. ``entry`` is the version of the user's entry in
    the users file.
    """

    user: str
    role: str
    csrf: str
    begun: float
    used: float
    groups: tuple[str, ...] = ()
    entry: str = ""

    def may(self, role: str) -> bool:
        """Whether the session's role includes this one."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Sessions:
    """The sessions by the hash of their cookie."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def create(self, user: str, role: str, groups: tuple[str, ...] = (), entry: str = "") -> str:
        """Begin a session; return the value of its cookie."""
        cookie, now = secrets.token_urlsafe(32), self._clock()
        with self._lock:
            self._sessions[_hash(cookie)] = Session(
                user,
                role,
                secrets.token_urlsafe(32),
                begun=now,
                used=now,
                groups=groups,
                entry=entry,
            )
            while len(self._sessions) > MAX_SESSIONS:
                del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].used)]
        return cookie

    def find(self, cookie: str, *, is_use: bool = True) -> Session | None:
        """The session of a cookie; None if it is expired or unknown. Without ``is_use``, it does
        not count as used.
        """
        key, now = _hash(cookie), self._clock()
        with self._lock:
            found = self._sessions.get(key)
            if found is None:
                return None
            if now - found.begun > LIFETIME or now - found.used > IDLE:
                del self._sessions[key]
                return None
            if is_use:
                self._sessions[key] = found = found._replace(used=now)
        return found

    def end(self, cookie: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_hash(cookie), None)


class LoginLinks:
    """Tokens that can each be used for one login."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}
        self._lock = threading.Lock()

    def create(self) -> str:
        """Create a new token, which invalidates earlier ones."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._ends = {_hash(token): self._clock() + LINK_LIFETIME}
        return token

    def redeem(self, token: str) -> bool:
        """Whether the token is valid; it is valid only once."""
        with self._lock:
            end = self._ends.pop(_hash(token), None)
        return end is not None and self._clock() <= end


class FailedLogins:
    """Counts failed logins, by address and in total."""

    def __init__(self) -> None:
        self._failures: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def add(self, address: str) -> None:
        """Count a failed login."""
        with self._lock:
            self._failures.append((time.monotonic(), address))

    def wait(self, address: str) -> float:
        """The number of seconds until the address may log in again; 0 if it may now."""
        now = time.monotonic()
        with self._lock:
            self._failures = [one for one in self._failures if now - one[0] < PERIOD]
            every = [at for at, _ in self._failures]
            own = [at for at, whose in self._failures if whose == address]
        counted = ((own, MAX_FAILURES), (every, MAX_TOTAL_FAILURES))
        waits = [
            times[-maximum] + PERIOD - now for times, maximum in counted if len(times) >= maximum
        ]
        return max(waits, default=0.0)


def is_same(one: str, other: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
