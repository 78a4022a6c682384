"""The plan files of a project with their signatures, and their cache for pages (controller).

A plan is an untrusted file: the reader of plans checks it against its schema and its digest. The
stamp of the file decides whether a cached plan is still valid.
"""

import contextlib
import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from orchestrator.fleet.host.stage_host import host_in
from orchestrator.plan_files import signing
from orchestrator.plan_files.conditions import Condition, Verdict, evaluate
from orchestrator.plan_files.counters import counters_of
from orchestrator.plan_files.plan_detection import SUFFIX
from orchestrator.plan_files.plan_file import PlanFile, moment
from orchestrator.plan_files.signing import find_approvers
from orchestrator.plan_files.storage import parse_plan
from orchestrator.report.dangerous_changes import NOTHING_KNOWN, dangers_in
from orchestrator.studio.path_guard import content_of, folder_below, is_name, names_below
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import CcmError, InputError, Problem

MAX_FILES = 200
MAX_BYTES = 64 << 20

Stamp = tuple[int, ...]


class StoredPlan(NamedTuple):
    """A plan file on disk, and the content of its signature file."""

    name: str
    text: bytes
    signatures: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of all bytes of the plan."""
        return hashlib.sha256(self.text).hexdigest()


class PlanFolder:
    """The plans in the directory ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def names(self) -> list[str]:
        """The plans by their path relative to the root, newest first."""
        found = [
            (stamp, name)
            for name in names_below(self.root)
            if _is_possible(name) and (stamp := self.stamp(name))
        ]
        return [name for _, name in sorted(found, reverse=True)[:MAX_FILES]]

    def stamp(self, name: str) -> Stamp | None:
        """A stamp of the version of a plan; None if there is no plan."""
        return self._stamp(name) if _is_possible(name) else None

    def signature_stamp(self, name: str) -> Stamp | None:
        """A stamp of the signatures of a plan; None if there are none."""
        return self._stamp(name + signing.SUFFIX) if _is_possible(name) else None

    def _stamp(self, name: str) -> Stamp | None:
        with contextlib.suppress(OSError, InputError), folder_below(self.root, name) as folder:
            if folder is not None:
                found = os.stat(os.path.basename(name), dir_fd=folder, follow_symlinks=False)
                return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
        return None

    def read(self, name: str) -> StoredPlan | None:
        """Return a plan; None if none has that name. InputError, OSError."""
        if not _is_possible(name):
            return None
        with folder_below(self.root, name) as folder:
            if folder is None:
                return None
            text = content_of(folder, name, MAX_BYTES, f"ccm plan show {name} shows it")
            if text is None:
                return None
            beside, maximum = name + signing.SUFFIX, signing.MAX_BYTES
            signatures = content_of(folder, beside, maximum, "remove it and sign again")
        return StoredPlan(name, text, signatures or b"")


def _is_possible(name: str) -> bool:
    return name.endswith(SUFFIX) and is_name(name)


MAX_RESULTS = 200_000  # of resources on hosts, in a plan that is shown
SKEW = 300  # seconds that the clock of the plan's author may be ahead
_MAX_LENGTH = 500  # characters of a problem
_OPEN = 4  # plans in memory
_SUMMARIES = 1_000

Value = TypeVar("Value")


class PlanPolicy(NamedTuple):
    """The requirements for a push of a plan: a number of approvals from people in ``signers`` (""
    for none), and that none of the ``denied`` conditions is true.
    """

    signers: str = ""
    wanted: int = 1
    denied: tuple[Condition, ...] = ()


NO_POLICY = PlanPolicy()


class Approvals(NamedTuple):
    """The ``people`` who approved a plan, and the ``wanted`` number of them; ``notes`` are the
    reasons why other signatures do not count, and ``problem`` is the reason if the approvals are
    unknown.
    """

    people: list[str]
    wanted: int
    notes: list[str]
    problem: str = ""

    @property
    def are_enough(self) -> bool:
        """Whether as many people approved as the policy requires."""
        return bool(self.wanted) and not self.problem and len(self.people) >= self.wanted


class PlanSummary(NamedTuple):
    """A summary of a plan. ``hosts`` and ``left_out`` are names without stages; ``given`` are
    options with values that a push must repeat; ``counters`` are those of ``ccm plan check``.
    """

    name: str
    digest: str
    id: str
    by: str
    ccm: str
    manifest: str
    created: int
    expires: int
    hosts: tuple[str, ...]
    left_out: tuple[str, ...]
    dangers: str
    given: tuple[str, ...]
    counters: dict[str, int]

    @property
    def state(self) -> str:
        """Whether it may be pushed now, according to its times."""
        now = time.time()
        if now >= self.expires:
            return "expired"
        return "dated in the future" if now < self.created - SKEW else "valid"

    @property
    def times(self) -> str:
        """The times when it was made and when it expires."""
        until = "valid until" if self.state != "expired" else "was valid until"
        return f"{moment(self.created)}, {until} {self.until}"

    @property
    def until(self) -> str:
        """The time when it expires."""
        return moment(self.expires)


class OpenPlan(NamedTuple):
    """A plan that was read completely."""

    summary: PlanSummary
    plan_file: PlanFile
    stored: StoredPlan


class DamagedPlan(NamedTuple):
    """A plan file that cannot be shown, and the reason."""

    name: str
    problem: str


