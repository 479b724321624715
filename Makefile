# Every target sets up .venv by itself; it needs python3, pip, make and gcc, and no root.
# PYTHON may name another interpreter:  make test PYTHON=python3.12
# FUZZ_SEED and FUZZ_COUNT say which random graphs are tried, and how many:  make fuzz FUZZ_SEED=7

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PIP     = $(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python
JOBS   ?= 2

export PIP_ROOT_USER_ACTION = ignore
unexport PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: help venv demo test check format layers pytest fuzz fuzz-c sanitize bench clean

help:
	@echo "make demo    set up, then run the main job: define an Op, verify it, differentiate, compile, fit"
	@echo "make test    set up, then run the whole gate: format, lint, types, layers, tests, doc examples"
	@echo "make check   format, lint and types only"
	@echo "make format  reformat the code and apply the safe lint fixes"
	@echo "make fuzz    5000 random graphs of each kind, every mode against the interpreter"
	@echo "make fuzz-c  20000 random graphs of all Ops, on arrays in all layouts, C against the interpreter"
	@echo "make sanitize  the suite with all C under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make bench   the benchmarks"
	@echo "make clean   remove everything that the other targets made"

# The environment: made without ensurepip, redone when pyproject.toml changes.
venv: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PIP) install --quiet -e ".[test,demo,kanren]"
	@touch $@

demo: $(STAMP)
	$(BIN)/lamella demo

test: check layers pytest

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

layers: $(STAMP)
	$(BIN)/lint-imports --no-cache

pytest: $(STAMP)
	$(BIN)/pytest -n $(JOBS)

fuzz: $(STAMP)
	$(BIN)/pytest -n $(JOBS) -m fuzz --hypothesis-profile=fuzz

fuzz-c: export FUZZ_COUNT ?= 20000
fuzz-c: $(STAMP)
	$(BIN)/pytest -n $(JOBS) -m fuzz_c --hypothesis-profile=fuzz

sanitize: $(STAMP)
	$(BIN)/python -m tests.sanitize -q -n $(JOBS)

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist output .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests docs benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
