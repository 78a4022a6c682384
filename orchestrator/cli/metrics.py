"""``--metrics FILE`` (controller)."""

import importlib.util
from typing import TYPE_CHECKING

from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.fleet.kept_runs import KeptRun


def check_metrics() -> None:
    """UsageError where prometheus_client is not installed, before anything is touched."""
    if importlib.util.find_spec("prometheus_client") is None:
        raise UsageError(
            "--metrics needs prometheus_client, which is not installed",
            kind="usage.extra",
            hint="pip install 'ccm-push[metrics]'",
        )


def write_metrics(kept: "KeptRun", path: str) -> None:
    """Write a kept run's counters. UsageError where the file cannot be written."""
    check_metrics()
    from orchestrator.report import metrics

    try:
        metrics.write_metrics(kept, path)
    except OSError as error:
        raise UsageError(
            f"--metrics {path}: {error.strerror}", hint="name a file that can be written"
        ) from error