class StoredPlans:
    """The plans in the directory ``root``, subject to a policy."""

    def __init__(self, root: Path, policy: PlanPolicy = NO_POLICY) -> None:
        self.folder = PlanFolder(root)
        self.policy = policy
        self._summaries = _Memory[PlanSummary | DamagedPlan](_SUMMARIES)
        self._open = _Memory[OpenPlan](_OPEN)
        self._sections = _Memory[Any](_OPEN)
        self._approvals = _Memory[Approvals](_SUMMARIES)
        self._listed = _Memory[Approvals](_SUMMARIES)

    def summaries(self) -> list[PlanSummary | DamagedPlan]:
        """All plans, newest first."""
        return [
            self._summaries.get((name, self.folder.stamp(name)), partial(self._short, name))
            for name in self.folder.names()
        ]

    def _short(self, name: str) -> PlanSummary | DamagedPlan:
        try:
            stored = self.folder.read(name)
            if stored is not None:
                return _opened(stored).summary
        except (CcmError, OSError) as error:
            return DamagedPlan(name, problem_of(error))
        return DamagedPlan(name, "it was removed")

    def open(self, name: str) -> OpenPlan | None:
        """Return a plan; None if none has that name. InputError, OSError."""
        stored = self.folder.read(name)
        if stored is None:
            return None
        found = self._open.get((name, stored.digest), lambda: _opened(stored))
        return found._replace(stored=stored)

    def of_plan(self, plan: OpenPlan, make: Callable[[PlanFile], Value]) -> Value:
        """The cached result of a page for a plan, or a new one."""
        found: Value = self._sections.get((plan.summary.digest, make), lambda: make(plan.plan_file))
        return found

    def approvals(self, plan: StoredPlan, manifest: str) -> Approvals:
        """The approvals of a plan of a manifest."""
        signers = self.policy.signers
        if not signers:
            return Approvals([], 0, [])
        signatures = hashlib.sha256(plan.signatures).digest()
        key = (plan.digest, signatures, _stamp(signers), manifest)
        return self._approvals.get(key, lambda: self._checked(plan, manifest))

    def approvals_of(self, plan: PlanSummary) -> Approvals:
        """The approvals of a summarized plan. Its files are read again if they have changed."""
        if not self.policy.signers:
            return Approvals([], 0, [])
        folder, name = self.folder, plan.name
        stamps = folder.stamp(name), folder.signature_stamp(name), _stamp(self.policy.signers)
        return self._listed.get((name, plan.digest, *stamps), partial(self._read_approvals, plan))

    def _read_approvals(self, plan: PlanSummary) -> Approvals:
        try:
            stored = self.folder.read(plan.name)
        except (CcmError, OSError) as error:
            return Approvals([], self.policy.wanted, [], problem_of(error))
        if stored is None or stored.digest != plan.digest:
            return Approvals([], self.policy.wanted, [], "it was replaced")
        return self.approvals(stored, plan.manifest)

    def _checked(self, plan: StoredPlan, manifest: str) -> Approvals:
        path = str(self.folder.root / manifest)
        wanted = self.policy.wanted
        try:
            found = find_approvers(
                plan.name,
                plan.text,
                signatures=plan.signatures,
                signers=self.policy.signers,
                manifest=path,
            )
        except CcmError as error:
            return Approvals([], wanted, [], problem_of(error))
        return Approvals(found.people, wanted, found.uncounted)

    def verdict(self, plan: PlanSummary) -> Verdict:
        """Whether the policy denies the changes of a plan."""
        return evaluate(plan.counters, self.policy.denied)


class _Memory(Generic[Value]):
    """Caches the latest values, and creates only one at a time."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._values = OrderedDict[Hashable, Value]()
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, created if it is missing."""
        if (known := self._known(key)) is not None:
            return known
        with self._making:
            if (known := self._known(key)) is not None:
                return known
            made = make()
            with self._lock:
                self._values[key] = made
                while len(self._values) > self._maximum:
                    self._values.popitem(last=False)
            return made

    def _known(self, key: Hashable) -> Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)


def _opened(stored: StoredPlan) -> OpenPlan:
    plan_file = parse_plan(stored.name, stored.text)
    record = plan_file.shown
    if sum(len(host["outcomes"]) for host in record["hosts"].values()) > MAX_RESULTS:
        hint = f"ccm plan show {stored.name} shows it"
        message = f"{stored.name} has more than {MAX_RESULTS:,} resource results"
        raise InputError([Problem(message, None, hint, "input.plan")])
    dangers = dangers_in(plan_file)
    given = (
        *(f"--data {key}" for key in record["data"]),
        *(f"--fact {key}" for key in record["fact"]),
    )
    summary = PlanSummary(
        name=stored.name,
        digest=stored.digest,
        id=plan_file.id,
        by=record["user"],
        ccm=record["ccm"],
        manifest=record["manifest"],
        created=record["created"],
        expires=record["expires"],
        hosts=tuple(dict.fromkeys(map(host_in, record["hosts"]))),
        left_out=tuple(dict.fromkeys(map(host_in, record["left_out"]))),
        dangers=dangers.total or (NOTHING_KNOWN if dangers.is_reportable else ""),
        given=given,
        counters=counters_of(plan_file),
    )
    return OpenPlan(summary, plan_file, stored)


def problem_of(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, InputError):
        return one_line("; ".join(map(str, error.problems)), _MAX_LENGTH)
    if isinstance(error, OSError):
        return f"it cannot be read: {os.strerror(error.errno or 0)}"
    return one_line(str(error), _MAX_LENGTH)


def _stamp(path: str) -> Sequence[int]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode
