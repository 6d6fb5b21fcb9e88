# Two commands do all set-up: `make demo` and `make test`. The rest is for working on Armillary.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
SITE = $(shell $(BIN)/python -c "import sysconfig; print(sysconfig.get_path('platlib'))")
BUILD := build/dev
NATIVE_SOURCES := $(shell find cpp/include cpp/src bindings -type f) CMakeLists.txt cpp/CMakeLists.txt pyproject.toml

.PHONY: FORCE help build demo test check format docs stubs bench figures sanitize compilers soak nightly wheel smoke clean

help:
	@echo "make demo      build everything and run the demo"
	@echo "make test      build everything and run the tests"
	@echo "make check     lint, types, import contract, stub file"
	@echo "make docs      the documentation as a site, in site/"
	@echo "make bench     product and peers, side by side; make bench -- --quick for a rough look"
	@echo "make sanitize  the core under address, undefined and thread sanitizers"
	@echo "make compilers the core read by clang++ and g++, each file by itself"
	@echo "make soak      long random and stress runs"
	@echo "make smoke     demo, site, wheel in a fresh environment, benchmarks: that they run"
	@echo "make nightly   sanitizers, soak and benchmarks, and their record in docs/evidence.md"

# -- Set-up

$(VENV)/.tools: pyproject.toml tools/need.sh
	@PYTHON="$(PYTHON)" sh tools/need.sh
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the build and test tools into $(VENV) ..."
	@$(PIP) install "pip>=25.1"
	@$(PIP) install --group build --group test
	@touch $@

# An editable install: Python files are used where they are, the native module is put into the environment.
# It knows its modules by name, so that a new file asks for a new installation.
$(VENV)/.modules: $(VENV)/.tools FORCE
	@find src -name '*.py' | sort > $@.now; cmp -s $@.now $@ || mv $@.now $@; rm -f $@.now

$(VENV)/.built: $(VENV)/.tools $(VENV)/.modules $(NATIVE_SOURCES)
	@echo "Building the native core ..."
	@$(PIP) install --no-build-isolation --editable ".[all]" -C build-dir=$(BUILD) -C cmake.define.ARMILLARY_BUILD_TESTS=ON
	@touch $@

build: $(VENV)/.built

demo: build
	@$(BIN)/armillary demo

# -- Tests

.PHONY: test-cpp test-python
test-cpp: build
	@$(BIN)/cmake --build $(BUILD) --target armillary_tests > build/cpp.log || (cat build/cpp.log; exit 1)
	@$(BUILD)/cpp/tests/armillary_tests
	@PATH="$(abspath $(BIN)):$$PATH" sh tools/cpp_example.sh $(BUILD)

test-python: build
	@$(BIN)/python -m pytest -n 2 --dist worksteal

test: test-cpp test-python

# -- Quality

$(VENV)/.checkers: $(VENV)/.tools
	@$(PIP) install --group check
	@touch $@

check: build $(VENV)/.checkers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp' 'cpp/*.inc' 'bindings/*.hpp' 'bindings/*.cpp')
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/stubs.py --check

format: $(VENV)/.checkers
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp' 'cpp/*.inc' 'bindings/*.hpp' 'bindings/*.cpp')

$(VENV)/.site: $(VENV)/.tools
	@$(PIP) install --group docs
	@touch $@

docs: build $(VENV)/.site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html"

stubs: build
	$(BIN)/python tools/stubs.py

# `make bench -- --quick` gives make the option as a goal of its own.
BENCH_OPTIONS := $(filter --%,$(MAKECMDGOALS))
.PHONY: $(BENCH_OPTIONS)
$(BENCH_OPTIONS):
	@:

$(VENV)/.peers: $(VENV)/.tools
	@$(PIP) install --group bench || echo "The peers from PyPI could not be installed; their rows are left out."
	@touch $@

bench: build $(VENV)/.peers
	$(BIN)/python benchmarks/run.py $(BENCH_OPTIONS)

figures: build
	$(BIN)/python tools/figures.py

sanitize: $(VENV)/.tools
	PATH="$(abspath $(BIN)):$$PATH" sh tools/sanitize.sh

compilers:
	sh tools/compilers.sh

soak: build compilers
	$(BIN)/python tools/nightly.py --only soak

nightly: build compilers $(VENV)/.peers
	$(BIN)/python tools/nightly.py

# With the objects of `make build`: nothing is compiled twice.
wheel: build
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist . -C build-dir=$(BUILD) -C cmake.define.ARMILLARY_BUILD_TESTS=ON

# What no test runs: each is done as its user does it, and must not fail.
smoke: demo docs wheel $(VENV)/.peers
	PYTHON="$(abspath $(BIN))/python" sh tools/wheel_smoke.sh dist
	$(BIN)/python benchmarks/run.py --quick --only agreement pose twists batch points snapshot overlapping

clean:
	rm -rf build dist $(VENV)
