"""Reports of benchmark results: tables, plots and a page."""

from .document import write_report
from .tables import markdown, rich_table

__all__ = ["markdown", "rich_table", "write_report"]
