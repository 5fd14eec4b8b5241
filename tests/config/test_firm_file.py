"""Everything that makes figures uses the firm's settings, wherever its client or mirror comes from, and says so."""

from __future__ import annotations

import contextlib
import datetime as dt
import html
import pickle
import re
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import pandas as pd
import pytest

import billframes as bf
from billframes import _session
from billframes.assistant.command import _options
from billframes.assistant.server import Questions
from billframes.cli import _parse, main
from billframes.commands import connected
from billframes.config.firm import describe_settings
from billframes.config.profiles import config_file
from billframes.days import FiscalYear
from billframes.ebilling.source import FRAMES
from billframes.ledger.demo import sandbox_reports
from billframes.report.loading import load

# With these settings, utilization is 73.0% and 63.0% in October 2026. Without settings it is 59.0%.
SAID, OTHERS = "Firm settings from harrow.toml", "Firm settings from half.toml"


@pytest.fixture(scope="module")
def place(sandbox, tmp_path_factory):
    """A default profile that names the firm's settings, and a mirror that was refreshed without them."""
    folder = tmp_path_factory.mktemp("firm")
    with bf.Client(sandbox.base_url, sandbox.tokens["full"], profile="") as client:
        bf.mirror(folder / "mirror", client=client).refresh()
    text = sandbox.firm_settings.read_text("utf-8")
    guidelines = sandbox.firm_settings.with_name("guidelines").as_posix()
    text = text.replace('guidelines = "guidelines"', f'fiscal_year_start = "07"\nguidelines = "{guidelines}"')
    config_file().parent.mkdir(parents=True, exist_ok=True)
    config_file().with_name("harrow.toml").write_text(text, encoding="utf-8")
    write_profiles(firm=f'base_url = "{sandbox.base_url}"\ntoken = "{sandbox.tokens["full"]}"\nfirm = "harrow.toml"')
    (folder / "half.toml").write_text("hours_per_day = 7.5", encoding="utf-8")
    yield SimpleNamespace(
        url=sandbox.base_url,
        token=sandbox.tokens["full"],
        mirror=folder / "mirror",
        others=folder / "half.toml",
        guidelines=guidelines,
        aging=sandbox_reports(folder)["aging"],
    )
    config_file().unlink()
    config_file().with_name("harrow.toml").unlink()


def write_profiles(default="firm", **profiles):
    tables = [f"[profiles.{name}]\n{text}" for name, text in profiles.items()]
    config_file().touch(mode=0o600)
    config_file().write_text(
        "\n".join([f'default_profile = "{default}"' if default else "", *tables]), encoding="utf-8"
    )


@pytest.fixture
def profiles(place):
    """Return the function that writes the profiles, and restore them after the test."""
    before = config_file().read_text("utf-8")
    yield write_profiles
    config_file().write_text(before, encoding="utf-8")


@pytest.fixture(autouse=True)
def own_default_client(monkeypatch, tmp_path):
    monkeypatch.setattr(_session, "_default", [])
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["profile", "environment", "mirror"])
def words(request, place, monkeypatch):
    """The options of a command that reads the firm's data from a source."""
    if request.param == "environment":
        monkeypatch.setenv("BILLFRAMES_BASE_URL", place.url)
        monkeypatch.setenv("BILLFRAMES_TOKEN", place.token)
    return ["--mirror", str(place.mirror)] if request.param == "mirror" else []


CLIENTS = {
    "default client": lambda _: None,
    "profile": lambda _: bf.Client(profile="firm"),
    "arguments": lambda place: bf.Client(place.url, place.token),
    "pickled client": lambda place: pickle.loads(pickle.dumps(bf.Client(f"{place.url}/", place.token, page_size=500))),
    "mirror": lambda place: bf.mirror(place.mirror),
    "mirror and client": lambda place: bf.mirror(place.mirror, client=bf.Client(place.url, place.token)),
    "version of a mirror": lambda place: bf.mirror(place.mirror).as_of(1),
    "pickled mirror": lambda place: pickle.loads(pickle.dumps(bf.mirror(place.mirror))),
    "connected to a mirror": lambda place: bf.connect(mirror=place.mirror),
    "connected to a mirror of a profile": lambda place: bf.connect(mirror=place.mirror, profile="firm"),
}


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_book_has_the_settings_of_the_profile_with_the_address_of_its_data(place, client):
    book = bf.book("FY2027-Q1", client=client(place))
    assert describe_settings(book.settings).startswith(SAID)
    if isinstance(book.client, bf.Client):
        # A pickled client has no token.
        return
    october = book.utilization(by=None, start="2026-10")
    assert october["utilization"].item() == pytest.approx(0.730, abs=5e-4)


@pytest.mark.slow
def test_a_mirrors_own_book_and_a_client_of_environment_variables_have_the_settings(place, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", place.url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", place.token)
    for book in (bf.mirror(place.mirror).book("2026-10"), bf.book("2026-10"), load("2026-10").firm_book):
        assert describe_settings(book.settings).startswith(SAID)
        assert book.utilization(by=None)["utilization"].item() == pytest.approx(0.730, abs=5e-4)


