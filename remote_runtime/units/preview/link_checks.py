"""Obstacles to creating and removing a unit's links (target; in previews only)."""

import os
from typing import TYPE_CHECKING, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.units.preview.planned_units import PlannedUnits
from remote_runtime.units.unit_files import (
    ALIAS,
    LINKED_FROM,
    MASKED_BY,
    Definition,
    links_of,
)
from remote_runtime.units.unit_status import NOT_MASKABLE

if TYPE_CHECKING:
    from remote_runtime.context import Context

_ORDER = (ALIAS, *LINKED_FROM)


class LinkChecks(object):
    """Checks the places of links; each method raises the ``ResourceError`` with which the attempt
    would end, or returns.
    """

    def __init__(self, context: "Context", units: PlannedUnits) -> None:
        self._files = context.files
        self._units = units

    def preflight(self, name: str) -> None:
        """Check enabling a unit.

        Once systemd has created links for one setting, the others may fail. ``Unknowable`` for a
        unit that conflicts with one of this unit's new names: it may stop because of that.
        """
        unit = self._units.definition(name)
        rivals = unit.text.words("Unit", "Conflicts")
        for link in links_of(unit, ALIAS):
            if os.path.basename(link) in rivals and self._files.status(link) is None:
                text = "%s conflicts with %s, which becomes an alias of it"
                raise Unknowable(text % (unit.name, os.path.basename(link)))
        for rule in _ORDER:
            made = [self._made(unit, link, rule) for link in links_of(unit, rule)]
            if any(made):
                return

    def preflight_removal(self, name: str) -> None:
        """Check disabling a unit."""
        unit = self._units.definition(name)
        for link in self._units.files.links(unit):
            self._files.obstacles(link).removing()

    def preflight_mask(self, name: str) -> None:
        """Check putting a mask in place of a unit's file, where nothing may exist."""
        link = "%s/%s" % (self._units.places.configured, name)
        if self._files.status(link) is not None and self._files.link(link) != MASKED_BY:
            raise ResourceError(
                "masking %s failed: %s already exists" % (name, link),
                kind="service.failed",
                hint=NOT_MASKABLE,
            )
        self._files.obstacles(link).writing(0)

    def preflight_unmask(self, name: str) -> None:
        """Check removing masks. One that is part of the system remains."""
        unit = self._units.definition(name)
        masks = self._units.files.masks(name)
        for link in masks:
            self._files.obstacles(link).removing()
        if unit.masked and unit.path not in masks:
            raise UnsettledError("masked is True, not False")

    def _made(self, unit: Definition, link: str, rule: str) -> bool:
        """Return whether the link would be created and does not exist yet."""
        if rule == ALIAS and _kind(os.path.basename(link)) != _kind(unit.name):
            raise ResourceError(
                "%s cannot be enabled: it cannot have the alias %s"
                % (unit.name, os.path.basename(link)),
                kind="service.failed",
                hint="correct its unit file",
            )
        there = self._files.status(link)
        if there is None:
            directory = os.path.dirname(link)
            if self._files.is_directory(directory):
                self._files.obstacles(link).writing(0)
            else:
                self._files.obstacles(directory).making()
            return True
        other = os.path.basename(self._files.link(link)) != unit.name
        if there.kind != "symlink" or (rule == ALIAS and other):
            raise ResourceError(
                "enabling %s failed: %s already exists" % (unit.name, link),
                kind="service.failed",
                hint="check what exists at that path",
            )
        return other


def _kind(name: str) -> Tuple[str, str]:
    """Return the parts that an alias must share with its unit: the instance and the type."""
    stem, _, suffix = name.rpartition(".")
    return "".join(stem.partition("@")[1:]), suffix
