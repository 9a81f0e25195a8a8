"""Many MCP servers started for real over stdio: what they list, what becomes of calls, and what becomes of them."""

from __future__ import annotations

import json
import os
import signal
import sys

import anyio
import pytest

from runtime import mcp_helpers as helpers
from runtime.mcp_helpers import QUICK, alive, call, config, none_left, plain, processes, tasks_now, until
from strictcall.errors import SettingsError, SourceError
from strictcall.runtime.events import ToolProgress
from strictcall.runtime.executor import Executor
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.mcp_settings import McpSettings, ServerState
from strictcall.runtime.output import Success, model_text
from strictcall.runtime.runnable import Context

pytestmark = [
    pytest.mark.anyio,
    # asyncio leaves to the garbage what it holds of a process whose start is cancelled; whether the process is gone is
    # looked at by number.
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed (transport|file):ResourceWarning"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked up in Linux's /proc"),
]
ENDED = (
    "Error [EXECUTION_ERROR]: the MCP server 'a' ended before it answered; whether the call did anything is not known"
)
SECRET = "hush-hush-7"  # noqa: S105  it must not be shown, and opens nothing


@pytest.fixture(autouse=True)
def notes(tmp_path, monkeypatch):
    """The folder where servers leave their notes. At the end, none of their processes is left."""
    helpers.hurried(monkeypatch)
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    folder = tmp_path / "notes"
    folder.mkdir()
    monkeypatch.setenv("PLAIN_NOTES", str(folder))
    yield folder
    assert none_left(folder)


async def heard(servers, name, arguments=None, **context):
    """What the model hears of one call."""
    tool = servers.find(name)
    assert tool is not None, f"no tool {name}"
    return model_text(await tool.run({} if arguments is None else arguments, Context(**context)))


def is_up_again(servers):
    """Whether the server ``a`` was started a second time, and is up. To leave while it starts would be another test."""
    return servers.status("a").starts == 2 and servers.status("a").state is ServerState.UP


def with_settings(**changes):
    fields = {name: getattr(QUICK, name) for name in QUICK.__dataclass_fields__}
    return McpSettings(**{**fields, **changes})


# --- what is listed ---------------------------------------------------------------------------------------------------


async def test_schemas_are_whole_and_one_bad_tool_hides_no_other():
    async with McpServers(config("a"), settings=QUICK) as servers:
        tools = {tool.name: tool for tool in servers.tools}
        assert list(tools)[:3] == ["typed", "nullable", "loose"]
        assert tools["typed"].tool.parameters["additionalProperties"] is False
        assert tools["typed"].tool.parameters["properties"]["within"]["additionalProperties"] is False
        assert tools["loose"].tool.parameters["properties"]["labels"]["additionalProperties"] == {
            "type": ["string", "null"]
        }
        assert tools["nullable"].tool.parameters["properties"]["until"] == {"type": ["string", "null"]}
        assert tools["echo"].tool.description == "does echo"
        assert (tools["pid"].read_only, tools["fail"].read_only) == (True, False)
        nameless, second = servers.status("a").problems
        assert "neither a tool nor a JSON Schema" in nameless
        assert second.endswith("a second tool called 'echo'")


async def test_a_call_from_another_event_loop_is_refused_and_spoils_nothing(anyio_backend_name):
    async with McpServers(config("a"), settings=QUICK) as servers:

        def elsewhere():
            return anyio.run(heard, servers, "echo", {"text": "there"}, backend=anyio_backend_name)

        told = await anyio.to_thread.run_sync(elsewhere)
        assert told is not None
        assert "can be called in the event loop only in which it was started" in told
        assert await heard(servers, "echo", {"text": "here"}) == '{"text": "here"}'


async def test_hints_are_not_believed_where_that_is_not_wanted():
    async with McpServers(config("a"), settings=with_settings(trust_hints=False)) as servers:
        assert {tool.read_only for tool in servers.tools} == {None}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
