"""Only a server with `--credits` says whose the fees are, and what other shares would change."""

from __future__ import annotations

import asyncio
import re

import pytest

import billframes as bf
from billframes.assistant import Questions, make_server
from billframes.assistant.tools import STANDS_OUT, TOOLS
from billframes.cli import main
from tests.assistant.conftest import answer_of, call


@pytest.fixture(scope="module")
def settings(sandbox):
    return bf.FirmSettings.load(sandbox.firm_settings)


@pytest.fixture(scope="module")
def private(firm_mirror, settings):
    return make_server(Questions(firm_mirror, settings=settings, credits=True))


def test_the_tool_is_there_only_if_it_was_allowed(private, server, refusal):
    from mcp import Client

    async def names(of):
        async with Client(of) as application:
            return [each.name for each in (await application.list_tools()).tools]

    assert asyncio.run(names(server)) == [*TOOLS, STANDS_OUT]
    assert asyncio.run(names(private)) == [*TOOLS, STANDS_OUT, "credits"]
    assert "There is no tool 'credits'" in refusal("credits", period="2026")


@pytest.mark.slow
def test_credits_under_other_shares_are_those_of_the_book(private, firm_mirror, settings):
    answer = answer_of(
        call(private, "credits", {"period": "2026-01-01 to 2026-10-31", "compare": '{"originating": 0.15}'})
    )
    book = firm_mirror.book("2026-01-01", "2026-10-31", settings=settings)
    rows = book.credits(compare={"firm": 0.1, "originating": 0.15, "responsible": 0.1})
    names = [each["name"] for each in answer["columns"]]
    for column in ("user_name", "credit_amount", "difference_amount"):
        assert [row[names.index(column)] for row in answer["rows"]] == rows[column].tolist(), column
    assert answer["total"]["credit_amount"] == answer["total"]["compared_amount"] == 4_629_170.17
    assert answer["rules"][1].startswith("10% for the firm, 15% for originators")
    assert answer["rows"][0][names.index("user_name")] == "No one"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"compare": {"originating": 0.9}}, "compare: firm, originating and responsible add up to 1.1"),
        ({"compare": {"orginating": 0.1}}, "compare has an unknown key 'orginating'. Did you mean 'originating'?"),
        ({"base": "collected"}, "needs reports of the firm's books"),
    ],
)
def test_a_bad_question_is_one_sentence(private, arguments, message):
    answer = call(private, "credits", {"period": "2026-10"} | arguments)
    assert answer.is_error
    assert re.search(re.escape(message), answer.content[0].text)


def test_pseudonyms_and_credits_exclude_each_other(capsys):
    assert main(["mcp", "--demo", "--pseudonyms", "--credits"]) == 2
    assert "--pseudonyms can't be used with --credits" in capsys.readouterr().err
