# Everything a fresh machine needs: `make demo` to see corefine at work, `make test` to check it.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test lint types nightly starter bench clean

demo: $(READY)  ## Play a short simulated annotation in the terminal
	$(BIN)/corefine demo

test: $(READY) lint types  ## Lint, types and all tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2  # two workers of one thread: OpenMP's threads spin while they wait

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

nightly: $(READY)  ## The slow, thorough tests
	$(BIN)/pytest -m nightly

starter: $(READY)  ## Train the model that ships (COREFINE_MIRROR: a folder with the corpora)
	$(BIN)/python -m corefine.model.make_starter

bench: $(READY)  ## Measure every bar on this machine
	for bar in imports links session scores formats model committee long retraining; do \
	  echo "== $$bar"; $(BIN)/corefine bench $$bar || exit 1; \
	done

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(or $(shell command -v $(PYTHON)),python3) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
