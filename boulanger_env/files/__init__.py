"""Files: written whole or not at all, claimed by one process at a time, read with care."""

from .writing import alone_in, files_in, is_empty, remove_partial, write_text, write_with

__all__ = ["alone_in", "files_in", "is_empty", "remove_partial", "write_text", "write_with"]
