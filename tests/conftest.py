"""Settings that every test shares."""

import os
import secrets
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.fuzzing import Fuzzing

# Compiled code is kept beside what pytest keeps, not in the user's cache; other processes that tests start inherit this.
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parent.parent / ".pytest_cache" / "compiled")

# Tests run side by side, so that every processor has a compiler already. They plant faults in rewrites and lowerings, which a function
# from the cache would not show.
os.environ["LAMELLA_FLAGS"] = ",".join([*filter(None, [os.environ.get("LAMELLA_FLAGS")]), "compilers=1,recall=false"])

# `make test` tries a few hundred random cases of each property, `make fuzz` thousands.
settings.register_profile("gate", max_examples=200, deadline=None, print_blob=True)
settings.register_profile("fuzz", settings.get_profile("gate"), max_examples=int(os.environ.get("FUZZ_COUNT", "5000")))
settings.load_profile("gate")


def pytest_configure(config: pytest.Config) -> None:
    # The processes that share the tests inherit the seed.
    if config.getoption("--hypothesis-profile") == "fuzz":
        os.environ.setdefault("FUZZ_SEED", str(secrets.randbelow(1_000_000)))


def pytest_report_header() -> str:
    return f"random graphs are drawn from seed {os.environ.get('FUZZ_SEED', '0')} (FUZZ_SEED sets it)"


@pytest.fixture
def fuzzing(capfd: pytest.CaptureFixture[str]) -> Fuzzing:
    def report(text: str) -> None:
        with capfd.disabled():
            print(text, file=sys.stderr, flush=True)

    return Fuzzing.of_environment(report)
