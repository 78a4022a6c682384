"""A run as one self-contained HTML file (controller)."""

from orchestrator.report.html.page import write_html

__all__ = ["write_html"]
