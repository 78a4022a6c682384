"""The data of a single file, as shown by ``ccm hiera parse`` (controller)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inventory.yaml_document import Mapping, parse_document, read_data
from orchestrator.expressions.environment_variables import Environ
from orchestrator.fleet.host.host_facts import HostFacts, NeedAnswersError
from orchestrator.language.manifest_directory import Directory
from orchestrator.manifest.data_source import KEYS, DataSource, refuse_unknown_keys
from orchestrator.manifest.lookups import Asks, read_asks
from orchestrator.manifest.resource_types import types_beside
from orchestrator.planning.explanation import Explanation, hidden, masked
from orchestrator.planning.facts import FactOverlay
from orchestrator.planning.plan_options import PlanOptions, load_environ
from orchestrator.planning.remote_data import fetched
from orchestrator.planning.run_data import ManifestData, RunData, plan_error
from orchestrator.planning.site.lookups import Lookups
from orchestrator.sources.address import display_name, is_url
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from inventory import Inventory


class Hierarchy:
    """``data``, ``hierarchy`` and ``overrides`` of a manifest or of a data file.

    The resources of a manifest are ignored. ``with_environ``: environment variables become facts,
    except secret ones. InputError with every problem of the data.
    """

    def __init__(self, path: str, options: PlanOptions, with_environ: bool = False) -> None:
        problems: list[Problem] = []
        self.warnings: list[Problem] = []
        text = self._fetched(path, options)
        if text is None:
            root = read_data(path, problems)
        else:
            root = parse_document(text, display_name(path), problems)
        if not isinstance(root, Mapping):
            hint = "put values under 'data:'"
            message = f"a data file must be a map, not {root.describe()}"
            raise InputError([*problems, Problem(message, root.position, hint, "input.type")])
        refuse_unknown_keys(
            root,
            (*KEYS, "ccm"),
            what="a data file",
            problems=problems,
            hint="put values under 'data:'",
        )
        source = DataSource(root, problems, self.warnings, remote=text is not None)
        self._asks = {} if text is not None else _asks(path, root, problems)
        variables = Environ(load_environ()).public() if with_environ else {}
        self._overlay = FactOverlay(options.facts, options.fact, variables)
        directory = Path() if is_url(path) else Path(path).parent
        above = str(directory.absolute())
        self._run_data = RunData(options, problems, self.warnings, above)
        self._data = ManifestData(source, Directory(directory.absolute()), self._run_data)
        shared = self._data.shared(None, {}) if not problems else None
        if shared:
            problems += shared.problems
        if problems:
            raise InputError(problems)
        self.is_static = shared is not None
        """Whether it comes to the same for every host."""

    @staticmethod
    def _fetched(path: str, options: PlanOptions) -> str | None:
        """The text of a URL; None for a file."""
        if not is_url(path):
            return None
        return fetched(options._replace(hiera=[path])).fetched[path]

    def see(self, inventory: Inventory) -> None:
        """Set the hosts that templates can read as ``Groups`` and ``Hosts``."""
        self._run_data.see(inventory)

    def require_answers(self, host: Any, gathered: HostFacts) -> None:
        """NeedAnswersError if a host must answer lookups before its data is known."""
        if self._asks:
            facts, _ = self._overlay(host, gathered)
            of_host = Lookups(gathered.answers)
            self._data.of(host, facts, by=None, handed={}, look_ups=of_host.of(self._asks))
            if of_host.open:
                raise NeedAnswersError(of_host.open)

    def resolve(self, host: Any, gathered: HostFacts) -> tuple[dict[str, Any], list[str]]:
        """The resolved data of an inventory's ``Host``, masked, and the warnings; PlanError."""
        facts, warnings = self._overlay(host, gathered)
        look_ups = Lookups(gathered.answers).of(self._asks)
        resolved = self._data.of(host, facts, by=None, handed={}, look_ups=look_ups)[1]
        if resolved.problems:
            raise plan_error(resolved.problems, resolved.secrets)
        data: dict[str, Any] = masked(resolved.data, resolved.secrets)
        return data, warnings

    def explain(
        self, host: Any, gathered: HostFacts, keys: Sequence[str]
    ) -> tuple[Explanation, list[str]]:
        """The origin of the value at these keys on an inventory's ``Host``, masked, and the
        warnings; PlanError.
        """
        facts, warnings = self._overlay(host, gathered)
        look_ups = Lookups(gathered.answers).of(self._asks)
        explanation, secrets = self._data.explain(host, facts, keys, look_ups)
        return hidden(explanation, secrets), warnings


def _asks(path: str, root: Mapping, problems: list[Problem]) -> Asks:
    """The lookups of a manifest; none for a data file."""
    ccm = root.get("ccm")
    if not isinstance(ccm, Mapping) or "ask" not in ccm:
        return {}
    return read_asks(ccm.get("ask"), types_beside(Path(path)), problems)
