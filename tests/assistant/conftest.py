"""A mirror of the sandbox's firm, and the server that answers from it, in memory."""

from __future__ import annotations

import asyncio
import functools
import json

import pytest

import billframes as bf


@pytest.fixture(scope="session")
def firm_mirror(client, tmp_path_factory):
    """A mirror of the sandbox's firm, which no test refreshes."""
    opened = bf.mirror(tmp_path_factory.mktemp("assistant") / "firm", client=client)
    opened.refresh()
    return opened


@pytest.fixture(scope="session")
def book_of(firm_mirror):
    """Return the notebook's book of a period."""
    return functools.cache(firm_mirror.book)


@pytest.fixture(scope="session")
def server(firm_mirror):
    from billframes.assistant import Questions, make_server

    return make_server(Questions(firm_mirror))


@pytest.fixture(scope="session")
def ask(server):
    """Return a function that asks as an application does, and returns the answer; it raises what is refused."""
    return lambda tool, **arguments: answer_of(call(server, tool, arguments))


@pytest.fixture(scope="session")
def refusal(server):
    """Return a function that asks, and returns the sentence of the refusal."""

    def ask(tool, **arguments):
        result = call(server, tool, arguments)
        assert result.is_error
        assert result.structured_content is None
        return result.content[0].text

    return ask


def call(server, tool, arguments):
    from mcp import Client

    async def once():
        async with Client(server) as application:
            return await application.call_tool(tool, arguments)

    return asyncio.run(once())


def answer_of(result):
    assert not result.is_error, result.content[0].text
    # Some applications read only the text, and some only the structure.
    assert json.loads(result.content[0].text) == result.structured_content
    assert len(result.content[0].text) <= 30_000
    return result.structured_content
