"""Where this package was loaded from, and when: files that have changed since are not what runs."""

import time
from pathlib import Path
from typing import Final

__all__ = ["LOADED_AT", "LOADED_FROM"]

LOADED_AT: Final = time.time_ns()
"""In nanoseconds since the epoch."""

LOADED_FROM: Final = Path(__file__).parent
"""The folder of the package."""
