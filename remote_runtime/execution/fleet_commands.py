"""Runs ``ccm run`` and ``ccm fetch`` (target): no type, no conditions, no stored state.

The plan of such a run has one item. The properties of a command are ``argv`` and optionally
``timeout``. Those of a script are also its content, the name of its file and its arguments;
``argv`` is then the interpreter. Those of a ``fetch`` are the ``paths`` and the limits.
"""

import os
from typing import List

from remote_runtime.changes import Ended
from remote_runtime.errors import ResourceError
from remote_runtime.execution.lifecycle import Lifecycle
from remote_runtime.plan_item import Item, Properties
from remote_runtime.reporting.events import Outcome
from remote_runtime.system.errno_messages import failure
from remote_runtime.text import duration
from remote_runtime.uncertainty import Uncertainty

KEPT = 60 << 10  # bytes of each output, half of them from its beginning, half from its end
MAX_OUTPUT_LENGTH = 128 << 10  # characters of both together


FETCH = "fetch"  # the type of the item that sends files to the controller


class AdhocLifecycle(Lifecycle):
    """The lifecycle of a command, which runs once and succeeds only with exit code 0, or of files,
    which are sent once.
    """

    def _manage(
        self, item: Item, noop: bool, *, refresh: bool, gate: Uncertainty, outcome: Outcome
    ) -> None:
        outcome.longest = MAX_OUTPUT_LENGTH
        if item.type == FETCH:
            self._fetch(item.properties, outcome)
        else:
            self._run(item.properties, outcome)
        outcome.changed = item.type != FETCH
        outcome.final_ensure = "present"

    def _fetch(self, properties: Properties, outcome: Outcome) -> None:
        from remote_runtime.protocol.file_sender import Fetch

        files = Fetch(self._context, self._context.to_controller(), properties)
        messages: List[str] = []
        wrong: List[str] = []
        for number, path in enumerate(properties["paths"]):
            self._context.progress("fetching %s" % path)
            try:
                messages.append(files.path(number, path))
            except ResourceError as error:
                messages.append(str(error))
                wrong.append(str(error))
        outcome.ended = Ended(None, "\n".join(messages) + "\n", "")
        if wrong:
            noun = "path" if len(messages) == 1 else "paths"
            text = "%d of %d %s could not be fetched" % (len(wrong), len(messages), noun)
            text += " completely" if files.is_partial else ""
            raise ResourceError(text, kind="resource.fetch", output="\n".join(wrong))

    def _run(self, properties: Properties, outcome: Outcome) -> None:
        self._context.progress("running")
        timeout = duration.parse(properties.get("timeout", "0"))
        directory = ""
        argv = [str(word) for word in properties["argv"]]
        try:
            if "script" in properties:
                directory = self._context.files.private_directory()
                argv += self._staged(directory, properties)
            result = self._context.commands.run(argv, cwd=self._home(), timeout=timeout, limit=KEPT)
        finally:
            if directory:
                self._context.files.remove_private_directory(directory)
        code = None if result.timed_out else result.code
        outcome.ended = Ended(code, result.stdout, result.stderr)
        if code != 0:
            how = result.ending(timeout)
            raise ResourceError(how, kind="resource.exit", output=result.tail())

    def _home(self) -> str:
        """Return the home directory if commands can start there."""
        home = self._context.accounts.identity().home
        return home if os.path.isdir(home) and os.access(home, os.X_OK) else "/"

    def _staged(self, directory: str, properties: Properties) -> List[str]:
        """Return the script in a private file, and its arguments."""
        content = properties["script"]
        path = os.path.join(directory, os.path.basename(properties["file"]))
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as out:
                for chunk in self._context.blobs.chunks(content["$blob"], content["size"]):
                    self._context.check_cancelled()
                    out.write(chunk)
        except OSError as error:
            raise failure("write", path, error) from error
        return [path] + [str(word) for word in properties["arguments"]]
