"""What the exec providers have in common: interpreters, guards, errors (target)."""

from typing import Callable, List, Optional

from remote_runtime import requirements
from remote_runtime.base import Missing, Properties, Unknowable
from remote_runtime.base import Provider as BaseProvider
from remote_runtime.errors import ResourceError
from remote_runtime.resources.exec import interpreters
from remote_runtime.resources.exec.settings import Settings
from remote_runtime.system.process.commands import Result

TIMEOUT = "resource.timeout"
RAISE_TIMEOUT = "raise timeout"


class ExecProvider(BaseProvider):
    """Runs commands; a subclass says how one without an interpreter becomes words."""

    def words(self, command: str) -> List[str]:
        """The program and its arguments. ``ResourceError`` for one that cannot be read."""
        raise NotImplementedError

    def unmanageable(self, properties: Properties) -> str:
        return ""

    def start(self, settings: Settings) -> interpreters.Start:
        """The program and its arguments, by the interpreter where there is one."""
        if settings.interpreter == "default":
            argv = self.words(settings.command)
            if not argv:
                raise ResourceError("the command is empty", kind="resource.command")
            return interpreters.Start(argv)

        def find(program: str) -> str:
            return self.context.user_commands.find(program, settings.path, settings.cwd)

        return interpreters.start(settings.interpreter, settings.command, settings.boolean, find)

    def require_start(self, settings: Settings, own: str) -> None:
        """Raise ``Missing`` for what keeps this command from starting; ``own`` names it."""
        context = self.context
        cwd = settings.cwd
        if cwd is not None and not context.files.is_directory(cwd):
            raise Missing("%s: the working directory %s does not exist" % (own, cwd))
        for kind, name in (("user", settings.user), ("group", settings.group)):
            missing = requirements.account(context, kind, name) if name is not None else None
            if missing is not None:
                raise missing
        program = self.start(settings).argv[0]
        requirements.raise_first(
            requirements.program(context, program, what=own, path=settings.path, cwd=cwd), ()
        )

    def rehearse(self, settings: Settings) -> None:
        """Raise what ``run`` would for a program that the system does not start."""
        from remote_runtime.resources.exec.start_checks import require_startable

        require_startable(self.context, settings, self.start(settings).argv)

    def run(self, settings: Settings, on_line: Optional[Callable[[str], None]] = None) -> Result:
        """Run it and wait. ``CommandNotStarted``."""

        def sink(stream: str, line: str) -> None:
            if stream == "stdout" and on_line is not None:
                on_line(line)

        start = self.start(settings)
        return self.context.user_commands.run(
            start.argv,
            input=start.input,
            cwd=settings.cwd,
            env=settings.environment,
            path=settings.path,
            timeout=settings.timeout,
            user=settings.user,
            group=settings.group,
            umask=settings.umask,
            on_output=None if on_line is None else sink,
        )

    def holds(self, settings: Settings, own: str) -> bool:
        """Whether a guard is satisfied. ``ResourceError`` when that cannot be told."""
        self.require_start(settings, own)
        try:
            result = self.run(settings)
        except Unknowable as unknown:
            raise Unknowable("%s: %s" % (own, unknown.message)) from unknown
        except ResourceError as error:
            message = "%s: %s" % (own, error.message)
            raise ResourceError(message, error.kind, error.hint, error.output) from error
        if result.timed_out:
            message = "%s: %s" % (own, result.ending(settings.timeout))
            raise ResourceError(message, TIMEOUT, RAISE_TIMEOUT, result.tail())
        return result.code in settings.returns
