"""Encrypted credentials in a preview (target): nothing is encrypted, but the value is recorded."""

from typing import TYPE_CHECKING, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.content import Chunks, Content
from remote_runtime.effects import PathEffect
from remote_runtime.host import credential_ports
from remote_runtime.host.file_ports import FileReader
from remote_runtime.host.machine.credentials import MODE

if TYPE_CHECKING:
    from remote_runtime.host.preview.change_record import Record
    from remote_runtime.host.preview.files import Files
    from remote_runtime.overlay.host_overlay import HostOverlay

_WHY = "the encrypted form of a credential is not known until the push"


class EncryptedContent(Content):
    """The content of a file that a push encrypts; only its value is known."""

    def __init__(self, name: str, value: bytes) -> None:
        self.name, self.value = name, value
        self.size = len(value)  # a lower bound

    @property
    def sha256(self) -> str:  # type: ignore[override]  # each encryption gives another one
        """``Unknowable``, because the encrypted content is not known."""
        raise Unknowable(_WHY)

    def chunks(self) -> Chunks:
        raise Unknowable(_WHY)


class CredentialReader(credential_ports.CredentialReader):
    """Knows the values of planned credentials; decrypts the others on the host."""

    def __init__(self, overlay: "HostOverlay") -> None:
        super().__init__(FileReader(overlay.files), overlay.commands)
        self._overlay = overlay

    def value(self, name: str, path: str) -> Optional[bytes]:
        """See the base class. Planned values are known without the host. Other files are decrypted
        there.
        """
        content = self._overlay.files.planned_content(path)
        if isinstance(content, EncryptedContent):
            self.require()
            return content.value if content.name == name else None
        if content is not None:
            self.require()
            return self.decrypted(name, path, self._paths.read(path))
        return super().value(name, path)


class Credentials(CredentialReader, credential_ports.Credentials):
    """Records the file that a push would write."""

    def __init__(self, record: "Record", files: "Files") -> None:
        super().__init__(record.overlay)
        self._record, self._files = record, files

    def write(self, name: str, path: str, value: bytes, key: str) -> None:
        """See the base class. systemd-creds must exist. The encrypted value is unknown."""
        self.require()
        self._files.require_file_place(path)
        self._record.overlay.files.obstacles(path).writing(len(value), mode=MODE)
        uid, gid = self._files.own(path)
        content = EncryptedContent(name, value)
        self._record.add(PathEffect(path, "file", MODE, uid=uid, gid=gid, content=content))
