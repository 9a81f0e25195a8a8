"""The official clients behind one interface, over real sockets against the emulator."""

import builtins
import os
import shutil
import ssl
import traceback
from contextlib import suppress
from itertools import product

import anyio
import pytest

from link.linked import ASK, DIALECTS, KEY, KEY_NAME, at, both_loops, link, recording
from strictcall.dialect import load
from strictcall.emulator.faults import FAULTS
from strictcall.errors import StreamError
from strictcall.link.clients import Clients, client_of
from strictcall.link.envelope import MODULES, body_of
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.resolved import Timeouts
from strictcall.testing.endpoint import strict_endpoint
from strictcall.wire.toolset import Toolset

# The HTTP clients' own generators, where a stream is closed before its end.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]
HURRIED = Timeouts(connect=2, read=0.4, total=5)
STATUSES = {
    "400": ErrorKind.REFUSED,
    "401": ErrorKind.KEY,
    "402": ErrorKind.QUOTA,
    "404": ErrorKind.NOT_FOUND,
    "408": ErrorKind.TIMEOUT,
    "409": ErrorKind.SERVER,
    "413": ErrorKind.TOO_LONG,
    "429": ErrorKind.RATE_LIMIT,
    "500": ErrorKind.SERVER,
    "502": ErrorKind.SERVER,
    "503": ErrorKind.OVERLOADED,
    "504": ErrorKind.TIMEOUT,
    "529": ErrorKind.OVERLOADED,
}
"""The emulator's faults that are statuses."""
SILENT = {"slow-first-byte": {ErrorKind.TIMEOUT}, "stall": {ErrorKind.TIMEOUT}}
BREAKING = {
    "cut": {ErrorKind.BROKEN, ErrorKind.CONNECTION},
    "malformed-sse": {ErrorKind.MALFORMED},
    "invalid-utf8": {ErrorKind.MALFORMED},
}
FORGIVEN = {("generate_content", "invalid-utf8", False), ("generate_content", "invalid-utf8", True)}
"""What Google's client passes over."""
FLAWS = ["truncated-json", "truncated-length", "no-index", "repeated-names", "duplicate-final", "empty-choices"]
FLAWS += ["reasoning-only"]
"""Faults that are an answer still: what is wrong with it is for its reader to find."""


def faulty(endpoint, api, fault, **fields):
    """A link whose requests all meet a fault of the emulator's."""
    return link(endpoint, api, headers={"x-emulate-fault": fault}, **fields)


async def told(one, streamed):
    """The text of the answer to ``ASK``, or the error."""
    client = client_of(one)
    try:
        if not streamed:
            return MODULES[one.api].read(await client.send(body_of(one, ASK)), Toolset([])).text
        reader = MODULES[one.api].Stream(Toolset([]))
        chunks = await client.open(body_of(one, ASK))
        try:
            async for chunk in chunks:
                reader.feed(chunk)
        finally:
            await chunks.aclose()
        return reader.finish().text
    except LinkError as error:
        return error
    finally:
        await client.aclose()


def test_every_fault_of_the_emulator_is_tried_here():
    assert {*STATUSES, *SILENT, *BREAKING, *FLAWS} == set(FAULTS)


@both_loops
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_what_a_model_says_comes_back_as_plain_dicts(anyio_backend, api, streamed):
    with strict_endpoint(script={"replies": [{"text": "It is sunny in Lisbon."}]}, api_key=KEY) as endpoint:
        assert await told(link(endpoint, api), streamed) == "It is sunny in Lisbon."
    assert [exchange.status for exchange in endpoint.exchanges] == [200]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_statuses_are_told_apart_and_nothing_is_asked_twice(anyio_backend, api):
    with strict_endpoint() as endpoint:
        for fault, streamed in product(STATUSES, (False, True)):
            error = await told(faulty(endpoint, api, fault), streamed)
            assert (error.kind, error.status, error.link) == (STATUSES[fault], int(fault), f"{api}/m"), fault
            assert error.retry_after == (1.0 if fault in ("429", "503") else None), fault
            assert error.words, fault
    assert len(endpoint.exchanges) == 2 * len(STATUSES)


