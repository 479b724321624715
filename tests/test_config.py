"""Configuration: defaults, the file, the environment, a block of code; and what is refused."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import attrs
import pytest

from lamella.config import Config, config, read_config
from lamella.errors import ConfigError, LamellaError

NO_FILE = {"LAMELLA_CONFIG": "/nowhere/config.toml"}


def test_the_defaults() -> None:
    assert read_config(NO_FILE | {"XDG_CACHE_HOME": "/c"}) == Config(cache_dir=Path("/c/lamella"))
    assert (Config().mode, Config().floatX, Config().on_unused_input) == ("FAST_RUN", "float64", "raise")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('mode = "FAST_COMPILE"\nopenmp = true\nmax_use_ratio = 3\ncache_dir = "/tmp/c"\n')
    found = read_config({"LAMELLA_CONFIG": str(path), "LAMELLA_FLAGS": " openmp = no , floatX=float32,"})
    assert found == Config(
        mode="FAST_COMPILE", openmp=False, max_use_ratio=3.0, cache_dir=Path("/tmp/c"), floatX="float32"
    )


def test_the_file_lies_in_the_users_configuration_folder(tmp_path: Path) -> None:
    (tmp_path / "lamella").mkdir()
    (tmp_path / "lamella" / "config.toml").write_text("profile = true\n")
    assert read_config({"XDG_CONFIG_HOME": str(tmp_path)}).profile is True


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("nosuchflag=1", "LAMELLA_FLAGS: no flag is named 'nosuchflag'; there are mode, floatX,"),
        ("openmp", "LAMELLA_FLAGS: 'openmp' is not of the form name=value"),
        ("openmp=perhaps", "LAMELLA_FLAGS: openmp takes a bool, not 'perhaps'"),
        ("floatX=float80", "LAMELLA_FLAGS: floatX is one of float16, float32, float64, not 'float80'"),
        ("max_use_ratio=many", "LAMELLA_FLAGS: max_use_ratio takes a float, not 'many'"),
    ],
)
def test_a_flag_that_makes_no_sense_is_refused(flags: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_config({**NO_FILE, "LAMELLA_FLAGS": flags})
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, LamellaError)
    assert isinstance(caught.value, ValueError)


def test_a_file_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("openmp = 3\n")
    with pytest.raises(ConfigError, match=f"{path}: openmp takes a bool, not 3"):
        read_config({"LAMELLA_CONFIG": str(path)})


@pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
def test_words_for_true(value: str) -> None:
    assert read_config({**NO_FILE, "LAMELLA_FLAGS": f"openmp={value}"}).openmp is True


@pytest.mark.parametrize("value", ["0", "False", "no", "off"])
def test_words_for_false(value: str) -> None:
    assert read_config({**NO_FILE, "LAMELLA_FLAGS": f"openmp={value}"}).openmp is False


def test_a_block_of_code_overrides() -> None:
    before = config.mode
    with config.override(mode="X", floatX="float32") as inside:
        assert (config.mode, config.floatX) == ("X", "float32")
        assert inside.mode == "X"
        with config.override(mode="Y"):
            assert (config.mode, config.floatX) == ("Y", "float32")
        assert config.mode == "X"
    assert config.mode == before


def test_a_block_that_fails_puts_everything_back() -> None:
    before = config.mode
    with pytest.raises(RuntimeError, match="stop"), config.override(mode="X"):
        raise RuntimeError("stop")
    assert config.mode == before
    with pytest.raises(ConfigError, match=r"override\(\): no flag is named 'mod'"), config.override(mod="X"):
        pass
    assert config.mode == before


def test_a_block_is_of_its_own_thread_only() -> None:
    seen: list[str] = []
    with config.override(mode="X"):
        thread = threading.Thread(target=lambda: seen.append(config.mode))
        thread.start()
        thread.join()
    assert seen == [config.mode]


def test_no_flag_can_be_set() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError) as caught:
        config.mode = "X"  # type: ignore[misc]  # on purpose
    assert caught.value.__notes__ == ["use config.override(mode=...) in a with statement"]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Config().mode = "X"  # type: ignore[misc]  # on purpose


def test_the_flags_of_the_process_are_read_at_import() -> None:
    code = "from lamella.config import config; print(config.mode, config.openmp)"
    env = os.environ | NO_FILE | {"LAMELLA_FLAGS": "mode=FAST_COMPILE,openmp=true"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["FAST_COMPILE", "True"]
    env["LAMELLA_FLAGS"] = "mod=1"
    failed = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert "no flag is named 'mod'" in failed.stderr
    assert failed.returncode == 1


def test_printing_shows_the_flags_in_force() -> None:
    with config.override(mode="X"):
        assert repr(config).startswith("Config(mode='X', ")
