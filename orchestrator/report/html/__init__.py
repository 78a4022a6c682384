"""A run as one HTML file that needs nothing else (controller)."""

from orchestrator.report.html.page import write_html

__all__ = ["write_html"]