async def test_each_revision_of_the_protocol_lists_calls_changes_and_cancels(revision, notes):
    async with McpServers(config(a=plain("a", revision)), settings=QUICK) as servers:
        assert servers.status("a").protocol == revision
        assert json.loads(await heard(servers, "echo", {"x": None, "y": {"z": [None, 2**70]}})) == {
            "x": None,
            "y": {"z": [None, 2**70]},
        }
        assert await heard(servers, "change") == "changed"
        await until(lambda: servers.find("added_1") is not None)
        assert json.loads(await heard(servers, "added_1", {"n": 1})) == {"n": 1}
        with anyio.move_on_after(0.3) as scope:
            await heard(servers, "hang")
        assert scope.cancelled_caught
        await until((notes / "cancelled-hang").exists)
        # It answers still, and was not started again for a call that was given up.
        assert await heard(servers, "echo", {"n": 2}) == '{"n": 2}'
        assert servers.status("a").starts == 1


async def test_a_list_is_read_over_all_its_pages():
    async with McpServers(config("a", "paged"), settings=QUICK) as servers:
        assert servers.status("paged").tools == servers.status("a").tools


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_a_server_without_tools_is_up_and_has_none(revision):
    async with McpServers(config(toolless=plain("toolless", revision)), settings=QUICK) as servers:
        assert servers.status("toolless").state is ServerState.UP
        assert servers.tools == ()


@pytest.mark.parametrize(("name", "why"), [("endless", "pages of tools never end"), ("listless", "tools")])
async def test_a_server_that_does_not_list_its_tools_is_down_and_hides_no_other(name, why):
    async with McpServers(config("a", name), settings=with_settings(restarts=0)) as servers:
        assert servers.status(name).state is ServerState.DOWN
        assert why in servers.status(name).reason
        assert await heard(servers, "echo", {"n": 1}) == '{"n": 1}'


async def test_clashing_names_get_their_servers_before_them_and_both_are_found():
    async with McpServers(config("a", "b"), settings=QUICK) as servers:
        names = {tool.name for tool in servers.tools}
        assert {"a__echo", "b__echo"} <= names
        assert "echo" not in names
        assert servers.find("echo") is None
        assert servers.find("a.pid").name == "a__pid"
        assert await heard(servers, "a__pid") != await heard(servers, "b.pid")
        assert await heard(servers, "b__change") == "changed"
        await until(lambda: servers.find("added_1") is not None)
        assert servers.find("added_1").name == "added_1"
        assert servers.find("b__added_1").name == "added_1"


# --- what the model hears ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("fail", "Error [EXECUTION_ERROR]: no such town"),
        ("mute", "Error [EXECUTION_ERROR]: the tool failed and did not say why"),
        ("refuse", "Error [INVALID_ARGUMENTS]: not today ***"),
        ("odd", "[1,2]"),
        ("forget", "Error [EXECUTION_ERROR]: the MCP server 'a' answered with what is no result of a call"),
    ],
)
async def test_what_a_server_answers_is_told(tool, text):
    entry = plain("a", env={"PLAIN_SECRET": SECRET})
    async with McpServers(config(a=entry), settings=QUICK) as servers:
        assert await heard(servers, tool) == text


async def test_content_of_every_kind_has_a_text_and_the_rest_is_in_the_details():
    async with McpServers(config("a"), settings=QUICK) as servers:
        output = await servers.find("contents").run({}, Context())
        assert model_text(output).splitlines() == [
            "one",
            "[image: image/png, 70 bytes]",
            "[resource: file:///a.txt, text/plain]",
            "two",
            "[resource link: b, file:///b.txt: the other]",
            '[content of the type "video", which has no text]',
            "[text for the user, 10 characters]",
            '{"rows":[1,null]}',
        ]
        assert output.details["_meta"] == {"kept": True}
        assert output.details["content"][4] == {"type": "video", "url": "https://example.org/v"}


