# Each command sets up its own virtual environment in .venv first, so both work on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-pythons docs fuzz lint format clean

# Learn a dictionary from pictures that scikit-image carries, show it, save it (about a minute).
demo: $(VENV)/.installed
	$(BIN)/sedil demo --output demo

# Everything that must hold: style, types, tests.
test: $(VENV)/.installed-test lint
	$(BIN)/python -m pytest -n 2

# The quick tests on each Python that pyproject.toml names and that can be had here.
test-pythons: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet nox uv
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/nox

# The site, in docs/_build/html; every warning is an error, and nothing is fetched.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# Attack it for as long as you like: make fuzz CASES=1000000 FILES=100000 SEED=1
CASES ?= 100000
FILES ?= 20000
DASK ?= 5000
KILLS ?= 500
BOUNDS ?= 3000
SEED ?= 0
fuzz: $(VENV)/.installed-test
	$(BIN)/python -m fuzz api --cases $(CASES) --seed $(SEED)
	$(BIN)/python -m fuzz dask --cases $(DASK) --seed $(SEED)
	$(BIN)/python -m fuzz files --cases $(FILES) --seed $(SEED)
	$(BIN)/python -m fuzz kills --cases $(KILLS) --seed $(SEED)
	$(BIN)/python -m fuzz bounds --cases $(BOUNDS) --seed $(SEED)
	$(BIN)/python -m fuzz indices --cases $(BOUNDS) --seed $(SEED)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .nox demo docs/_build docs/gallery docs/generated

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@ $(VENV)/.installed
