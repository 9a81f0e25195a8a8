"""An endpoint and gateways that tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gateway.links_standing import APIS, KEY, SCRIPT, Standing, entry, standing, write
from strictcall.testing.endpoint import StrictEndpoint, strict_endpoint


@pytest.fixture(scope="module")
def lasting_endpoint() -> Iterator[StrictEndpoint]:
    with strict_endpoint(SCRIPT, api_key=KEY) as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(lasting_endpoint: StrictEndpoint) -> StrictEndpoint:
    """It takes one key only, which no client of the gateway knows, and remembers nothing of the tests before."""
    lasting_endpoint.exchanges.clear()
    return lasting_endpoint


@pytest.fixture(scope="module")
def all_apis(lasting_endpoint: StrictEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A gateway to a strict link of each API."""
    file = tmp_path_factory.mktemp("links") / "strictcall.json"
    write(file, *(entry(api, lasting_endpoint) for api in APIS), chain=("chat_completions/m", "messages/m"))
    with standing(file) as gateway:
        yield gateway


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Any]:
    """Makes gateways to files that a test writes."""
    with ExitStack() as stack:

        def made(*entries: dict[str, Any], **settings: Any) -> Standing:
            file = tmp_path / "strictcall.json"
            write(file, *entries, **settings)
            return stack.enter_context(standing(file))

        yield made