async def test_a_result_that_does_not_fit_its_own_output_schema_is_heard_all_the_same():
    async with McpServers(config("a"), settings=QUICK) as servers:
        assert isinstance(await servers.find("typed").run({"query": "x"}, Context()), Success)


async def test_progress_is_an_event():
    events = []
    async with McpServers(config("a"), settings=QUICK) as servers:
        executor = Executor(lambda: servers.tools, on_event=events.append)
        (output,) = await executor.run_batch([call("progress")])
        assert output.text == "done"
    told = [event for event in events if isinstance(event, ToolProgress)]
    assert [(each.progress, each.total, each.message) for each in told] == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]


async def test_arguments_that_are_no_object_never_reach_a_server():
    async with McpServers(config("a"), settings=QUICK) as servers:
        assert (await heard(servers, "echo", [1])).startswith("Error [INVALID_ARGUMENTS]: the tool takes its arguments")


# --- what becomes of servers ------------------------------------------------------------------------------------------


async def test_a_server_that_died_is_started_again_and_the_others_go_on(notes):
    async with McpServers(config("a", "b"), settings=QUICK) as servers:
        before = await heard(servers, "b__pid")
        outputs = []

        async def run(name):
            outputs.append(await heard(servers, name))

        async with anyio.create_task_group() as group:
            group.start_soon(run, "a__slow")
            await anyio.sleep(0.2)
            group.start_soon(run, "a__die")
        assert outputs == [ENDED, ENDED]
        # The next call waits for the server to be up again.
        assert int(await heard(servers, "a__pid")) in processes(notes)
        assert servers.status("a").starts == 2
        assert await heard(servers, "b__pid") == before
        assert servers.status("b").starts == 1


async def test_a_server_killed_between_calls_is_started_again(notes):
    async with McpServers(config("a"), settings=QUICK) as servers:
        os.kill(int(await heard(servers, "pid")), signal.SIGKILL)
        await until(lambda: is_up_again(servers))
        assert len(processes(notes)) == 2


async def test_why_a_server_ended_is_said_with_its_last_words_and_without_its_secrets():
    said = []
    async with McpServers(
        config(a=plain("a", env={"PLAIN_SECRET": SECRET})), settings=QUICK, on_change=said.append
    ) as servers:
        heard_by_the_model = await heard(servers, "die")
        await until(lambda: is_up_again(servers))
    reasons = [status.reason for status in said if status.reason]
    assert reasons == ["it ended (it wrote: giving up, ***)"]
    assert "giving up" not in heard_by_the_model
    assert SECRET not in json.dumps([status.to_json() for status in said])


async def test_of_all_that_a_server_writes_only_the_end_is_kept():
    said = []
    async with McpServers(config("a"), settings=QUICK, on_change=said.append) as servers:
        assert await heard(servers, "flood", {"much": 9_000_000}) == "9000001"
        await heard(servers, "echo")
        await heard(servers, "die")
        await until(lambda: is_up_again(servers))
    assert [status.reason for status in said if status.reason] == ["it ended (it wrote: giving up, no secret)"]


async def test_a_server_that_hangs_is_started_again_when_no_call_is_under_way(notes):
    async with McpServers(config("a", "b"), settings=QUICK) as servers:
        hung = int(await heard(servers, "a__pid"))
        with anyio.move_on_after(0.3):
            await heard(servers, "a__stall")
        assert await heard(servers, "b__echo", {"n": 1}) == '{"n": 1}'
        await until(lambda: is_up_again(servers))
        assert not alive(hung)
        assert await heard(servers, "a__echo", {"n": 1}) == '{"n": 1}'


