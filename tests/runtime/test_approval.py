"""Asking before a tool runs: allowed, denied, edited, or nobody there."""

from __future__ import annotations

import threading
from functools import partial

import anyio
import pytest

from runtime.running import Heard, an_object, both_loops, call, codes, runnable
from strictcall.errors import SettingsError
from strictcall.runtime.approval import Allow, AskUnlessReadOnly, Deny, Edit
from strictcall.runtime.events import ApprovalAsked, ApprovalGiven, CallEnded, ToolStarted
from strictcall.runtime.executor import Executor
from strictcall.runtime.output import ErrorCode, Fatal, Success, ToolError, model_text

pytestmark = [pytest.mark.anyio, both_loops]
TEXT = an_object({"to": {"type": "string", "maxLength": 5}}, ["to"])


async def send(arguments, context):
    return f"sent to {arguments['to']}"


def executor_with(approve, **options):
    heard = Heard()
    return Executor([runnable("send", send, TEXT, **options)], approve=approve, on_event=heard), heard


def sync(decision):
    return lambda request: decision


def coroutine(decision):
    async def decide(request):
        await anyio.sleep(0)
        return decision

    return decide


def gives_a_coroutine(decision):
    return partial(call_it, coroutine(decision))


def call_it(function, request):
    return function(request)


@pytest.mark.parametrize("kind", [sync, coroutine, gives_a_coroutine])
@pytest.mark.parametrize(
    ("decision", "heard"),
    [
        (Allow(), "sent to me"),
        (True, "sent to me"),
        (False, "Error [APPROVAL_DENIED]: this call was not allowed"),
        (Deny(), "Error [APPROVAL_DENIED]: this call was not allowed"),
        (Deny("not on a Sunday"), "Error [APPROVAL_DENIED]: not on a Sunday"),
        (Deny("never", ErrorCode.PERMISSION_DENIED), "Error [PERMISSION_DENIED]: never"),
        (Edit({"to": "you"}), "sent to you\n[the arguments were edited before the tool was run]"),
    ],
)
async def test_what_is_decided_happens(kind, decision, heard):
    executor, events = executor_with(kind(decision))
    (output,) = await executor.run_batch([call("send", {"to": "me"})])
    assert model_text(output) == heard
    assert len(events.of(ToolStarted)) == ("sent" in heard)
    assert len(events.of(ApprovalAsked)) == 1
    (given,) = events.of(ApprovalGiven)
    assert given.decision == ("edit" if isinstance(decision, Edit) else "allow" if "sent" in heard else "deny")
    assert 0 <= given.duration <= events.of(CallEnded)[0].duration


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"to": "much too long"}, "/to: must have at most 5 characters"),
        ({}, "/to: is required and missing"),
        ({"to": "me", "bcc": "x"}, "/bcc: no such argument"),
        (None, "must be an object"),
        ({"to": object()}, "not JSON"),
        ({"to": float("nan")}, "NaN"),
    ],
)
async def test_edited_arguments_are_checked_by_the_contract_again(arguments, said):
    executor, events = executor_with(sync(Edit(arguments)))
    (output,) = await executor.run_batch([call("send", {"to": "me"})])
    assert codes([output]) == ["INVALID_ARGUMENTS"]
    assert "as they were edited" in output.error.message
    assert said in output.error.message
    assert events.of(ToolStarted) == []


async def test_an_edit_is_in_the_event_and_the_call_is_as_it_was():
    edited = {"to": "you"}
    executor, events = executor_with(sync(Edit(edited)))
    made = call("send", {"to": "me"})
    await executor.run_batch([made])
    assert made.arguments == {"to": "me"}
    assert events.of(ApprovalGiven)[0].arguments == edited
    assert events.of(ToolStarted)[0].arguments == edited


async def test_an_approver_cannot_change_arguments_unseen():
    def spoil(request):
        request.arguments["to"] = "them"
        return Allow()

    executor, _ = executor_with(spoil)
    (output,) = await executor.run_batch([call("send", {"to": "me"})])
    assert output.text == "sent to me"


async def test_only_what_could_run_is_asked_about():
    executor, events = executor_with(sync(Allow()))
    outputs = await executor.run_batch([call("nope"), call("send", {"to": 5})])
    assert codes(outputs) == ["TOOL_NOT_FOUND", "INVALID_ARGUMENTS"]
    assert events.of(ApprovalAsked) == []


def fails(request):
    raise RuntimeError("the window is closed, key=s3cr3t")


async def fails_too(request):
    raise RuntimeError("the window is closed, key=s3cr3t")


@pytest.mark.parametrize("approve", [fails, fails_too, sync("yes"), sync(None)])
async def test_where_nobody_can_be_asked_nothing_runs(approve):
    executor, events = executor_with(approve)
    (output,) = await executor.run_batch([call("send", {"to": "me"})])
    assert model_text(output) == "Error [APPROVAL_DENIED]: nobody could be asked to allow this call"
    assert events.of(ToolStarted) == []
    assert "Error: " in events.of(CallEnded)[0].traceback


@pytest.mark.parametrize(("read_only", "asked"), [(True, False), (False, True), (None, True)])
@pytest.mark.parametrize("kind", [sync, coroutine])
async def test_the_shipped_policy_asks_unless_a_tool_is_read_only(kind, read_only, asked):
    executor, _ = executor_with(AskUnlessReadOnly(kind(Deny("asked"))), read_only=read_only)
    (output,) = await executor.run_batch([call("send", {"to": "me"})])
    assert model_text(output) == ("Error [APPROVAL_DENIED]: asked" if asked else "sent to me")


async def test_one_question_at_a_time_and_the_loop_goes_on_meanwhile():
    asking, most, ticks, order = 0, 0, 0, []
    release = threading.Event()

    def ask(request):
        nonlocal asking, most
        asking += 1
        most = max(most, asking)
        order.append(request.arguments["to"])
        release.wait(0.03)
        asking -= 1
        return True

    executor, _ = executor_with(ask)
    async with anyio.create_task_group() as group:

        async def tick():
            nonlocal ticks
            while True:
                await anyio.sleep(0.005)
                ticks += 1

        group.start_soon(tick)
        outputs = await executor.run_batch([call("send", {"to": str(n)}) for n in range(4)])
        group.cancel_scope.cancel()
    assert most == 1
    assert order == ["0", "1", "2", "3"]
    assert [output.text for output in outputs] == [f"sent to {n}" for n in range(4)]
    assert ticks > 3


async def test_a_fatal_error_after_an_edit_has_no_notice_and_no_message():
    async def breaks(arguments, context):
        return Fatal(ToolError("GONE", "x"))

    executor = Executor([runnable("breaks", breaks)], approve=sync(Edit({})))
    (output,) = await executor.run_batch([call("breaks")])
    assert model_text(output) is None


async def test_the_notice_of_a_tool_stands_after_that_of_the_edit():
    async def notes(arguments, context):
        return Success("text", notice="3 of 9 rows")

    executor = Executor([runnable("notes", notes)], approve=sync(Edit({})))
    (output,) = await executor.run_batch([call("notes")])
    assert model_text(output) == "text\n[the arguments were edited before the tool was run; 3 of 9 rows]"


async def test_a_denial_needs_a_code():
    with pytest.raises(SettingsError):
        Deny("x", "denied")
