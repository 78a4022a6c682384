"""The keys of a NATS key-value bucket (controller)."""

from typing import NamedTuple


class Key(NamedTuple):
    """One key of one bucket."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"kv://{self.bucket}/{self.key}"