async def test_a_server_that_was_stopped_holds_nobody_up(notes):
    """It reads nothing any more: its pipe fills up, and even saying that a call was given up cannot be said."""
    async with McpServers(config("a"), settings=with_settings(health_timeout=30)) as servers:
        number = int(await heard(servers, "pid"))
        os.kill(number, signal.SIGSTOP)
        began = anyio.current_time()
        for _ in range(3):
            with anyio.move_on_after(0.2):
                await heard(servers, "echo", {"much": "x" * 100_000})
        assert anyio.current_time() - began < 4


async def test_a_server_that_cannot_stay_up_is_down_after_some_tries_and_can_be_restarted(notes):
    entries = config("a", broken=plain("broken"))
    async with McpServers(entries, settings=with_settings(restarts=2)) as servers:
        assert servers.status("a").state is ServerState.UP
        await until(lambda: servers.status("broken").state is ServerState.DOWN)
        assert servers.status("broken").starts == 3
        assert "giving up" in servers.status("broken").reason
        assert (await servers.restart("broken")).state is ServerState.RESTARTING
        await until(lambda: servers.status("broken").state is ServerState.DOWN)
        assert servers.status("broken").starts == 6


async def test_entries_that_cannot_be_used_hide_no_other():
    bad = {"nothing": {}, "missing": {"command": "no-such-command-7"}, "unset": plain("x", env={"A": "${NOT_SET_7}"})}
    async with McpServers(config("a", **bad), settings=with_settings(restarts=0)) as servers:
        await until(lambda: servers.status("missing").state is ServerState.DOWN)
        assert servers.status("a").state is ServerState.UP
        assert servers.status("nothing").reason == "has neither a command nor a url"
        assert "could not be started" in servers.status("missing").reason
        assert "NOT_SET_7" in servers.status("unset").reason
        assert {tool.name for tool in servers.tools} >= {"echo", "pid"}


async def test_servers_come_and_go_while_the_others_run(notes):
    changes = []
    async with McpServers(config("a"), settings=QUICK, on_change=changes.append) as servers:
        assert (await servers.add("b", plain("b"))).state is ServerState.UP
        # What was called echo before stays so: a model may have been told of it.
        names = [tool.name for tool in servers.tools]
        assert {"echo", "b__echo"} <= set(names)
        kept = servers.find("b__pid")
        process = int(model_text(await kept.run({}, Context())))
        await servers.remove("b")
        assert not alive(process)
        assert [status.name for status in servers.statuses] == ["a"]
        assert "b__echo" not in [tool.name for tool in servers.tools]
        said = model_text(await kept.run({}, Context()))
        assert said == "Error [EXECUTION_ERROR]: the MCP server 'b' was removed"
        with pytest.raises(SettingsError, match="none is called 'b'"):
            servers.status("b")
        with pytest.raises(SettingsError, match="there is one called 'a' already"):
            await servers.add("a", plain("a"))
    assert [status.state for status in changes if status.name == "b"][-1] is ServerState.REMOVED


async def test_a_server_is_switched_off_and_on():
    async with McpServers(config("a", b=plain("b", disabled=True)), settings=QUICK) as servers:
        assert servers.status("b").state is ServerState.OFF
        kept = servers.find("echo")
        await servers.switch_off("a")
        assert servers.tools == ()
        assert (
            model_text(await kept.run({}, Context())) == "Error [EXECUTION_ERROR]: the MCP server 'a' was switched off"
        )
        assert (await servers.switch_on("b")).state is ServerState.UP
        assert (await servers.switch_on("a")).state is ServerState.UP
        assert model_text(await kept.run({"n": 1}, Context())) == '{"n": 1}'


async def test_a_restart_gives_a_new_process_and_calls_wait_for_it():
    async with McpServers(config("a"), settings=QUICK) as servers:
        first = await heard(servers, "pid")
        outputs = []

        async def ask():
            outputs.append(await heard(servers, "pid"))

        async with anyio.create_task_group() as group:
            group.start_soon(servers.restart, "a")
            await anyio.sleep(0)
            group.start_soon(ask)
        assert outputs[0] != first
        assert outputs[0].isdigit()


