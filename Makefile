# Everything a fresh machine needs: `make demo` to see corefine at work, `make test` to check it.
PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: docs figures demo test chromium lint types nightly starter strong bench clean

demo: $(READY)  ## The annotation page on the bundled stories; Ctrl-C stops it, and the next time goes on from there
	$(BIN)/corefine annotate --project demo-project --stories $(ARGS)  # ARGS="--port 9000", say

test: $(READY) chromium lint types  ## Lint, types and all tests
	# two workers of one thread, as OpenMP's threads spin while they wait; each takes a whole half of the tests, so that
	# what the tests of a file share (servers, browsers, models) is made once
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

chromium:  ## The browser that tests of the page run in: installed if it is missing and that is possible
	@command -v "$${COREFINE_CHROMIUM:-chromium}" >/dev/null || command -v chromium-browser >/dev/null || { \
	  root=$$(test "$$(id -u)" = 0 || echo "sudo -n"); \
	  command -v apt-get >/dev/null && $$root apt-get update -qq && \
	  $$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; \
	} || echo "There is no chromium here and it could not be installed: the tests of the page are skipped." >&2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

docs: $(READY)  ## The documentation as a site, in site/
	$(BIN)/python tools/make_format_table.py
	$(BIN)/mkdocs build --strict --quiet

figures: $(READY)  ## Draw the documentation's pictures of the app again
	$(BIN)/python tests/browser/figures.py docs/figures $(ARGS)  # ARGS="annotate review", say

nightly: $(READY)  ## The slow, thorough tests
	$(BIN)/pytest -m nightly

starter: $(READY)  ## Train the model that ships (COREFINE_MIRROR: a folder with the corpora)
	$(BIN)/python tools/make_starter.py

strong: $(READY)  ## Train the stronger model that ships; it needs the extra `strong`
	$(BIN)/python tools/make_starter.py --name strong

bench: $(READY)  ## Measure every bar on this machine (FASTCOREF=VENV/bin/python: an environment with fastcoref)
	missed=0; for bar in imports links session scores formats model speed committee long retraining cold_start first_question answer browser load disturbed large questions; do \
	  echo "== $$bar"; $(BIN)/python benchmarks/$$bar.py || missed=1; \
	done; \
	if test -n "$(FASTCOREF)"; then echo "== fastcoref"; $(BIN)/python benchmarks/fastcoref.py --python $(FASTCOREF) || missed=1; \
	else echo "== fastcoref is left out: make bench FASTCOREF=VENV/bin/python, see benchmarks/fastcoref.py"; fi; \
	exit $$missed

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(or $(shell command -v $(PYTHON)),python3) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev,docs]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
