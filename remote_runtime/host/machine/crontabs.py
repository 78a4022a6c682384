"""The crontabs of users on the machine (target)."""

from remote_runtime.host import crontab_ports


class Crontabs(crontab_ports.Crontabs):
    """Installs crontabs with the program of the machine."""

    def set_text(self, user: str, text: str) -> None:
        self._find_adapter().set_text(user, text)
