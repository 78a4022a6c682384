"""The exec type (target; ``check`` on both sides)."""

import os
from typing import Any, Callable, List, Optional, Tuple

from remote_runtime.base import (
    Action,
    Change,
    Ended,
    Missing,
    PathEffect,
    Properties,
    ResourceType,
    State,
    Uncertainty,
    UnknownEffect,
)
from remote_runtime.effects import ASSUMED, Effect, everything
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.resources.exec import rules, wording
from remote_runtime.resources.exec.running import RAISE_TIMEOUT, TIMEOUT
from remote_runtime.resources.exec.settings import expected, of_command, of_guard

GUARDS = ("onlyif", "unless")
LOGGED = 500  # lines that logoutput tells of one command; a flood would drown the events


class Resource(ResourceType):
    """One command. It has no state of its own: it runs, or its conditions say that it need not."""

    chancy = True

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(name, properties)

    @classmethod
    def doubts(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        from remote_runtime.resources.exec.warnings import doubts

        return doubts(name, properties)

    @classmethod
    def claims(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        creates, cwd = properties.get("creates"), properties.get("cwd")
        return [(os.path.join(cwd or "/", creates), True)] if creates else []

    def observe(self) -> State:
        return State("present")

    def found(self) -> Properties:
        """Present where its guards keep it from running, absent where they would let it run."""
        if not any(self.properties.get(key) for key in GUARDS):
            raise ResourceError("an exec has no state to inspect, only conditions for its run")
        return {"ensure": "absent" if self._due() else "present"}

    def remembered(self) -> Optional[Properties]:
        """Whether what it creates is there; what guards say is known at its turn only."""
        if self._creates() is not None:
            return {"created": self._is_created()}
        guarded = any(self.properties.get(key) for key in GUARDS)
        return None if guarded and not self.properties.get("refresh_only") else {}

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """What is left to do; see ``ResourceType``."""
        if not refresh and not self._due():
            return []
        message = wording.EXECUTED_BY_SUBSCRIBE if refresh else wording.EXECUTED
        settings = of_command(self.name, self.properties)
        action = Action(
            message,
            self._execute,
            changes=[Change("command", None, settings.command)],
            effects=self._effects(),
            rehearse=lambda: self.provider.rehearse(settings),
        )
        try:
            self.provider.require_start(settings, "the command")
        except Missing as missing:
            missing.would = [action]
            raise
        return [action]

    def _effects(self) -> List[Effect]:
        """Nobody can tell what a command does, but for what it says itself."""
        why = "%s may change this first" % self.item.id
        command = str(self.properties.get("command") or self.name)
        covers: Callable[[str, str, bool], bool] = everything
        if self.context.noop:
            from remote_runtime.resources.exec.affects import affected

            covers = affected(self.properties.get("affects"), self.context)
        effects: List[Effect] = [UnknownEffect(Uncertainty(ASSUMED, why), covers, command)]
        path = self._creates()
        if path is not None and os.path.basename(path.rstrip("/")) != "..":
            effects.append(PathEffect(path, "something"))
        return effects

    def unsettled(self, state: Any) -> str:
        return ""  # its exit code was judged when it ran; the guards are not asked again

    def _due(self) -> bool:
        """Whether its conditions let it run; the guards are asked only when all else does."""
        if self.properties.get("refresh_only"):
            return False
        path = self._creates()
        if path is not None:
            if self.context.files.exists(path):
                return False
            self.context.saw("creates", path, False)
        for key, wanted in (("onlyif", True), ("unless", False)):
            guard = self.properties.get(key)
            if guard is not None and self._guard(key, guard) != wanted:
                return False
        return True

    def _guard(self, key: str, guard: Any) -> bool:
        try:
            held: bool = self.provider.holds(of_guard(guard, self.properties), key)
        except Missing as missing:
            missing.would = self.supposed(False)
            raise
        return held

    def supposed(self, refresh: bool) -> List[Action]:
        if self.properties.get("refresh_only") and not refresh:
            return []
        message = wording.EXECUTED_BY_SUBSCRIBE if refresh else wording.EXECUTED
        return [Action(message, self._execute, (), self._effects())]

    def _execute(self) -> None:
        settings = of_command(self.name, self.properties)
        self.context.progress("running %s" % settings.command)
        was_there = self._is_created()
        result = self.provider.run(settings, self._log())
        self.ended = Ended(None if result.timed_out else result.code, result.stdout, result.stderr)
        how = result.ending(settings.timeout)
        if result.timed_out:
            raise UnsettledError(how, TIMEOUT, RAISE_TIMEOUT, result.tail())
        if result.code in settings.returns:
            return
        if result.code >= 0 and not was_there and self._is_created():
            return  # it made what it was to make; its event has the code
        raise UnsettledError(
            "%s, expected %s" % (how, expected(settings.returns)),
            kind="resource.exit",
            output=result.tail(),
        )

    def _is_created(self) -> bool:
        path = self._creates()
        return path is not None and self.context.files.exists(path)

    def _creates(self) -> Optional[str]:
        """The path whose presence says that the command need not run."""
        creates = self.properties.get("creates")
        return os.path.join(self.properties.get("cwd") or "/", creates) if creates else None

    def _log(self) -> Optional[Callable[[str], None]]:
        """What is given each line of the output where it is to be told."""
        if not self.properties.get("logoutput") or self.item.sensitive:
            return None
        told = 0

        def log(line: str) -> None:
            nonlocal told
            told += 1
            if told <= LOGGED:
                self.context.notice("info", "%s: %s" % (self.item.id, line))
            elif told == LOGGED + 1:
                text = "%s: more than %d lines of output; the rest is omitted"
                self.context.notice("info", text % (self.item.id, LOGGED))

        return log