async def test_a_server_that_is_off_while_a_call_is_under_way_ends_the_call():
    async with McpServers(config("a"), settings=QUICK) as servers:
        outputs = []

        async def ask():
            outputs.append(await heard(servers, "slow"))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.sleep(0.3)
            await servers.switch_off("a")
        assert "ended before it answered" in outputs[0]


# --- what is left -----------------------------------------------------------------------------------------------------


async def test_nothing_is_left_whatever_happened(notes):
    before = tasks_now()
    async with McpServers(config("a", "b", "c"), settings=QUICK) as servers:
        await heard(servers, "a__spawn")
        await heard(servers, "b__die")
        with anyio.move_on_after(0.1):
            await heard(servers, "c__stall")
        assert len(processes(notes)) >= 4
    assert none_left(notes, 0)
    assert tasks_now() == before


async def test_leaving_by_an_error_ends_the_servers_and_raises_that_error(notes):
    with pytest.raises(ZeroDivisionError):
        async with McpServers(config("a"), settings=QUICK):
            raise ZeroDivisionError
    assert len(processes(notes)) == 1
    assert none_left(notes, 0)


async def test_being_cancelled_while_servers_start_ends_them(notes):
    before = tasks_now()
    with anyio.move_on_after(0.3) as scope:
        async with McpServers(config("a", slow={"command": "sleep", "args": ["60"]}), settings=QUICK):
            raise AssertionError("the second one never starts")
    assert scope.cancelled_caught
    assert none_left(notes, 0)
    assert tasks_now() == before


async def test_a_listener_that_raises_ends_no_server(caplog):
    def listen(status):
        raise ZeroDivisionError

    async with McpServers(config("a"), settings=QUICK, on_change=listen) as servers:
        assert await heard(servers, "echo", {"n": 1}) == '{"n": 1}'
    assert "MCP server 'a'" in caplog.text


# --- what it is made from ---------------------------------------------------------------------------------------------


async def test_without_the_sdk_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(SourceError, match=r"pip install 'strictcall\[mcp\]'"):
        await McpServers(config("a")).__aenter__()


async def test_a_config_file_is_read_as_clients_write_it(tmp_path, monkeypatch):
    folder = tmp_path / "project" / ".vscode"
    folder.mkdir(parents=True)
    monkeypatch.setenv("WHO", "a")
    args = ", ".join(json.dumps(word) for word in ["-S", helpers.PLAIN, "${env:WHO}"])
    command = json.dumps(sys.executable)
    text = f'{{"servers": {{"one": {{"type": "stdio", "command": {command}, "args": [{args}], /* so */ }} }} }}'
    (folder / "mcp.json").write_text(text)
    async with McpServers(folder / "mcp.json", settings=QUICK) as servers:
        assert servers.status("one").version == "a 1"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "no map of servers"),
        ({"mcpServers": []}, "no map of servers"),
        ({"servers": {"a": 1}}, "no map of servers"),
    ],
)
def test_what_is_no_config_is_said(value, problem):
    with pytest.raises(SourceError, match=problem):
        McpServers(value)


def test_a_file_that_is_no_config_is_said_with_its_place(tmp_path):
    path = tmp_path / "mcp.json"
    with pytest.raises(SourceError, match=r"mcp\.json"):
        McpServers(path)
    path.write_text("{")
    with pytest.raises(SourceError, match=r"mcp\.json"):
        McpServers(path)
    path.write_text('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}')
    with pytest.raises(SourceError, match="two servers in it are called 'a'"):
        McpServers(path)


@pytest.mark.parametrize(
    ("field", "value"), [("start_timeout", 0), ("at_once", 0), ("restarts", -1), ("patience", -1), ("names", "some")]
)
def test_settings_that_cannot_be_are_refused(field, value):
    with pytest.raises(SettingsError, match=field):
        McpSettings(**{field: value})
