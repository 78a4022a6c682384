"""The responses of ``ccm ensure api pipe`` (controller)."""

from __future__ import annotations

import json
from typing import Any, TextIO

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import HostResult
from remote_runtime.errors import CcmError, InputError

PROTOCOL = "io.choria.ccm.v1.resource.ensure.response"


class Responses:
    """Subscriber that writes the response of each host when the host has finished.

    ``by_host``: there is an inventory, so each response names its host.
    """

    def __init__(self, out: TextIO, as_yaml: bool, by_host: bool) -> None:
        self._out = out
        self._as_yaml = as_yaml
        self._by_host = by_host
        self._states: dict[str, dict[str, Any]] = {}

    def handle(self, event: run_events.Event) -> None:
        """Store the latest event of a host; the event of an apply comes after those of its
        children.
        """
        if isinstance(event, run_events.HostFinished):
            self._finish(event.result)
        for state, _ in run_events.transaction_events(event):
            self._states[state["host"]] = state

    def close(self) -> None:
        """Flush the buffer; the stream stays open."""
        self._out.flush()

    def refuse(self, error: CcmError) -> None:
        """Answer a request that could not be run on any host."""
        if isinstance(error, InputError) and error.problems:
            self._write({"error": "; ".join(map(str, error.problems))})
        else:
            self._write({"error": str(error)})
        self.close()

    def _finish(self, result: HostResult) -> None:
        host = {"host": result.host} if self._by_host else {}
        state = self._states.pop(result.host, None)
        if state is not None and not result.message:
            self._write({**host, "state": state})
        else:
            hint = f" ({result.advice})" if result.advice else ""
            self._write({**host, "error": f"{result.message or 'no event was received'}{hint}"})

    def _write(self, response: dict[str, Any]) -> None:
        document = {"protocol": PROTOCOL, **response}
        if self._as_yaml:
            import yaml

            from orchestrator.cli.data_output import yaml_text

            if self._by_host:
                self._out.write("---\n")
            self._out.write(yaml_text(document, yaml.SafeDumper))
        else:
            self._out.write(json.dumps(document, ensure_ascii=False) + "\n")
