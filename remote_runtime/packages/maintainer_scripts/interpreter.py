"""Follows a maintainer script and reports the commands that it runs (target; in previews only).

Nothing is run. Variables, functions, conditions and loops over known words are followed. If a
condition is unknown, both branches are followed, and their commands are reported as uncertain.
"""

import os
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from remote_runtime.packages.maintainer_scripts import builtins as script_builtins
from remote_runtime.packages.maintainer_scripts import conditional_expressions as script_tests
from remote_runtime.packages.maintainer_scripts import parser as script_parser
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN, negated
from remote_runtime.packages.maintainer_scripts.globs import fits
from remote_runtime.packages.maintainer_scripts.shell import Call, Shell
from remote_runtime.packages.maintainer_scripts.syntax import (
    AndOr,
    Case,
    For,
    Function,
    Group,
    If,
    Node,
    ParseError,
    Pipeline,
    Redirect,
    Redirected,
    Simple,
    While,
    Word,
)
from remote_runtime.packages.maintainer_scripts.word_expansion import Words

_MAX_STEPS = 5000  # commands of one script
_MAX_ROUNDS = 64  # of a loop
_DEEPEST = 12  # functions within one another
_WRITING = (">", ">>", ">|", "&>", "&>>", "<>")
_NULL = ("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty")
_WRAPPERS = ("command", "builtin", "nohup", "nice", "ionice", "exec", "eatmydata")


Handle = Callable[[Call], Optional[bool]]


