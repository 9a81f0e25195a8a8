"""The pytest plugin: a strict endpoint as a fixture.

    def test_my_agent(strict_endpoint):
        client = OpenAI(base_url=strict_endpoint.base_url, api_key="any")

    @pytest.mark.strict_endpoint(dialect="deepseek", seed=7)
    def test_with_other_rules(strict_endpoint): ...

Heavy modules are imported only where the fixture is used: pytest loads a plugin in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from strictcall.testing.endpoint import StrictEndpoint

_MARKER = "strict_endpoint"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers", f"{_MARKER}(**settings): how the strict_endpoint fixture behaves; see strictcall.emulator.settings"
    )


@pytest.fixture
def strict_endpoint(request: pytest.FixtureRequest) -> Iterator[StrictEndpoint]:
    """A ``StrictEndpoint``, fresh for each test: a provider's rules, and any legal answer, on loopback.

    Settings are given by ``@pytest.mark.strict_endpoint(...)``; those of a nearer mark go before those of its class
    or module.
    """
    from strictcall.testing.endpoint import strict_endpoint as endpoint  # noqa: PLC0415 - see above

    settings: dict[str, object] = {}
    for mark in request.node.iter_markers(_MARKER):
        settings = {**mark.kwargs, **settings}
    with endpoint(**settings) as running:
        yield running
