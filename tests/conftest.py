"""Settings that every test shares."""

import os
from pathlib import Path

from hypothesis import settings

# Compiled code is kept beside what pytest keeps, not in the user's cache; other processes that tests start inherit this.
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parent.parent / ".pytest_cache" / "compiled")

# `make test` tries a few hundred random cases of each property, `make fuzz` thousands.
settings.register_profile("gate", max_examples=200, deadline=None, print_blob=True)
settings.register_profile("fuzz", settings.get_profile("gate"), max_examples=5000)
settings.load_profile("gate")