class _Ended(Exception):  # noqa: N818 - it is not an error
    """Ends the execution of a part: ``what`` is script, function, loop or round."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what


class Interpreter(Shell):
    """Follows one script.

    ``handle`` gets each call and returns whether it succeeds, None if unknown; ``check`` answers
    the questions of ``test`` about paths. ``variables`` are those of the environment.
    """

    def __init__(
        self, handle: Handle, check: script_tests.Look, variables: Mapping[str, str]
    ) -> None:
        self._handle, self._look = handle, check
        super().__init__(variables)
        self._functions: Dict[str, Node] = {}
        self._certain = True
        self._left = _MAX_STEPS
        self._depth = 0
        self._directory = "/"
        self._words = Words(self)
        self._given = ""
        self._exited = False

    def run(self, script: str, arguments: Sequence[str]) -> None:
        """Follow a script. ``ParseError`` if it cannot be parsed, or if it has too many commands or
        too much text.
        """
        self.arguments = list(arguments)
        try:
            self.nodes(script_parser.parse(script))
        except _Ended:
            pass

    def nodes(self, nodes: Sequence[Node]) -> Optional[bool]:
        """Follow commands; return whether the last one succeeds."""
        success: Optional[bool] = True
        for node in nodes:
            success = self._node(node)
        return success

    def output(self, nodes: Sequence[Node]) -> str:
        """Return the output; it is known only for a single command that prints known words."""
        if len(nodes) == 1 and isinstance(nodes[0], Simple):
            printed = self._printed(self._words.fields(nodes[0].words))
            if printed is not None:
                return printed
        self._apart(nodes)
        return UNKNOWN

    def _apart(self, nodes: Sequence[Node]) -> Optional[bool]:
        """Follow the commands of a subshell."""
        state = dict(self.variables), list(self.arguments), self._directory
        sure = self._certain, self._exited
        try:
            return self.nodes(nodes)
        except _Ended:
            return None
        finally:
            self.variables, self.arguments, self._directory = state
            self._certain, self._exited = sure

    def _printed(self, words: Sequence[str]) -> Optional[str]:
        """Return the output of a command that only prints; None for any other command."""
        name = words[0] if words else ""
        if name == "echo" and not any(word.startswith("-") for word in words[1:]):
            return " ".join(words[1:])
        if name in ("dirname", "basename") and len(words) == 2:
            return os.path.dirname(words[1]) if name == "dirname" else os.path.basename(words[1])
        if list(words[:2]) == ["dpkg-divert", "--truename"] and len(words) == 3:
            return words[2] if self._at("diverted", words[2]) is False else UNKNOWN
        if name == "mktemp" and not any("/" in word for word in words):
            return "/tmp/.ccm-mktemp"
        if (words[:2] == ["command", "-v"] and len(words) == 3) or (
            name == "which" and len(words) == 2
        ):
            there = self._look("command", words[-1])
            return UNKNOWN if there is None else "/usr/bin/%s" % words[-1] if there else ""
        return None

    # -- nodes ------------------------------------------------------------------------------------

    def _node(self, node: Node) -> Optional[bool]:
        self._left -= 1
        if self._left < 0:
            raise ParseError("too many commands")
        if isinstance(node, Simple):
            return self._simple(node)
        if isinstance(node, AndOr):
            return self._and_or(node)
        if isinstance(node, Pipeline):
            return self._pipeline(node)
        if isinstance(node, If):
            return self._if(node)
        if isinstance(node, Case):
            return self._case(node)
        if isinstance(node, (For, While)):
            return self._loop(node)
        if isinstance(node, Group):
            return self._apart(node.body) if node.subshell else self.nodes(node.body)
        if isinstance(node, Function):
            self._functions[node.name] = node.body
            return True
        return self._redirected(node)

    def _redirected(self, node: Redirected) -> Optional[bool]:
        writes, _, _ = self._redirects(node.redirects)
        if writes:
            self._handle(self._call(("{",), writes))
        return self._node(node.node)

    def _perhaps(self, holds: Optional[bool], nodes: Sequence[Node]) -> Optional[bool]:
        """Follow the commands under a condition, which is None if unknown; return whether the last
        succeeds if it runs."""
        if holds is not None:
            return self.nodes(nodes) if holds else None
        variables, certain = dict(self.variables), self._certain
        self._certain = False
        success: Optional[bool] = None
        try:
            success = self.nodes(nodes)
        except _Ended as ended:
            certain = False  # later commands may not be reached
            self._exited = self._exited or ended.what == "script"
        self._certain = certain and not self._exited
        for name, value in self.variables.items():
            if variables.get(name, "") != value:
                self.variables[name] = UNKNOWN
        return success

    def _if(self, node: If) -> Optional[bool]:
        open_ = False
        for condition, body in node.branches:
            holds = self.nodes(condition)
            if holds is False:
                continue
            success = self._perhaps(None if open_ else holds, body)
            if holds:
                return None if open_ else success
            open_ = True
        success = self._perhaps(None if open_ else True, node.otherwise)
        return None if open_ else success

    def _and_or(self, node: AndOr) -> Optional[bool]:
        success = self._node(node.first)
        for operator, other in node.rest:
            wanted = success if operator == "&&" else negated(success)
            if wanted is False:
                continue
            if wanted is None and _does_nothing(other):
                success = True if operator == "||" else None
                continue
            done = self._perhaps(wanted, [other])
            success = done if wanted or done is (operator == "||") else None
        return success

    def _pipeline(self, node: Pipeline) -> Optional[bool]:
        if len(node.commands) == 1:
            return negated(self._node(node.commands[0]))
        first = node.commands[0]
        stdin = self._printed(self._words.fields(first.words)) if isinstance(first, Simple) else ""
        for command in node.commands[:-1]:
            self._apart([command])
        self._given = stdin or ""
        success = self._apart([node.commands[-1]])
        self._given = ""
        return negated(success) if node.negated else success

    def _case(self, node: Case) -> Optional[bool]:
        subject = self._words.joined(node.subject)
        open_ = False
        for patterns, body in node.arms:
            fits = script_tests.some([self._fits(subject, word) for word in patterns])
            if fits is False:
                continue
            self._perhaps(None if open_ else fits, body)
            if fits:
                break
            open_ = True
        return None

    def _fits(self, subject: str, word: Word) -> Optional[bool]:
        pattern = self._words.pattern(word)
        if pattern == "*":
            return True
        if UNKNOWN in subject or UNKNOWN in pattern:
            return None
        return fits(subject, pattern)

    def _loop(self, node: Union[For, While]) -> Optional[bool]:
        certain = self._certain
        if isinstance(node, For):
            words = self.arguments if node.words is None else self._words.fields(node.words)
            known = len(words) <= _MAX_ROUNDS and not any(UNKNOWN in word for word in words)
            for word in list(words)[:_MAX_ROUNDS]:
                self.variables[node.name] = word
                if not self._round(node.body, known):
                    break
        else:
            self.nodes(node.condition)
            # Twice: the results of one round are unknown in the next.
            for _ in range(2):
                self._round(node.body, False)
        self._certain = certain and not self._exited
        return None

    def _round(self, body: Sequence[Node], known: bool) -> bool:
        """Follow one round of a loop; return whether there may be another one."""
        try:
            self._perhaps(True if known else None, body)
        except _Ended as ended:
            if ended.what not in ("loop", "round"):
                raise
            return ended.what == "round"
        return True

    # -- commands ---------------------------------------------------------------------------------

    def _redirects(self, redirects: Sequence[List[Redirect]]) -> Tuple[Tuple[str, ...], bool, str]:
        """Return the files that are written, each with whether the output is appended, and the
        input text.
        """
        writes: List[str] = []
        appends, stdin = False, ""
        for operator, target, document in [place[0] for place in redirects]:
            if operator in _WRITING:
                path = self._path(self._words.joined(target))
                if path not in _NULL:
                    writes.append(path)
                    appends = operator in (">>", "&>>")
            elif document is not None:
                stdin = self._words.joined(document)
        return tuple(writes), appends, "" if UNKNOWN in stdin else stdin

    def _call(
        self,
        words: Tuple[str, ...],
        writes: Tuple[str, ...] = (),
        appends: bool = False,
        stdin: str = "",
    ) -> Call:
        return Call(words, self._certain, self._directory, writes, appends, stdin, self.umask)

    def _path(self, word: str) -> str:
        return word if word.startswith(("/", UNKNOWN)) else os.path.join(self._directory, word)

    def _simple(self, node: Simple) -> Optional[bool]:
        words = self._words.fields(node.words)
        writes, appends, stdin = self._redirects(node.redirects)
        values = {name: self._words.joined(word) for name, word in node.assigned}
        if not words:
            self.variables.update(values)
            if writes:
                return self._handle(self._call((":",), writes, appends))
            return True
        while words[0] in _WRAPPERS and len(words) > 1 and not words[1].startswith("-"):
            words = words[1:]
        return self._called(words, self._call((), writes, appends, stdin or self._given))

    def _called(self, words: List[str], call: Call) -> Optional[bool]:
        name = words[0]
        if name in self._functions:
            return self._function(self._functions[name], words[1:])
        builtin = script_builtins.BUILTINS.get(name)
        if builtin is not None and not call.writes:
            return builtin(self, words)
        return self._handle(call._replace(words=tuple(words)))

    def _function(self, body: Node, arguments: List[str]) -> Optional[bool]:
        if self._depth >= _DEEPEST:
            raise ParseError("functions are nested too deeply")
        state, self.arguments, certain = self.arguments, arguments, self._certain
        self._depth += 1
        try:
            return self._node(body)
        except _Ended as ended:
            if ended.what != "function":
                raise
            return None
        finally:
            self._depth -= 1
            self.arguments = state
            self._certain = certain and not self._exited

    # -- what builtins do -------------------------------------------------------------------------

    def end(self, what: str) -> None:
        raise _Ended("script" if what == "function" and not self._depth else what)

    def evaluate(self, text: str) -> Optional[bool]:
        return self.nodes(script_parser.parse(text))

    def maybe(self, text: str) -> None:
        self._perhaps(None, script_parser.parse(text))

    def enter(self, directory: str) -> None:
        self._directory = self._path(directory)

    def report(self, words: Sequence[str]) -> Optional[bool]:
        return self._handle(self._call(tuple(words)))

    def test(self, words: Sequence[str]) -> Optional[bool]:
        return script_tests.test(words, self._at)

    def _at(self, kind: str, path: str) -> Optional[bool]:
        path = self._path(path)
        return None if UNKNOWN in path else self._look(kind, path)

    def found(self, program: str) -> Optional[bool]:
        return self._look("command", program)


def _does_nothing(node: Node) -> bool:
    """Return whether the node is ``true`` or ``:``."""
    if not isinstance(node, Simple) or len(node.words) != 1 or node.redirects:
        return False
    return "".join(part.text for part in node.words[0]) in ("true", ":")
