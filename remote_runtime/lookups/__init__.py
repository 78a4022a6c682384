"""Lookups that a manifest declares, answered on the host before its plan is made (target)."""

from typing import Any, Dict, List, Tuple

Known = List[Tuple[Dict[str, Any], Dict[str, Any]]]
"""The questions of a run, each with its answer."""
