"""Units that only a test knows."""

from typing import Any, Dict, List

from remote_runtime.units.preview.planned_units import PlannedUnits
from remote_runtime.units.unit_files import SYSTEM, Definition, Places
from remote_runtime.units.unit_status import Status
from remote_runtime.units.unit_text import UnitText


class FakeUnits(PlannedUnits):
    """Units by their texts; ``running`` names those that run, ``masked`` those that are,
    ``broken`` why some cannot be used, ``from_elsewhere`` those whose file is only linked to."""

    def __init__(self, texts: Dict[str, str], places: Places = SYSTEM) -> None:
        self.texts, self.places = texts, places
        self.running = []  # type: List[str]
        self.masked = []  # type: List[str]
        self.broken = {}  # type: Dict[str, str]
        self.linked = []  # type: List[str]
        self.from_elsewhere = []  # type: List[str]

    def definition(self, name: str) -> Definition:
        text = UnitText(name)
        text.add(self.texts.get(name, ""))
        path = "/lib/" + name if name in self.texts else ""
        return Definition(name, path, text, masked=name in self.masked, places=self.places)

    def status(self, name: str) -> Status:
        return Status(
            name in self.texts,
            running=name in self.running,
            masked=name in self.masked,
            failure=self.broken.get(name, ""),
        )

    def by(self, key: str, name: str) -> List[str]:
        named = [o for o in self.texts if name in self.definition(o).text.words("Unit", key)]
        return sorted(named)

    @property
    def files(self) -> Any:
        """The questions to files are answered here, too."""
        return self

    def elsewhere(self, unit: Definition) -> bool:
        return unit.name in self.from_elsewhere

    def links(self, unit: Definition) -> List[str]:
        return self.linked

    def masks(self, name: str) -> List[str]:
        return self.linked
