"""Units on the machine (target)."""

from remote_runtime.host import ports


class Units(ports.Units):
    """Runs systemctl."""

    def _act(self, verb: str, name: str) -> None:
        systemd, own = self._of(name)
        systemd.act(systemd.possible(verb, own), own)
