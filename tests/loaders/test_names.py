"""Loaders take names of clients, matters, people and practice areas in place of ids, if one record fits."""

from __future__ import annotations

import pytest

import billframes as bf
from billframes.errors import ParameterError

OCTOBER = "2026-10"


@pytest.fixture(scope="module")
def client(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["full"], profile="") as client:
        yield client


@pytest.fixture(scope="module")
def granite(client):
    """The only client of whose name "Granite" is a word."""
    clients = client.clients()
    return clients[clients["name"].str.split().map(lambda words: "Granite" in words)].iloc[0]


@pytest.mark.parametrize("text", ["Granite", " granite ", "{name}", "{reference}", "{client_id}"])
def test_a_name_a_reference_or_an_id_gives_the_records_of_the_one_that_fits(client, granite, text):
    given = text.format(**granite)
    found = client.time_entries(OCTOBER, client=given)
    assert len(found) == client.time_entries.count(OCTOBER, client=given) > 0
    assert found["time_entry_id"].tolist() == (
        client.time_entries(OCTOBER, client_id=granite["client_id"])["time_entry_id"].tolist()
    )
    assert found.attrs["load"]["arguments"]["client_id"] == granite["client_id"]


def test_a_list_of_names_gives_the_records_of_all(client):
    both = client.time_entries("2026", client=["Granite", "Deepwell"])
    assert set(both["client_name"]) == {"Granite Mutual Insurance Company", "Deepwell Marine Holdings, Inc."}


@pytest.mark.parametrize("name", ["responsible", "originator", "practice_area", "user", "client"])
def test_each_filter_by_id_of_a_named_record_takes_names(client, name):
    matters = client.matters()
    row = matters.dropna(subset=["responsible_id", "practice_area_id", "client_id"]).iloc[0]
    people = client.users().set_index("user_id")["name"]
    named = {"responsible": row["responsible_name"], "practice_area": row["practice_area_label"]}
    named |= {"client": row["client_name"], "originator": row["originator_names"][0], "user": people.iloc[0]}
    ids = {"originator": row["originator_ids"][0], "user": people.index[0]}
    found = client.matters(**{name: named[name]})
    assert found["matter_id"].tolist() == (
        client.matters(**{f"{name}_id": ids.get(name, row.get(f"{name}_id"))})["matter_id"].tolist()
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"client": "Inc."}, r"\d+ clients fit 'Inc\.'; give one of \d+ \(Deepwell .*\), .* and \d+ more"),
        ({"client": "Granitt"}, "No client .* 'Granitt'. Did you mean 'Granite Mutual Insurance Company'?"),
        ({"user": "Zzzz"}, r"No user has the name, reference or id 'Zzzz'. bf.users\(\) lists them."),
        ({"user": 5}, "user=5 is not a name"),
        ({"matter": ["Patent", " "]}, "matter=' ' is not a name"),
        ({"user": "Harrow", "user_id": "u1"}, "user= and user_id= are both given"),
    ],
)
def test_a_text_that_fits_no_record_or_several_is_refused_with_the_nearest_names(client, given, said):
    with pytest.raises(ParameterError, match=said):
        client.time_entries(OCTOBER, **given)


def test_other_arguments_are_checked_before_a_name_is_looked_up():
    unreachable = bf.Client("http://127.0.0.1:9", "token", profile="")
    with unreachable, pytest.raises(ParameterError, match="2026-13"):
        unreachable.time_entries("2026-13", client="Granite")


@pytest.mark.slow
def test_a_mirror_takes_names_too(client, tmp_path):
    mirror = bf.mirror(tmp_path / "firm", client=client)
    mirror.refresh()
    assert len(mirror.time_entries(OCTOBER, client="Granite")) == client.time_entries.count(OCTOBER, client="Granite")
