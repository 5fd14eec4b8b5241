"""A real IPython shell prints the user's own lines and the message of an error, or all lines on request."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import billframes as bf
from billframes._shared.messages import DEBUG_VARIABLE


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.colors = "nocolor"
    shell.run_cell("import billframes as bf")
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def run_cell(shell, capsys, client):
    """Run a cell and return what it prints."""

    def run(code):
        shell.user_ns["client"] = client
        shell.run_cell(code)
        return capsys.readouterr().out

    yield run
    shell.run_line_magic("xmode", "Context")


LIBRARY = "billframes/"
CALLS = {
    "client.time_entries('soon')": "ParameterError: start='soon' is not a date or period",
    "client.time_entries(usr='x')": "CallError: time_entries() got an unexpected keyword argument 'usr'. Did you",
    "bf.analysis.utilization(userz=1)": "CallError: utilization() got an unexpected keyword argument 'userz'. Did you",
    "bf.time_entires": "UnknownNameError: billframes has no 'time_entires'. Did you mean 'time_entries'?",
    "client.matters.get('00000000-0000-4000-8000-000000000000')": "NotFoundError: matters: not found (404)",
    "bf.analysis.aging(client.users(), as_of='2026-10-31')": "MissingColumnError: ",
    "bf.Client('https://127.0.0.1:9', 't', retries=0).users()": "TransportError: ",
}


@pytest.mark.parametrize("call", CALLS)
def test_an_error_is_the_users_lines_and_one_sentence(run_cell, call):
    shown = run_cell(f"def figures():\n    return {call}\nfigures()")
    assert CALLS[call] in shown
    assert f"2     return {call}" in shown
    assert "----> 3 figures()" in shown
    assert LIBRARY not in shown.partition(CALLS[call])[0]
    assert "site-packages" not in shown
    assert "During handling" not in shown
    assert "direct cause" not in shown


def test_percent_tb_shows_it_again(run_cell):
    run_cell("client.time_entries('soon')")
    assert LIBRARY not in run_cell("%tb")


def test_verbose_mode_shows_every_frame(run_cell):
    shown = run_cell("%xmode Verbose\nclient.time_entries('soon')")
    assert LIBRARY in shown
    assert "ParameterError: start='soon'" in shown


def test_debug_shows_every_frame(run_cell, monkeypatch):
    monkeypatch.setenv(DEBUG_VARIABLE, "1")
    assert LIBRARY in run_cell("client.time_entries('soon')")


def test_a_function_of_the_user_that_billframes_calls_is_shown(run_cell):
    shown = run_cell(
        "def show(done, total):\n    bf.explain('nonesuch')\nclient.time_entries('2026-10', progress=show)"
    )
    assert "----> 2     bf.explain('nonesuch')" in shown
    assert "----> 3 client.time_entries" in shown
    assert LIBRARY not in shown.partition("ParameterError: ")[0]


def test_other_errors_are_shown_as_usual(run_cell):
    shown = run_cell("{}['x']")
    assert "KeyError: 'x'" in shown


def test_outside_ipython_the_traceback_is_pythons(monkeypatch):
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: None)
    with pytest.raises(bf.errors.ParameterError) as raised:
        bf.explain("nonesuch")
    assert raised.value._render_traceback_()[0].startswith("Traceback")
