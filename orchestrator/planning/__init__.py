"""Per host: resolve data, render, validate, collect blobs, compile the plan (controller only).

planner = Planner(site, PlanOptions())        # once per run; InputError with all problems
plan = planner.plan(host, gathered)           # per host, thread-safe; PlanError
"""

from orchestrator.planning.content.blobs import Blob
from orchestrator.planning.plan_options import PlanOptions
from orchestrator.planning.planner import Planner

__all__ = ["Blob", "PlanOptions", "Planner"]
