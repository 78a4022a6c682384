"""Stand-ins for the doors of the runtime, and a context to hold them (Python 3.6 and newer)."""

import errno
import hashlib
import os
import pwd
import shutil
import sys
import tempfile
import unittest
from typing import Any, Callable, Dict, Generator, List, Optional, Sequence

from remote_runtime.cancellation import Cancellation
from remote_runtime.changes import Action, Change, Unknowable
from remote_runtime.content import Chunks, Content
from remote_runtime.context import Context
from remote_runtime.effects import Effect
from remote_runtime.errors import ResourceError
from remote_runtime.execution.lifecycle import Lifecycle
from remote_runtime.execution.plan_executor import Engine
from remote_runtime.managed_resources.managed_resource import State
from remote_runtime.options import RunOptions
from remote_runtime.plan_item import Item
from remote_runtime.protocol.blobs import Blobs, Part
from remote_runtime.registry import Registry
from remote_runtime.reporting.events import EventMaker
from remote_runtime.reporting.masking import Mask
from remote_runtime.system.accounts import Accounts
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.files import Files
from remote_runtime.system.process.commands import Commands
from remote_runtime.system.temporary_file import Temporary

OWNER = pwd.getpwuid(os.geteuid()).pw_name
GROUP = str(os.getegid())
ROOT = os.geteuid() == 0
PYTHON = sys.executable


class FailingTemporary(Temporary):
    """A temporary file on a disk that has an error."""

    number = errno.ENOSPC

    def write(self, data: bytes) -> None:
        raise failure("write", self._target, OSError(self.number, os.strerror(self.number)))


class FailingFiles(Files):
    """A file system whose disk is full."""

    def temporary(self, path: str, beside: Optional[Temporary] = None) -> Temporary:
        return FailingTemporary(
            path, self.place(path, "write"), registered=self._temporary, unique="ccm-x"
        )


class FakeAccounts(Accounts):
    """Accounts that only a test knows: names to numbers."""

    def __init__(self, users: Optional[Dict[str, int]] = None) -> None:
        super().__init__()
        self._users.update(users or {})


class BlobStore(object):
    """The controller's side of blobs: what it has, and what it was asked for."""

    def __init__(self, *contents: bytes) -> None:
        self.held = {hashlib.sha256(c).hexdigest(): c for c in contents}
        self.asked = []  # type: List[List[str]]

    def fetch(self, shas: List[str]) -> Generator[Part, None, None]:
        self.asked.append(list(shas))
        for sha in shas:
            if sha in self.held:
                yield Part(sha, [self.held[sha]])
            else:
                yield Part(sha, [], "the source was removed")


def blob(content: bytes) -> Dict[str, Any]:
    """The value of a property whose content is this blob."""
    return {"$blob": hashlib.sha256(content).hexdigest(), "size": len(content)}


class PackagedContent(Content):
    """The content of a file of a package that is planned: its hash is known, no more."""

    def __init__(self, data: bytes) -> None:
        self.sha256, self.size = hashlib.sha256(data).hexdigest(), len(data)

    def chunks(self) -> Chunks:
        raise Unknowable("what it holds is not known before")


def item(kind: str, name: str, index: int = 0, **fields: Any) -> Item:
    """One item of a plan; ``properties`` and every other field by name."""
    fields.setdefault("properties", {})
    return Item(index=index, type=kind, name=name, **fields)


def context(
    items: Sequence[Item] = (),
    store: Optional[BlobStore] = None,
    files: Optional[Files] = None,
    accounts: Optional[Accounts] = None,
    secrets: Sequence[str] = (),
    commands: Any = Commands,
    on_progress: Callable[[int, str], None] = lambda index, action: None,
    on_notice: Callable[[str, str], None] = lambda level, text: None,
    **options: Any,
) -> Context:
    """A context with the real doors, except those that are given: the one maker of contexts.

    ``commands``: a door for commands, or a class of them; ``options`` of the run.
    """
    cancellation = Cancellation()
    accounts = accounts or Accounts()
    return Context(
        commands=commands(accounts, cancellation) if isinstance(commands, type) else commands,
        files=files or Files(),
        accounts=accounts,
        blobs=Blobs((store or BlobStore()).fetch),
        mask=Mask(secrets),
        cancellation=cancellation,
        options=RunOptions(**options),
        items=items,
        on_progress=on_progress,
        on_notice=on_notice,
    )


