"""Refusals of requests from clients with a token (controller)."""

from orchestrator.support.plain_text import one_line

_MAX_LENGTH = 200  # characters


class RefusalError(Exception):
    """A refused request, with the HTTP status and the text of the response."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = one_line(text, _MAX_LENGTH)
