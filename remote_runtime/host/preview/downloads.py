"""Downloads in a preview (target): nothing is downloaded, but the path is checked and recorded."""

from typing import TYPE_CHECKING, Callable

from remote_runtime.effects import PathEffect
from remote_runtime.host import download_ports
from remote_runtime.host.preview.change_record import Record
from remote_runtime.host.preview.files import Files
from remote_runtime.retries import ONCE, RetryPolicy
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.downloads.request import Request
    from remote_runtime.host.preview.archives import Archives
    from remote_runtime.overlay.host_overlay import HostOverlay


class DownloadReader(download_ports.DownloadReader):
    """Does not query servers for checksums: their answers are unknown."""

    def __init__(self, context: "Context", overlay: "HostOverlay") -> None:
        super().__init__(context)
        self._overlay = overlay

    def _unknown(self, what: str, request: "Request") -> str:
        from remote_runtime.downloads.http_get import display_url

        reason = "only a push reads %s %s" % (what, display_url(request.url))
        self._overlay.unknown_regions.suppose(Uncertainty(UNKNOWN, reason))
        return ""

    def listed(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        return self._unknown("the checksum file", request)

    def checksum(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        return self._unknown("the file", request)


class Downloads(DownloadReader, download_ports.Downloads):
    """Records the effects of a download; with ``--probe-urls``, it first queries the server."""

    def __init__(
        self, context: "Context", record: Record, files: Files, archives: "Callable[[], Archives]"
    ) -> None:
        super().__init__(context, record.overlay)
        self._record, self._paths, self._archives = record, files, archives

    def _require_place(self, path: str) -> None:
        if self._record.checks:
            self._paths.require_file_place(path)

    def _fetch(self, wanted: download_ports.NewDownload) -> str:
        from remote_runtime.downloads.predicted_content import DownloadedContent

        record, path, mode = self._record, wanted.path, wanted.mode
        checksum, extraction = wanted.checksum, wanted.extraction
        if record.checks:
            record.overlay.files.obstacles(path).writing(0, wanted.uid, wanted.gid, mode)
        if record.checks and self._context.options.probe_urls:
            from remote_runtime.downloads import url_probe

            url_probe.require(self._context, path, wanted.request, checksum)
        if record.checks and extraction is not None:
            self._archives().require(extraction)
            self._archives().require_place(extraction)
        uid, gid = self._paths.owned(path, wanted.uid, wanted.gid)
        algorithm, _, digits = checksum.partition(":")
        record.add(
            PathEffect(
                path,
                "file",
                mode=mode,
                uid=uid,
                gid=gid,
                content=DownloadedContent(digits if algorithm == "sha256" else ""),
                firm=wanted.firm,
            )
        )
        if extraction is not None:
            self._archives().record(extraction)
        return checksum