class Script(object):
    """A type whose resources do what a test says, instead of looking at a system."""

    ended = None
    tries = 0

    def __init__(self, **behaviour: Any) -> None:
        self.behaviour = behaviour
        self.may_fail = behaviour.get("chancy", False)
        self.read_only = behaviour.get("passive", False)
        self.item = None  # type: Any
        self.provider = type("Provider", (), {"name": "script"})()
        self.refreshed = []  # type: List[bool]
        self.acted = 0

    def observe(self) -> State:
        error = self.behaviour.get("observe")
        if error is not None:
            raise error
        return State("present")

    def actions(self, state: State, refresh: bool) -> List[Action]:
        self.refreshed.append(refresh)
        self.behaviour.get("look", lambda: None)()
        if self.behaviour.get("stable") and not refresh:
            return []
        effects = self.behaviour.get("effects", [])
        change = self.behaviour.get("change", Change("x", 1, 2))
        return [
            Action("Would have acted", self.act, [change], effects, self.behaviour.get("preflight"))
        ]

    def act(self) -> None:
        self.acted += 1
        if self.behaviour.get("act") is not None:
            raise self.behaviour["act"]

    def needs_refresh(self, state: State) -> bool:
        return False

    def unknown_effects(self) -> List[Effect]:
        return []

    def accepts_refresh(self, refresh: bool) -> bool:
        return refresh and not self.behaviour.get("unheeding")

    def unachieved(self, state: State) -> str:
        return str(self.behaviour.get("unsettled", ""))

    def assumed_actions(self, refresh: bool) -> List[Action]:
        return [Action("Would have acted", self.act)]

    def known_effects(self, state: State) -> List[Any]:
        return []

    def describe(self, actions: Sequence[Action]) -> str:
        return ", ".join(a.message for a in actions)


class ScriptRegistry(object):
    """Gives each item its script by name."""

    def __init__(self, **scripts: Script) -> None:
        self.scripts = scripts

    def create(self, wanted: Item, prepare: bool = True) -> Any:
        script = self.scripts[wanted.name]
        script.item = wanted
        return script

    def suppose(self, wanted: Item) -> Any:
        return self.scripts[wanted.name]


def engine(
    context: Context,
    registry: Any,
    events: List[Dict[str, Any]],
    render: Any = None,
    results: Any = None,
) -> Engine:
    """A real engine and lifecycle that put their events into a list."""
    lifecycle = Lifecycle(context, registry, render=render or (lambda i: i.properties))
    maker = EventMaker(context.mask)

    def ended(*step: Any) -> None:
        events.append(maker.make(*step))

    return Engine(context=context, lifecycle=lifecycle, ended=ended, results=results)


def run_items(
    items: Sequence[Item],
    registry: Any = None,
    noop: bool = False,
    fail_on_error: bool = False,
    render: Any = None,
    shared: Optional[Context] = None,
    results: Any = None,
    **settings: Any,
) -> List[Dict[str, Any]]:
    """Run items through a real engine and lifecycle; return their events."""
    ctx = shared or context(items, noop=noop, **settings)
    events = []  # type: List[Dict[str, Any]]
    try:
        engine(ctx, registry or Registry(ctx), events, render, results).run(items, fail_on_error)
    finally:
        ctx.files.discard_temporary()  # as a session does in the end
        if shared is None:  # nobody else has it; a suite of many runs has few descriptors
            close(ctx)
    return events


def close(ctx: Context) -> None:
    """Give back the descriptors of a context that nobody else has."""
    os.close(ctx.cancellation.wakeup)
    os.close(ctx.cancellation._signal)


class DirectoryTest(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self) -> None:
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="ccm-test-"))
        self.addCleanup(shutil.rmtree, self.root, True)

    def path(self, *parts: str) -> str:
        return os.path.join(self.root, *parts)

    def write(self, name: str, content: bytes = b"", mode: int = 0o644) -> str:
        with open(self.path(name), "wb") as out:
            out.write(content)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def read(self, name: str) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read()

    def file(self, name: str, index: int = 0, **properties: Any) -> Item:
        """A file item below the directory, owned by whom the tests run as."""
        fields = {
            key: properties.pop(key)
            for key in ("sensitive", "secrets", "require", "alias", "deferred_render", "noop")
            if key in properties
        }
        if properties.get("ensure") != "absent":
            for key, value in (("owner", OWNER), ("group", GROUP), ("mode", "0644")):
                properties.setdefault(key, value)
        return item("file", self.path(name), index, properties=properties, **fields)


def one(events: List[Dict[str, Any]]) -> Dict[str, Any]:
    """The only event."""
    assert len(events) == 1, events
    return events[0]


def failure_of(call: Any, *arguments: Any) -> ResourceError:
    """The resource error that a call raises."""
    try:
        call(*arguments)
    except ResourceError as error:
        return error
    raise AssertionError("nothing was raised")