def in_workbook(name):
    return str([[cell.value for cell in row] for sheet in openpyxl.load_workbook(name) for row in sheet])


def report_as_workbook(_, *words):
    assert main(["report", "2026-10", *words, "--out", "october.xlsx"]) == 0
    return in_workbook("october.xlsx")


def report(monkeypatch, *words):
    """Load with the parameters that the command gives."""
    months = []

    def build(parameters, _outs, *, client, **_options):
        given = {name: parameters[name] for name in ("month", "settings", "as_of")}
        months.append(load(**given, client=client))

    monkeypatch.setattr("billframes.commands.report.build", build)
    assert main(["report", "2026-10", *words]) == 0
    [month] = months
    return f"{describe_settings(month.book.settings)} {month.of('utilization')['utilization'].item():.1%}"


def assistant(_, *words):
    args = _parse(["mcp", *words])
    with connected(args) as client:
        questions = Questions(client, **_options(args, client))
        answer = questions.ask("figures", {"measures": ["utilization"], "period": "2026-10"})
        assert questions.ask("about", {})["settings"] == answer["provenance"]["settings"]
    return f"{answer['provenance']['settings']} {answer['total']['utilization']:.1%}"


def dashboard(monkeypatch, *words):
    """Make the page with what the command gives it."""
    pytest.importorskip("voila")
    from billframes.widgets.dashboard import _explorer, command

    books = []

    def prepare(_folder, client, start):
        explorer = _explorer(client, **start["shown"])
        books.append(explorer._books.book_filters.book)
        assert describe_settings(books[0].settings) in html.unescape(explorer.tabs.children[0]._page.value)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_started_server", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(command, "_prepare", prepare)
    assert main(["dashboard", "2026-10", *words]) == 0
    return f"{describe_settings(books[0].settings)} {books[0].utilization(by=None)['utilization'].item():.1%}"


def guidelines(place, *words):
    assert main(["guidelines", place.guidelines, *words, "--out", "week"]) == 0
    page = html.unescape(Path("week/guidelines.html").read_text("utf-8"))
    assert re.search("Firm settings from .*?toml: ", page)[0] in in_workbook("week/guidelines.xlsx")
    return page


def review(_, *words):
    assert main(["review", "--responsible", "Harrow", *words]) == 0
    page = html.unescape(Path("prebill-review/prebill-review.html").read_text("utf-8"))
    assert re.search("Firm settings from .*?toml", page)[0] in in_workbook("prebill-review/prebill-review.xlsx")
    return page


def tie_out(place, *words):
    assert main(["tie-out", str(place.aging), *words]) == 0


def doctor(_, *words):
    assert main(["doctor", *words]) == 0


SHOW_UTILIZATION = (report_as_workbook, report, assistant, dashboard)
COMMANDS = (*SHOW_UTILIZATION, guidelines, review, tie_out, doctor)


# Each command with the settings of a profile, one of them from each source, and one with other settings.
USES = [
    *((command, False, "profile") for command in COMMANDS),
    *((guidelines, others, source) for others in (False, True) for source in ("environment", "mirror")),
    *((command, True, "environment") for command in (report, review, tie_out, assistant, dashboard)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "others", "words"), USES, indirect=["words"])
def test_a_command_uses_and_names_the_profiles_settings_unless_others_are_given(
    command, others, words, place, monkeypatch, capsys
):
    words += ["--settings", str(place.others)] if others else []
    given = {report: monkeypatch, dashboard: monkeypatch}.get(command, place)
    shown = command(given, *words) or capsys.readouterr().out
    assert " ".join(shown.split()).count(OTHERS if others else SAID)
    if command in SHOW_UTILIZATION:
        assert ("63.0%" if others else "73.0%") in shown or f"0.{630 if others else 730}" in shown


@pytest.mark.slow
def test_a_command_without_figures_counts_periods_in_the_fiscal_year_of_the_settings(words):
    assert main(["export", "time_entries", "FY2026", *words, "-o", "year.csv"]) == 0
    assert pd.to_datetime(pd.read_csv("year.csv")["date"]).agg(["min", "max"]).dt.year.tolist() == [2025, 2026]


@pytest.mark.slow
def test_frames_without_a_book_have_the_settings_of_the_client_that_is_passed(place):
    with bf.Client(place.url, place.token) as client:
        frames = {name: getattr(client, name)() for name in FRAMES}
        assert client.settings
        assert len(bf.Guidelines.read(client.settings.guidelines).check(frames, client=client)) > 0


def refreshed(folder, client):
    bf.mirror(folder, client=client).refresh()
    return bf.mirror(folder)


