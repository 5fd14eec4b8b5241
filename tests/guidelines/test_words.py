"""Phrases, word lists and what is read from narratives."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import billframes as bf
from billframes.guidelines.narratives import (
    ENGLISH,
    FOREIGN,
    hours_in_brackets,
    lacking_parts,
    languages,
    segments,
    tasks,
)
from billframes.guidelines.words import Phrases, shipped

CASES = tomllib.loads(Path(__file__).with_name("words_cases.toml").read_text("utf-8"))


def test_every_word_list_has_cases():
    assert list(CASES) == bf.Guidelines.words()


@pytest.mark.parametrize("name", CASES)
def test_a_word_list_finds_its_texts_and_no_others(name):
    phrases = Phrases(bf.Guidelines.words(name))
    assert [text for text in CASES[name]["finds"] if not phrases.found_in(text)] == []
    assert {text: found for text in CASES[name]["silent"] if (found := phrases.found_in(text))} == {}


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("review file", "Review  FILE notes", ["Review FILE"]),
        ("schedul* ~ hearing*", "Schedule the next hearings", ["Schedule … hearings"]),
        ("schedul* ~ hearing*", "Schedule call, hearing", []),
        ("schedul* ~ hearing*", "Schedule one two three four hearing", []),
        ("^ research", "Research statute; research facts", ["Research"]),
        ("same $", "Call re same.", ["same"]),
        ("call", "Recall notice; calls", []),
        ("12(b)", "Rule 12(b)(6) motion", ["12(b)"]),
        ("(a+)+", "aaa", None),
        ("a*b", "ab", None),
        ("a.b", "axb", []),
    ],
)
def test_phrases_are_words_and_not_regular_expressions(phrase, text, found):
    if found is None:
        with pytest.raises(ValueError, match="which is not a word"):
            Phrases([phrase])
    else:
        assert Phrases([phrase]).found_in(text) == found


def test_a_phrase_takes_back_a_hit_only_at_its_place():
    phrases = Phrases(["travel*", "!travel policy"])
    assert phrases.found_in("Review travel policy; travel to court") == ["travel"]


@pytest.mark.parametrize(
    ("phrase", "text", "hits"),
    [
        (" ~ ".join("a" * 12), "a " * 100, 1),
        (" ~ ".join("a" * 49) + " ~ b", "a " * 10_000 + "b", 1),
        ("a* ~ " * 20 + "$", "aa " * 100_000, None),
        ("^ a ~ " + "a|b|a-b ~ " * 20 + "c", "a-b a " * 10_000, 0),
        ("travel*", "travel policy " * 50_000, 0),
        ("file $", "file , " * 50_000, 1),
        ("file $", "file" + " " * 300_000 + "x", 0),
        ("file ~ x", "file" + " " * 300_000 + "y", 0),
    ],
)
def test_the_time_of_a_search_is_proportional_to_the_text(phrase, text, hits):
    begun = time.process_time()
    if hits is None:
        with pytest.raises(ValueError, match="a '~' that is not between two words"):
            Phrases([phrase])
    else:
        assert len(Phrases([phrase, "!travel policy"]).found_in(text)) == hits
    assert time.process_time() - begun < 5


def test_a_phrase_of_more_than_fifty_words_is_refused():
    with pytest.raises(ValueError, match="more than 50 words"):
        Phrases([" ~ ".join("a" * 51)])
    assert Phrases([" ~ ".join("a" * 50)]).found_in("a " * 50)


@pytest.mark.parametrize(
    ("text", "verbs", "separators"),
    [
        ("Review and analyze damages model", 1, 1),
        ("Review, revise, and finalize motion", 1, 1),
        ("Prepare for and attend hearing on motion to compel", 1, 1),
        ("Conduct employee interviews and draft declarations", 2, 1),
        ("Draft motion to strike; review opposition", 2, 2),
        ("Review draft and revised schedule", 1, 1),
        ("Call with Mr. Orr of Acme. Draft reply", 2, 2),
        ("Reviewed lease, then drafted amendment of clause 4", 2, 1),
        ("Draft interrogatories and requests for admission", 1, 1),
        ("Memo to file - carefully revise outline", 2, 2),
    ],
)
def test_tasks(text, verbs, separators):
    assert (len(tasks(text, verbs=True)), len(tasks(text, verbs=False))) == (verbs, separators)


def test_points_end_a_segment_only_before_a_new_sentence():
    assert segments("Call with J. Orr re No. 5. Draft v. 2; e.g. B") == [
        "Call with J. Orr re No. 5",
        "Draft v. 2",
        "e.g. B",
    ]


def test_hours_in_brackets_are_read_and_other_brackets_are_not():
    assert [float(each) for each in hours_in_brackets("A (.5) B [1.0 hrs] C (2) D (Rule 4) E (0.3 h)")] == [
        0.5,
        1.0,
        2.0,
        0.3,
    ]


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("Telephone call with J. Orr", ["subject"]),
        ("Telephone call re lease clause 4", ["party"]),
        ("Email to counsel re same", ["subject"]),
        ("E-mail to counsel regarding the rent", []),
        ("Lengthy conference call", ["party", "subject"]),
        ("Draft letter", []),
        ("Calculate damages", []),
    ],
)
def test_calls_and_messages_need_a_party_and_a_subject(text, lacks):
    assert lacking_parts(text, ["party", "subject"])[1] == lacks


FOREIGN_TEXTS = (
    "Entwurf der Klageerwiderung; Telefonat mit dem Mandanten",
    "Rédaction de la lettre et appel avec le client",
    "Revisión del contrato con el cliente para la firma",
    "Opstellen van het contract met de cliënt",
    "Redazione del contratto con la controparte",
    "Utkast till avtal och möte med motparten",
    "Составление иска",
)


def test_foreign_texts_are_told_from_english_ones():
    assert set(languages(pd.Series(FOREIGN_TEXTS))) == {FOREIGN}
    english = [text for case in CASES.values() for text in case["finds"] if len(text.split()) > 3]
    assert FOREIGN not in set(languages(pd.Series(english)))
    assert (
        languages(pd.Series(["Call with client re La Plata lease", "Draft motion en banc"])).tolist() == [ENGLISH] * 2
    )


def test_no_verb_after_and_is_missing_from_the_verbs():
    table = shipped()["tasks"]
    assert set(table["after_and"]) - set(table["verbs"]) == {"speak"}
