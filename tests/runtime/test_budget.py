"""How much of an output the model gets, and where the rest of it is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from runtime.running import Heard, both_loops, call, runnable
from strictcall.errors import SettingsError
from strictcall.runtime.budget import Budget, Spill
from strictcall.runtime.events import CallEnded
from strictcall.runtime.executor import Executor, Limits
from strictcall.runtime.output import Fatal, RespondToModel, Success, ToolError, model_text

LINES = "".join(f"line {row}\n" for row in range(1000))


def test_what_fits_is_the_very_output():
    for output in (Success("x" * 200), RespondToModel(ToolError("X", "y")), Fatal(ToolError("X", "y" * 9000))):
        fitted = Budget(characters=200).fit(output, "t")
        assert fitted.output is output
        assert fitted.whole is None
        assert fitted.file is None


@pytest.mark.parametrize("head", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("text", [LINES, "x" * 201, "ä" * 10_000, "\n" * 5000, "a\n" + "b" * 4000 + "\nc"])
def test_the_head_and_the_tail_are_kept_within_the_budget(text, head):
    fitted = Budget(characters=200, head=head).fit(Success(text, details=1, notice="by the tool"), "t")
    output = fitted.output
    assert len(output.text) <= 200
    assert output.truncated
    assert output.details == 1
    assert fitted.whole == text
    before, mark, after = output.text.partition("\n[… ")
    count, _, after = after.partition(" characters left out …]\n")
    assert mark
    assert text.startswith(before)
    assert text.endswith(after)
    left_out = int(count.replace(",", ""))
    assert left_out == len(text) - len(before) - len(after), "what it says is left out is left out"
    assert output.notice == f"by the tool; {left_out:,} of {len(text):,} characters are left out"
    if head == 0:
        assert before == ""
    if head == 1:
        assert after == ""


def test_lines_are_kept_whole_where_there_are_lines():
    output = Budget(characters=400).fit(Success(LINES), "t").output
    before, _, after = output.text.partition("\n[…")
    assert before.splitlines()[-1] in LINES.splitlines()
    assert after.partition("…]\n")[2].splitlines()[0] in LINES.splitlines()
    assert output.notice.endswith("of 8,890 characters are left out")


def test_an_errors_message_is_cut_too():
    fitted = Budget(characters=200).fit(RespondToModel(ToolError("X", "y" * 5000), "d"), "t")
    assert len(fitted.output.error.message) <= 200
    assert fitted.output.error.code == "X"
    assert fitted.output.details == "d"
    assert fitted.whole == "y" * 5000


def test_a_notice_has_its_limit_too():
    output = Budget(characters=200).fit(Success("text", notice="n" * 5000), "t").output
    assert output.text == "text"
    assert output.notice == "n" * 199 + "…"


def test_of_what_is_too_large_nothing_is_kept():
    fitted = Budget(characters=200, most=1000).fit(Success("x" * 1001, details="d"), "t")
    assert model_text(fitted.output).startswith("Error [OUTPUT_TOO_LARGE]: the tool's output has 1,001 characters")
    assert fitted.output.details == "d"
    assert fitted.whole is None


def test_a_spilled_file_is_its_owners_alone(tmp_path):
    mask = os.umask(0)
    try:
        with Spill(tmp_path) as spill:
            assert spill.directory is None, "nothing is made before it is needed"
            text = LINES + "\ud800 half\r\n"
            fitted = Budget(characters=200, spill=spill).fit(Success(text), "../../etc/my tool")
            again = Budget(characters=200, spill=spill).fit(Success(LINES), "t")
            assert stat.S_IMODE(spill.directory.stat().st_mode) == 0o700
            assert stat.S_IMODE(fitted.file.stat().st_mode) == 0o600
            assert fitted.file.parent == spill.directory
            assert fitted.file != again.file
            assert fitted.file.read_bytes().decode() == LINES + "\\ud800 half\r\n"
            assert fitted.whole is None
            assert fitted.output.notice.endswith(f"; all of them are in the file {fitted.file}")
    finally:
        os.umask(mask)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_the_event_has_it(tmp_path):
    fitted = Budget(characters=200, spill=Spill(tmp_path / "missing")).fit(Success(LINES), "t")
    assert fitted.file is None
    assert fitted.whole == LINES
    assert "file" not in fitted.output.notice


@pytest.mark.parametrize(
    "settings", [{"characters": 199}, {"characters": 500, "most": 499}, {"head": -0.1}, {"head": 1.1}]
)
def test_a_budget_that_makes_no_sense_is_refused(settings):
    with pytest.raises(SettingsError):
        Budget(**settings)


@pytest.mark.anyio
@both_loops
async def test_the_executor_keeps_the_budget_and_the_event_the_whole(tmp_path):
    async def talks(arguments, context):
        return LINES

    for spill in (None, Spill(tmp_path)):
        heard = Heard()
        limits = Limits(budget=Budget(characters=300, spill=spill))
        (output,) = await Executor([runnable("talks", talks)], limits, on_event=heard).run_batch([call("talks")])
        assert output.truncated
        assert len(output.text) <= 300
        (ended,) = heard.of(CallEnded)
        if spill is None:
            assert (ended.whole, ended.file) == (LINES, None)
        else:
            assert ended.whole is None
            assert Path(ended.file).read_text() == LINES
            assert ended.file in model_text(output)


@pytest.mark.anyio
@both_loops
async def test_repeats_are_told_by_the_whole_and_not_by_what_is_kept():
    middles = iter("abcdef")

    async def talks(arguments, context):
        return "x" * 2000 + next(middles) + "y" * 2000

    executor = Executor([runnable("talks", talks)], Limits(max_repeats=1, budget=Budget(characters=300)))
    outputs = [(await executor.run_batch([call("talks")]))[0] for _ in range(3)]
    assert all(isinstance(output, Success) for output in outputs)
    assert len({output.text for output in outputs}) == 1
