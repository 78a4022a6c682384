"""How certain a prediction of a preview is (both sides)."""

from typing import NamedTuple

ASSUMED, UNKNOWN = "assumed", "unknown"
_ORDER = ("", ASSUMED, UNKNOWN)


class Uncertainty(NamedTuple):
    """The uncertainty of a prediction: ``assumed``, ``unknown`` or "", and the reason in a few
    words."""

    level: str = ""
    reason: str = ""

    def worse(self, other: "Uncertainty") -> "Uncertainty":
        """Return the greater of the two, or this one if they are equal."""
        return other if _ORDER.index(other.level) > _ORDER.index(self.level) else self


CERTAIN = Uncertainty()
