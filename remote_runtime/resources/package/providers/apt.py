"""Packages of Debian and its relatives (target).

Reading: one ``dpkg-query`` for all packages, one ``apt-cache policy`` for all that are to change.
Changing: one ``apt-get`` per resource, so that each has its own outcome and its own event.
Installing many packages in one transaction is faster, but one broken package would fail them all.

What only a change needs is imported when there is one: most runs find everything installed.
"""

from typing import Callable, Dict, Optional, Sequence, Tuple

from remote_runtime.base import Properties
from remote_runtime.context import Context
from remote_runtime.errors import ResourceError
from remote_runtime.resources.package import dpkg
from remote_runtime.resources.package.apt_lists import Lists
from remote_runtime.resources.package.provider import Available, Installed, PackageProvider

PROGRAMS = ("dpkg-query", "apt-cache", "apt-get")
ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTBUGS_FRONTEND": "none",
    "APT_LISTCHANGES_FRONTEND": "none",
}
INSTALL = ("apt-get", "install", "-y", "-q", "-o", "DPkg::Options::=--force-confold")
REMOVE = ("apt-get", "-q", "-y", "remove")
# Without the option a repository that cannot be reached is only a warning, and the lists stay old.
UPDATE = ("apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any")
TRANSACTION_LOCKS = (
    "/var/lib/dpkg/lock-frontend",
    "/var/lib/dpkg/lock",
    "/var/cache/apt/archives/lock",
)
LISTS_LOCKS = ("/var/lib/apt/lists/lock",)
_AFTER_DNF = 3
_LIMIT = 16 << 20  # bytes of a query's output; 64 bytes per package
_NAMES = 1000  # names on one command line
_PROVIDERS_SHOWN = 8
_STEPS = ("Get:", "Unpacking ", "Setting up ", "Removing ")


class Provider(PackageProvider):
    """apt and dpkg; needs root to change anything.

    It comes before dnf, except where dpkg has no package at all: there it is only a program, as on
    Fedora, and what the host is made of is known to RPM.
    """

    name = "apt"
    sources = ("/etc/apt/",)

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.lists = Lists()
        self._database: Optional[dpkg.Database] = None
        self._database_at = -1
        self._unmanageable: Optional[str] = None
        if not dpkg.is_used():
            self.priority = _AFTER_DNF

    def unmanageable(self, properties: Properties) -> str:
        """Return which program is missing, or ""."""
        if self._unmanageable is None:
            missing = [p for p in PROGRAMS if not self.context.commands.find(p)]
            self._unmanageable = "%s was not found" % ", ".join(missing) if missing else ""
        return self._unmanageable

    def compare(self, left: str, right: str) -> int:
        """Order two versions as dpkg does."""
        from remote_runtime.resources.package import debian_version

        return debian_version.compare(left, right)

    def status(self, name: str) -> Installed:
        """What dpkg's database has, read again once anything was changed."""
        if self._database is None or self._database_at != self.context.acted:
            result = self.context.commands.run(dpkg.QUERY, env=ENVIRONMENT, limit=_LIMIT)
            # A database without any package makes dpkg-query fail without a word.
            if result.code != 0 and result.stderr.strip():
                raise ResourceError(
                    "dpkg-query failed: %s" % result.tail(), kind="package.database"
                )
            self._database = dpkg.Database(result.stdout)
            self._database_at = self.context.acted
        return self._database.find(name)

    def look_up(self, names: Sequence[str]) -> Dict[str, Available]:
        """Ask ``apt-cache policy`` for all of them."""
        from remote_runtime.resources.package import apt_cache

        legal = [name for name in names if apt_cache.legal(name)]
        found: Dict[str, Available] = {}
        for at in range(0, len(legal), _NAMES):
            argv = ["apt-cache", "policy", "--"] + legal[at : at + _NAMES]
            found.update(apt_cache.parse_policy(self._query(argv)))
        answers: Dict[str, Available] = {}
        for name in names:
            package, architecture = dpkg.split_name(name)
            answer = found.get(name)
            if answer is None and architecture in ("any", *dpkg.NATIVE, self._native()):
                answer = found.get(package)
            answers[name] = answer or Available()
        return answers

    def _native(self) -> str:
        return self._database.native if self._database is not None else ""

    def _query(self, argv: Sequence[str]) -> str:
        result = self.context.commands.run(argv, env=ENVIRONMENT, limit=_LIMIT)
        if result.code != 0:
            from remote_runtime.resources.package import apt_errors

            raise apt_errors.explain("asking apt-cache", result)
        return result.stdout

    def providers_of(self, name: str) -> Sequence[str]:
        """The packages that provide a virtual package, at most a handful."""
        from remote_runtime.resources.package import apt_cache

        printed = self._query(["apt-cache", "showpkg", "--", name])
        return apt_cache.parse_reverse_provides(printed)[:_PROVIDERS_SHOWN]

    def lists_outdated(self, max_age: Optional[float]) -> str:
        """Return why the lists have to be refreshed, or ""."""
        return "" if max_age is None else self.lists.outdated(max_age)

    def refresh_lists(self, lock_timeout: float) -> None:
        """Run ``apt-get update``; ``ResourceError`` when any of the repositories fails."""
        self._transaction("refreshing the package lists", UPDATE, LISTS_LOCKS, lock_timeout)
        self.lists.refreshed()
        self.forget_lists()

    def install(self, name: str, version: str, exact: bool, lock_timeout: float) -> None:
        """Install this version, or what apt prefers for ""."""
        argv: Tuple[str, ...] = INSTALL
        if exact:
            argv += ("--allow-downgrades",)
        argv += ("%s=%s" % (name, version) if version else name,)

        def reached(now: Installed) -> bool:
            return now.version == version if version else bool(now.version)

        what = "installing %s" % " ".join(filter(None, (name, version)))
        self._change(name, what, argv=argv, lock_timeout=lock_timeout, reached=reached)

    def uninstall(self, name: str, lock_timeout: float) -> None:
        """Remove, not purge."""
        self._change(
            name,
            "removing %s" % name,
            argv=REMOVE + (name,),
            lock_timeout=lock_timeout,
            reached=lambda now: not now.version,
        )

    def _change(
        self,
        name: str,
        what: str,
        *,
        argv: Sequence[str],
        lock_timeout: float,
        reached: Callable[[Installed], bool],
    ) -> None:
        from remote_runtime.resources.package import apt_errors

        self._database = None
        self.lists.drop_stale_cache()
        try:
            self._transaction(what, argv, TRANSACTION_LOCKS, lock_timeout)
        except ResourceError as error:
            # dpkg retries every package that is broken already and fails for it each time. That is
            # the outcome of the broken package, not of this one.
            if error.kind != apt_errors.SCRIPT or not reached(self.status(name)):
                raise
            self.context.notice("warning", "%s is done, though: %s" % (what, error.message))
        self.acted()

    def _transaction(
        self, what: str, argv: Sequence[str], paths: Sequence[str], lock_timeout: float
    ) -> None:
        from remote_runtime.resources.package import apt_errors, locks, transaction

        manager = transaction.Manager(
            ENVIRONMENT, lambda: locks.holder(paths), apt_errors.explain, _STEPS
        )
        transaction.carry_out(
            self.context, manager, what=what, argv=argv, lock_timeout=lock_timeout
        )
