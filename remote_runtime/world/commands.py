"""Commands of the user in a preview (target): guards, validations, post commands."""

from typing import Any, Callable, Optional, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.system.commands import Commands, Result
from remote_runtime.world.clouds import Clouds
from remote_runtime.world.files import WorldFiles


class WorldCommands(Commands):
    """Programs are looked up as they will be; what must see the layer cannot be run on the host.

    ``differs`` says whether anything there will be is not there yet.
    """

    def __init__(
        self, host: Commands, files: WorldFiles, clouds: Clouds, differs: Callable[[], bool]
    ) -> None:
        self._host, self._files, self._clouds, self._differs = host, files, clouds, differs

    def is_program(self, path: str) -> bool:
        return self._files.is_program(path)

    def is_there(self, path: str) -> bool:
        return self._files.exists(path)

    def run(self, argv: Sequence[str], cwd: Optional[str] = None, **how: Any) -> Result:
        """Run it on the host where that has no layer over it. ``Unknowable`` where it has."""
        if self._differs():
            raise Unknowable("%s would see the host as it is, not as it will be" % argv[0])
        self._clouds.heed("host", "", True)
        return self._host.run(argv, cwd, **how)