@pytest.mark.slow
def test_a_mirror_remembers_the_file_that_it_was_refreshed_with(place, profiles, tmp_path):
    with bf.Client(profile="firm") as client:
        opened = refreshed(tmp_path / "m", client)
    profiles(default="")
    assert describe_settings(opened.settings).startswith(SAID)
    assert opened.as_of(opened.version).book("FY2027").settings == opened.settings
    with bf.Client(place.url, place.token) as client:
        # This client does not know the settings, and they stay.
        assert client.settings is None
        assert describe_settings(refreshed(tmp_path / "m", client).settings).startswith(SAID)
    file = config_file().with_name("harrow.toml")
    moved = file.rename(file.with_name("moved.toml"))
    try:
        with pytest.raises(bf.errors.ConfigError, match="harrow.toml, which this machine does not have. Pass"):
            bf.mirror(tmp_path / "m").book("2026-10")
        assert len(bf.mirror(tmp_path / "m").users()) > 0
    finally:
        moved.rename(file)
    profiles(firm=f'base_url = "{place.url}"\ntoken = "{place.token}"')
    with bf.Client(profile="firm") as client:
        assert refreshed(tmp_path / "m", client).settings is None


@pytest.mark.slow
def test_a_mirror_of_the_demonstration_has_its_settings(capsys):
    assert main(["sync", "demo", "--demo"]) == 0
    assert describe_settings(bf.mirror("demo").settings).startswith("Firm settings from firm.toml")


def test_settings_that_were_set_hold_in_each_version_and_in_pickles(place):
    others = bf.FirmSettings(hours_per_day=6)
    for opened in (bf.mirror(place.mirror), bf.Client(place.url, place.token)):
        opened.settings = others
        assert pickle.loads(pickle.dumps(opened)).settings == others
        assert bf.book("2026-10", client=opened).settings == others
    mirror = bf.mirror(place.mirror)
    mirror.settings = others
    assert mirror.as_of(1).settings is mirror.book("2026-10").settings is others


@pytest.mark.slow
def test_profiles_that_name_different_settings_are_a_question_for_the_user(place, profiles, tmp_path):
    one, other = (
        f'base_url = "{place.url}"\ntoken = "{place.token}"\nfirm = "{name}.toml"' for name in ("harrow", "b")
    )
    profiles(default="", firm=one, other=other)
    for opened in (bf.Client(place.url, place.token), bf.mirror(place.mirror)):
        with pytest.raises(
            bf.errors.ConfigError,
            match=r"name different settings of the firm: 'firm' \(harrow.toml\) and 'other' \(b.toml\)",
        ):
            bf.book("2026-10", client=opened)
        assert len(opened.users()) > 0
    assert describe_settings(bf.Client(profile="firm").settings).startswith(SAID)
    # A mirror that is refreshed with one of them has its settings.
    assert describe_settings(refreshed(tmp_path / "m", bf.Client(profile="firm")).settings).startswith(SAID)
    profiles(firm=one, other=other)
    assert describe_settings(bf.Client(place.url, place.token).settings).startswith(SAID)


def test_a_profile_without_settings_does_not_contradict_the_one_that_names_them(place, profiles):
    account = f'base_url = "{place.url}"\ntoken = "{place.token}"'
    profiles(default="", firm=f'{account}\nfirm = "harrow.toml"', assistant=account)
    for opened in (bf.Client(place.url, place.token), bf.mirror(place.mirror)):
        assert describe_settings(opened.settings).startswith(SAID)
    # The default profile is a choice of the user.
    profiles(default="assistant", firm=f'{account}\nfirm = "harrow.toml"', assistant=account)
    assert bf.Client(place.url, place.token).settings is None


def test_the_fiscal_year_of_a_profile_is_that_of_the_mirrors_and_clients_of_its_address(place, profiles):
    april, july = (
        f'base_url = "{place.url}"\ntoken = "{place.token}"\nfiscal_year_start = "{month}"' for month in ("04", "07")
    )
    profiles(firm=april)
    with bf.Client(place.url, place.token) as client:
        for opened in (
            bf.Client(profile="firm"),
            client,
            bf.mirror(place.mirror),
            bf.mirror(place.mirror, client=client),
        ):
            assert opened.fiscal_year == FiscalYear(4)
            assert bf.book("FY2027", client=opened).period.start == dt.date(2026, 4, 1)
        profiles(default="other", firm=april, other=july)
        assert bf.mirror(place.mirror).fiscal_year == FiscalYear(7)
        # It is not known which one is meant.
        profiles(default="", firm=april, other=july)
        assert bf.mirror(place.mirror).fiscal_year is client.fiscal_year is None
    with bf.Client(place.url, place.token, profile="", fiscal_year_start="10") as client:
        assert bf.mirror(place.mirror, client=client).fiscal_year == FiscalYear(10)


def test_the_environments_profile_with_another_address_has_another_firms_settings(place, profiles, monkeypatch):
    profiles(default="", other='base_url = "https://billing.example.com"\nfirm = "harrow.toml"')
    monkeypatch.setenv("BILLFRAMES_PROFILE", "other")
    with bf.Client(place.url, place.token) as client:
        assert client.settings is None
    with bf.Client(place.url, place.token, profile="other") as client:
        assert describe_settings(client.settings).startswith(SAID)


def test_no_profile_means_no_settings_and_the_commands_say_so(place, capsys):
    with bf.Client(place.url, place.token, profile="") as client:
        assert client.settings is None
        assert "No firm settings: 8 hours a day" in bf.book("2026-10", client=client)._repr_html_()
