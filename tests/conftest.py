"""Fixtures and rules that hold for every test: offline, repeatable, warnings are errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# Read by third parties when they are imported, so they are set before any test module is.
os.environ.update(
    ANONYMIZED_TELEMETRY="False",
    HF_HUB_OFFLINE="1",
    LANGSMITH_TRACING="false",
    TOKENIZERS_PARALLELISM="false",
)

# Same examples in every run. No deadline: the machine may be busy, and a slow example is no wrong one.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("repeatable"), max_examples=2000)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the files under tests/golden",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError(
            "--update-golden is refused where CI is set: golden files are rewritten by a person who reads "
            "the difference. Unset CI to run it on your machine."
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep ``network`` tests out unless ``-m`` names them, and let those open sockets."""
    wanted = "network" in (config.option.markexpr or "")
    for item in items:
        if item.get_closest_marker("network") is None:
            continue
        if wanted:
            item.add_marker(pytest.mark.enable_socket)
        else:
            item.add_marker(pytest.mark.skip(reason="needs the network; run with -m network"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared documents beside the project, or skip."""
    if not SHARED.is_dir():
        pytest.skip("the shared documents (../shared) are not on this machine")
    return SHARED


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Tell whether golden files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
