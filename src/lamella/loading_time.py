"""When this package was loaded: files that have changed since are not what runs."""

import time
from typing import Final

__all__ = ["LOADED_AT"]

LOADED_AT: Final = time.time_ns()
"""In nanoseconds since the epoch."""