@both_loops
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_what_breaks_or_is_silent_is_an_error_of_the_link(anyio_backend, api, streamed):
    with strict_endpoint(answers="sensible", delay=1.0) as endpoint:
        for fault, kinds in {**SILENT, **BREAKING}.items():
            if (api, fault, streamed) not in FORGIVEN:
                error = await told(faulty(endpoint, api, fault, timeouts=HURRIED), streamed)
                assert isinstance(error, LinkError), fault
                assert error.kind in kinds, fault


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(("api", "fault", "streamed"), sorted(FORGIVEN))
async def test_what_a_client_passes_over_is_still_passed_over(anyio_backend, api, fault, streamed):
    with strict_endpoint(answers="sensible") as endpoint:
        assert isinstance(await told(faulty(endpoint, api, fault), streamed), str)


@both_loops
async def test_an_attempt_has_an_end_even_if_bytes_keep_coming(anyio_backend):
    timeouts = Timeouts(connect=2, read=5, total=0.5)
    with strict_endpoint(answers="sensible", faults=("stall",), delay=2.0) as endpoint:
        with anyio.fail_after(1.5):
            error = await told(link(endpoint, "chat_completions", timeouts=timeouts), streamed=True)
    assert error.kind is ErrorKind.TIMEOUT


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_nobody_there(anyio_backend):
    with recording() as (url, _):
        pass
    for api in DIALECTS:
        error = await told(at(url, api), streamed=False)
        assert error.kind is ErrorKind.CONNECTION, api


