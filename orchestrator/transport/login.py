"""A logged-in host, and the programs that are started on it (controller)."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.image import Image
from orchestrator.support.background_call import deadline
from orchestrator.transport.command_pipe import Link, Pipe
from orchestrator.transport.connection_settings import Settings, Target
from orchestrator.transport.credentials import Credentials
from orchestrator.transport.handshake import Handshake
from orchestrator.transport.start_command import become_command, quote, start_command
from remote_runtime.errors import UnreachableError

if TYPE_CHECKING:
    from orchestrator.transport.local import WaitingInterpreter
    from orchestrator.transport.ssh_connect import Connection


class _Run(NamedTuple):
    """A command, its nonce, and the text that sudo shows to request the password."""

    command: list[str]
    nonce: str
    prompt: str | None


class Login:
    """One connection to a host; each program runs as the user that the inventory sets.

    ``connection`` is None for a host that is the controller itself; its first program may run in a
    ``waiting`` interpreter. ``user`` is the user who logged in. ``until`` is the time at which the
    host times out, None for never.
    """

    def __init__(
        self,
        host: Target,
        user: str,
        *,
        settings: Settings,
        credentials: Credentials,
        connection: "Connection | None" = None,
        until: float | None = None,
        waiting: "WaitingInterpreter | None" = None,
    ) -> None:
        self._host = host
        self._user = user
        self._settings = settings
        self._credentials = credentials
        self._connection = connection
        self._until = until
        self._waiting = waiting

    @classmethod
    def local(
        cls,
        host: Target,
        settings: Settings,
        *,
        credentials: Credentials,
        until: float | None = None,
        waiting: "WaitingInterpreter | None" = None,
    ) -> "Login":
        """The login of a host that is the controller itself."""
        user = ""
        if settings.become_user(host) is not None:  # only then it matters who this is
            import getpass

            user = getpass.getuser()
        return cls(
            host,
            user,
            settings=settings,
            credentials=credentials,
            until=until,
            waiting=waiting,
        )

    def start(self, image: Image, hang_up: bool = False) -> Link:
        """The link of a program that is ready; several programs may run, each on its own channel.

        With ``hang_up``, closing the link also ends the connection. UnreachableError; the time is
        limited.
        """
        if self._connection is None:
            return self._start_local(image)
        from orchestrator.transport.ssh_pipe import SshPipe
        from orchestrator.transport.ssh_transport import CHANNEL_TIMEOUT, start

        run = self._command(image)
        end = deadline(CHANNEL_TIMEOUT, self._until)
        try:
            session = self._connection.session
            channel = start(session, quote(run.command), end)
        except Exception as error:
            message = f"could not open a session on {self._host.name}: {error}"
            raise UnreachableError(message, "transport.session") from error
        close: Callable[[], None] = self.close if hang_up else channel.close
        link = self._opening(SshPipe(session, channel, close), run, image).link()
        link.host_key, link.login_keys = self._connection.host_key, session.login_keys
        return link

    def close(self) -> None:
        """Close the connection; any thread may call this."""
        if self._connection is not None:
            self._connection.close()
        if self._waiting is not None:
            self._waiting.close()

    def _start_local(self, image: Image) -> Link:
        from orchestrator.transport.local import LocalPipe

        waiting, self._waiting = self._waiting, None
        if waiting is None:
            run = self._command(image, prefer=sys.executable)
            pipe = LocalPipe(run.command)
        else:
            waiting.start(image)
            run, pipe = _Run([], waiting.nonce, None), waiting.pipe
        link = self._opening(pipe, run, image).link()
        pipe.started()
        return link

    def _command(self, image: Image, prefer: str | None = None) -> _Run:
        nonce = os.urandom(16).hex()
        command = start_command(image, nonce, self._host.python, prefer)
        user = self._settings.become_user(self._host)
        if user is None or user == self._user:
            return _Run(command, nonce, None)
        prompt = f"ccm-{os.urandom(8).hex()}:" if self._credentials.become_password else None
        return _Run(become_command(command, user, prompt), nonce, prompt)

    def _opening(self, pipe: Pipe, run: _Run, image: Image) -> Handshake:
        password = self._credentials.become_password if run.prompt else None
        return Handshake(
            self._host.name,
            pipe,
            nonce=run.nonce,
            image=image,
            prompt=run.prompt,
            password=password,
            until=self._until,
            python=self._host.python,
        )
