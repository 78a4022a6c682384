"""Runs a command with the layer over the host (target; in previews only, as root)."""

import os
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.overlay.planned_content import LARGE
from remote_runtime.overlay.sandbox import FUNCTIONS
from remote_runtime.system.process.commands import CommandNotStartedError, Result

if TYPE_CHECKING:
    from remote_runtime.overlay.planned_nodes import Node
    from remote_runtime.system.accounts import Identity
    from remote_runtime.system.process.commands import Commands
    from remote_runtime.system.process.process_io import OutputSink

_START = (
    "import marshal, sys, types\n"
    "codes, plan = marshal.load(sys.stdin.buffer)\n"
    "names = {'__builtins__': __builtins__}\n"
    "for code in codes: names[code.co_name] = types.FunctionType(code, names)\n"
    "names['main'](plan)\n"
)
_BASES = ("/mnt", "/media", "/srv", "/opt", "/usr/src", "/usr/games", "/var/local", "/var/opt")
_LIMIT = 32 << 20  # bytes of content that are carried over
_UNNAMED = 4 << 20  # bytes of one file that the command does not name
_BUILDING = 10.0  # seconds that it may take to lay all out


class Start(NamedTuple):
    """A resolved command; ``identity`` is its user, ``input`` its standard input."""

    argv: Sequence[str]
    program: str
    cwd: str
    env: Mapping[str, str]
    identity: "Identity"
    umask: Optional[int]
    input: Optional[bytes]


class OverlayCommand(object):
    """One command that runs inside the overlay. ``host`` runs commands there, ``nodes`` are those
    of the layer, and ``own`` are ccm's working directories, to which commands inside also write.
    """

    def __init__(self, host: "Commands", nodes: Mapping[str, "Node"], own: Sequence[str]) -> None:
        self._host = host
        self._nodes = nodes
        self._own = own
        self._token = "ccm-%s" % os.urandom(12).hex()
        self._told: List[str] = []
        self._ready = 0.0

    def run(
        self,
        start: Start,
        timeout: Optional[float],
        limit: int,
        on_output: Optional["OutputSink"],
    ) -> Result:
        """Run it. ``Unknowable`` if it cannot run here, or if it has read something that only the
        push creates."""
        import marshal
        import sys

        program = start.argv[0]
        if os.geteuid() != 0:
            raise Unknowable("only root can run %s on the planned state" % program)
        if not self._host.find("unshare") or not sys.executable:
            raise Unknowable(
                "%s cannot run on the planned state: unshare is not installed" % program
            )

        def read_line(stream: str, line: str) -> None:
            if line.startswith(self._token):
                self._told.append(line[len(self._token) + 1 :].rstrip("\n"))
                self._ready = self._ready or time.monotonic()
            elif on_output is not None:
                on_output(stream, line)

        def until() -> Optional[float]:
            return self._ready + timeout if timeout and self._ready else None

        result = self._host.run(
            ("unshare", "--mount", sys.executable, "-I", "-S", "-B", "-c", _START),
            input=marshal.dumps(([f.__code__ for f in FUNCTIONS], self._plan(start))),
            timeout=timeout + _BUILDING if timeout else None,
            limit=limit,
            on_output=read_line,
            until=until,
        )
        return self._judge(result, program)

    def _plan(self, start: Start) -> Dict[str, Any]:
        env = dict({"SYSTEMD_IGNORE_CHROOT": "1"}, **start.env)  # systemctl does nothing in one
        identity = start.identity
        return {
            "token": self._token.encode(),
            "base": self._base().encode(),
            "own": [os.fsencode(directory) for directory in self._own],
            "nodes": self._carried(" ".join(start.argv)),
            "cwd": os.fsencode(start.cwd),
            "umask": 0o022 if start.umask is None else start.umask,
            "identity": None
            if identity.current
            else (identity.uid, identity.gid, list(identity.groups)),
            "program": os.fsencode(start.program),
            "argv": [os.fsencode(word) for word in start.argv],
            "env": {os.fsencode(key): os.fsencode(value) for key, value in env.items()},
            "input": start.input,
        }

    def _judge(self, result: Result, program: str) -> Result:
        own = [line for line in result.stderr.splitlines(True) if not line.startswith(self._token)]
        result = result._replace(stderr="".join(own))
        if "ready" not in self._told:
            reason = (result.stderr.strip().splitlines() or ["exit code %d" % result.code])[0]
            raise Unknowable("%s cannot run on the planned state: %s" % (program, reason))
        for line in self._told:
            word, _, about = line.partition(" ")
            if word == "read":
                raise Unknowable("%s reads %s, whose content is not known yet" % (program, about))
            if word == "lost":
                raise CommandNotStartedError("%s could not be started: %s" % (program, about))
        return result

    def _base(self) -> str:
        """Return a directory to build in, away from planned paths and mounts."""
        from remote_runtime.overlay.sandbox import mounted

        busy = list(self._nodes) + [os.fsdecode(point) for point in mounted()]
        for base in _BASES:
            free = not any((path + "/").startswith(base + "/") for path in busy)
            if free and os.path.isdir(base) and not os.path.islink(base):
                return base
        raise Unknowable("there is no directory for the planned state")

    def _carried(self, text: str) -> List[Tuple[Any, ...]]:
        """Return the nodes; a large file is included only if the command's ``text`` contains its
        name.
        """
        remaining_size = _LIMIT
        carried = []
        for path, node in self._nodes.items():
            content: Optional[bytes] = None
            if (
                node.kind == "file"
                and node.content is not None
                and node.content.size <= remaining_size
            ):
                is_named = os.path.basename(path) in text
                content = node.content.data(LARGE if is_named else _UNNAMED)
                if content is None and is_named:
                    node.content.fetch()
                    content = node.content.data(LARGE)
                remaining_size -= len(content or b"")
            attributes = _mode(node), max(node.uid, 0), max(node.gid, 0)
            target = os.fsencode(node.target)
            carried.append(
                (os.fsencode(path), node.kind)
                + attributes
                + (content, target, node.opaque, node.kind == "file" and not node.once, node.kept)
            )
        return carried


def _mode(node: "Node") -> int:
    return node.mode if node.kind != "something" else 0o755