JUNK = {
    "deep": b'{"choices":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "long number": b'{"x":' + b"9" * 5_000 + b"}",
    "other types": b'{"candidates":5,"output":5,"content":5,"choices":5,"type":5,"error":5,"x":1e999}',
    "a number": b"5",
}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_what_cannot_be_read_is_an_error_of_the_link(anyio_backend, api):
    for junk, status, streamed in product(JUNK, (200, 400), (False, True)):
        events = streamed and status == 200
        kind = "text/event-stream" if events else "application/json"
        body = b"data: " + JUNK[junk] + b"\n\n" if events else JUNK[junk]
        # What is JSON is for the reader of answers to take or to refuse.
        with recording(status, f"content-type: {kind}\r\n", body) as (url, _), suppress(StreamError):
            said = await told(at(url, api), streamed)
            if junk in ("deep", "long number"):
                kinds = {ErrorKind.MALFORMED, ErrorKind.REFUSED} if status == 400 else {ErrorKind.MALFORMED}
                assert said.kind in kinds, (junk, status, streamed)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_a_client_refuses_to_send_is_no_answer_of_the_links(anyio_backend):
    with recording() as (url, requests):
        client = client_of(at(url, "generate_content"))
        with pytest.raises(ValueError, match="GenerateContent"):
            await client.send({"model": "m", "contents": "x", "config": {"no_such_field": 1}})
        await client.aclose()
    assert requests == []


# --- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_a_key_that_a_provider_repeats_is_hidden(anyio_backend, api):
    words = f'{{"error": {{"message": "bad key {KEY} and tenant-4711", "type": "x", "status": "X", "code": 401}}}}'
    body = words.encode()
    headers = {"x-tenant": "tenant-4711"}
    with recording(401, "content-type: application/json\r\n", body) as (url, requests):
        client = client_of(at(url, api, headers=headers))
        with pytest.raises(LinkError) as caught:
            await client.send(body_of(at(url, api), ASK))
        await client.aclose()
    assert KEY.encode() in requests[0][0]
    assert b"tenant-4711" in requests[0][0]
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + str(vars(caught.value))
    assert KEY not in shown
    assert "tenant-4711" not in shown
    assert "bad key *** and ***" in str(caught.value)
    # A client's own error holds the request; a traceback's tools would find the key there.
    assert caught.value.__cause__ is caught.value.__context__ is None


LEADS = {
    307: ("https://user:pw@other.test:8443/path?secret=1", "leads to https://other.test:8443, which is not followed"),
    302: ("//other.test/path", "leads to other.test, which is not followed"),
    308: ("/path", "leads elsewhere, which is not followed"),
    301: ("http://[", "leads elsewhere, which is not followed"),
}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_no_key_follows_a_redirect(anyio_backend, api):
    with recording() as (elsewhere, others):
        for streamed in (False, True):
            with recording(307, f"location: {elsewhere}/path\r\n") as (url, requests):
                error = await told(at(url, api), streamed)
            assert (error.kind, error.status, len(requests)) == (ErrorKind.NOT_FOUND, 307, 1)
            assert error.words == f"the address leads to {elsewhere}, which is not followed"
    assert others == []
    for status, (location, words) in LEADS.items():
        with recording(status, f"location: {location}\r\n") as (url, requests):
            error = await told(at(url, api), streamed=False)
        assert (error.status, error.words) == (status, f"the address {words}")


def test_authorities_are_loaded_once_for_all_clients_and_as_the_environment_says(tmp_path, monkeypatch):
    loaded = []
    real = ssl.create_default_context

    def counted(*args, **options):
        loaded.append(options.get("cafile"))
        return real(*args, **options)

    monkeypatch.setattr(ssl, "create_default_context", counted)
    ours = shutil.copy(os.environ["SSL_CERT_FILE"], tmp_path / "ours.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(ours))
    for api in DIALECTS:
        client_of(at("http://localhost:1", api))
    assert loaded == [str(ours)]
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(FileNotFoundError):
        client_of(at("http://localhost:1", "messages"))


def test_no_key_is_in_a_link():
    one = at("http://localhost:1", "messages", headers={"x-tenant": "tenant-4711"}, extra_body={"k": "hush-hush"})
    assert not {KEY, "tenant-4711", "hush-hush"} & set(repr(one).replace("'", " ").split())
    assert KEY_NAME in repr(one)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_a_link_without_a_key_takes_none_from_the_environment(anyio_backend, api, monkeypatch):
    names = ["OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY"]
    names += ["ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT"]
    for name in names:
        monkeypatch.setenv(name, "leaked-0815")
    with recording() as (url, requests):
        await told(at(url, api, api_key_env=None), streamed=False)
    assert len(requests) == 1
    assert b"leaked-0815" not in requests[0][0] + requests[0][1]


@pytest.mark.parametrize("value", [None, "", "  "])
@pytest.mark.parametrize("api", DIALECTS)
def test_a_key_that_is_not_set_is_named(api, value, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    if value is not None:
        monkeypatch.setenv("NOT_SET", value)
    with pytest.raises(LinkError, match="the environment variable NOT_SET is not set") as caught:
        client_of(at("http://localhost:1", api, api_key_env="NOT_SET"))
    assert caught.value.kind is ErrorKind.KEY


# --- clients ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "package", "extra"),
    [
        ("chat_completions", "openai", "openai"),
        ("responses", "openai", "openai"),
        ("messages", "anthropic", "anthropic"),
        ("generate_content", "google", "google"),
    ],
)
def test_a_client_that_is_not_installed_says_how_to_get_it(api, package, extra, monkeypatch):
    real = builtins.__import__

    def without(name, *others):
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LinkError, match=rf"not installed: pip install 'strictcall\[{extra}\]'") as caught:
        client_of(at("http://localhost:1", api))
    assert caught.value.kind is ErrorKind.NO_CLIENT


def test_converse_is_not_sent_and_says_so():
    with pytest.raises(LinkError, match=r"Converse API are not sent from here.*strictcall\.api\.converse") as caught:
        client_of(at("http://localhost:1", "converse", dialect=load("bedrock-anthropic")))
    assert caught.value.kind is ErrorKind.NO_CLIENT


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_fields_that_a_client_does_not_know_are_sent(anyio_backend):
    for api in ("chat_completions", "responses", "messages"):
        with recording() as (url, requests):
            client = client_of(at(url, api))
            body = {**body_of(at(url, api), ASK), "novel": {"a": 1}, "extra_body": {"newer": 2}}
            with pytest.raises(LinkError):
                await client.send(body)
            await client.aclose()
        sent = requests[0][1]
        assert b'"novel":{"a":1}' in sent, api
        assert b'"newer":2' in sent, api


@both_loops
async def test_a_client_lasts_until_its_link_changes(anyio_backend, monkeypatch):
    one = at("http://localhost:1", "chat_completions")
    async with Clients() as clients:
        first = clients.of(one)
        assert clients.of(at("http://localhost:1", "chat_completions", max_output_tokens=7)) is first
        assert clients.of(at("http://localhost:2", "chat_completions")) is not first
        second = clients.of(one)
        monkeypatch.setenv(KEY_NAME, "sk-another")
        assert clients.of(one) is not second
    assert os.environ[KEY_NAME] == "sk-another"
