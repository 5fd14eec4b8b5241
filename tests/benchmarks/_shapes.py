"""Make benchmark data of several shapes from a seed, independent of the sandbox's data.

Servers of one API write the same record in different ways, and code may be fast for only one of them. Each shape is a
firm whose server writes instants in one way. The shapes also differ in the number of people, matters and invoices, in
the references that have values, in the script of the texts, and in whether JSON escapes it. In all shapes every
description is different, every invoice has a different balance, and whole numbers are written as integers. The result
of a benchmark is the worst figure of all shapes.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["FIELDS", "FIRST_DAY", "SHAPES", "Firm", "Shape"]

FIRST_DAY = dt.date(2022, 11, 1)
OFFSETS = ("+05:30", "-08:00", "+00:00", "+10:00", "-03:30")
# The number of entries with one creation time, like timers saved at the end of a day, and of matters with one name.
ENTRIES_AT_ONCE = 14
MATTERS_OF_ONE_NAME = 300
FIELDS = ("text", "number", "date", "boolean", "enum")
OPTIONS = ("Intake", "Active", "On hold", "Closed")
_WORDS = {
    "Latin": "review draft call with counsel about revised lease amend disclosure letter attend hearing prepare",
    "European": "Prüfung Entwürfe Übergabe façade déposition café naïve señor mañana Łódź źródło Ærø smørrebrød",
    "Cyrillic": "проверка договора звонок клиенту подготовка иска заседание суда письмо доверенность устав сделка",
    "Japanese": "契約書 確認 打合せ 準備書面 作成 証拠 整理 期日 出頭 意見書 修正 送付 調査 会議 電話",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """
    How a server writes its records, and how large its firm is.

    `stamp` writes an instant from its day, second and microsecond. `filled` is the share of entries with an invoice, a
    code or a fixed fee; `omits` leaves out what is missing instead of writing null; `escapes` writes JSON in ASCII.
    `custom` is the number of custom fields that a matter has.
    """

    name: str
    stamp: Callable[[str, int, int], str]
    people: int
    matters: int
    filled: float
    script: str
    custom: int
    omits: bool = False
    escapes: bool = False


def _clock(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


SHAPES = (
    Shape(
        "Z, sparse",
        lambda day, second, micro: f"{day}T{_clock(second)}Z",
        people=40,
        matters=1_500,
        filled=0.1,
        script="Latin",
        custom=0,
        omits=True,
    ),
    Shape(
        "seven digits, full",
        lambda day, second, micro: f"{day}T{_clock(second)}.{micro:06}{second % 10}Z",
        people=400,
        matters=50_000,
        filled=0.95,
        script="European",
        custom=20,
    ),
    Shape(
        "offsets, escaped",
        lambda day, second, micro: f"{day}T{_clock(second)}{OFFSETS[micro % 5]}",
        people=120,
        matters=8_000,
        filled=0.6,
        script="Cyrillic",
        custom=5,
        escapes=True,
    ),
    Shape(
        "no zone, wide",
        lambda day, second, micro: f"{day}T{_clock(second)}.{micro // 1000:03}",
        people=250,
        matters=20_000,
        filled=0.4,
        script="Japanese",
        custom=5,
    ),
)


class Firm:
    """
    The records of a shape as JSON, numbered in the order of their days and of their creation.

    Parameters
    ----------
    shape : Shape
    a_day : int
        Time entries a day.
    seed : int
    """

    def __init__(self, shape: Shape, a_day: int = 700, seed: int = 20_261_122) -> None:
        self.shape = shape
        self._a_day = a_day
        self._seed = seed
        chance = random.Random(seed)
        self._words = _WORDS[shape.script].split()
        self._people = [self._person(chance, number) for number in range(shape.people)]
        self._clients = [(_id(chance), self._title(chance, number)) for number in range(shape.matters // 4 + 1)]
        self._matters = [self._matter(chance, number) for number in range(shape.matters)]
        self._fees = [self._fee(chance) for _ in range(shape.matters // 10)]
        # About one invoice for 25 entries; each invoice is of one matter.
        self._invoices = [self._invoice(chance, number) for number in range(4 * shape.matters)]

    def entry(self, number: int) -> bytes:
        """Return a time entry."""
        chance = random.Random(self._seed + number)
        day = FIRST_DAY + dt.timedelta(days=number // self._a_day)
        batch = number % self._a_day // ENTRIES_AT_ONCE * ENTRIES_AT_ONCE
        second, micro = divmod(batch * 40_000_000_000 // self._a_day, 1_000_000)
        made = self.shape.stamp(day.isoformat(), 28_800 + second, micro)
        place = int(chance.random() * self.shape.matters)
        hours = 1 + int(chance.random() * 80)
        rate = 150 + 5 * int(chance.random() * 100)
        filled = [chance.random() < self.shape.filled for _ in range(4)]
        kind = ("nonBillable", "billable", "billable", "fixedFee")[int(chance.random() * 4)]
        invoice = (self._invoices[4 * place + int(chance.random() * 4)],) if filled[0] else self._null("invoice")
        parts = (
            f'{{"timeEntryId":"{_id(chance)}","date":"{day}"',
            *self._filled("time", f'"{_clock(28_800 + second)}"', filled[1]),
            self._matters[place],
            _reference("user", self._people[int(chance.random() * self.shape.people)]),
            f'"description":{self._text(self._describe(chance, number))}',
            f'"hours":{_number(hours / 4)}',
            f'"billingType":"{kind}"',
            *self._filled("rate", str(rate), kind == "billable"),
            *self._filled("amount", _number(hours / 4 * rate), kind == "billable"),
            f'"billed":{"true" if filled[0] else "false"}',
            *invoice,
            *((self._fees[place // 10 % len(self._fees)],) if kind == "fixedFee" else self._null("fixedFee")),
            *self._filled("activityCode", f'"A{101 + place % 11}"', filled[2]),
            *self._filled("taskCode", f'"L{110 + 10 * (number % 23)}"', filled[3]),
            f'"meta":{{"createdAt":"{made}","modifiedAt":"{made}"}}}}',
        )
        return ",".join(parts).encode()

    def matter(self, number: int) -> bytes:
        """Return a matter, in the order of names and of references."""
        chance = random.Random(self._seed - number)
        day = (FIRST_DAY - dt.timedelta(days=number % 900)).isoformat()
        made = self.shape.stamp(day, number % 86_400, number % 997)
        person = self._people[number % self.shape.people]
        client, name = self._clients[number // 4 % len(self._clients)]
        custom = ",".join(self._custom(chance, place) for place in range(self.shape.custom))
        parts = (
            f'{{"matterId":"{number:08x}{_id(chance)[8:]}"',
            f'"name":{self._text(f"{number // MATTERS_OF_ONE_NAME:04} Acme")}',
            f'"reference":"{number:07}","matterType":"hourly"',
            f'"archived":{"true" if number % 5 == 0 else "false"},"opened":"{day}"',
            f'"clientId":"{client}","client":{{"name":{self._text(name)},"reference":"{number // 4}"}}',
            _reference("responsible", person),
            f'"originatorIds":["{person[0]}"],"practiceAreaId":"{number % 12:032x}"',
            f'"meta":{{"createdAt":"{made}","modifiedAt":"{made}"}}',
            f'"customFields":[{custom}]',
        )
        return f"{','.join(parts)}}}".encode()

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definitions of the matters' custom fields."""
        return [
            {
                "id": f"cf-{place}",
                "entity": "matter",
                "name": f"Field {place}",
                "valueType": FIELDS[place % 5],
                **({"options": [{"optionId": each, "label": each} for each in OPTIONS]} if place % 5 == 4 else {}),
            }
            for place in range(self.shape.custom)
        ]

    def _custom(self, chance: random.Random, place: int) -> str:
        kind = FIELDS[place % 5]
        values = {
            "text": self._describe(chance, place),
            "number": 500 * int(chance.random() * 100),
            "date": (FIRST_DAY + dt.timedelta(days=int(chance.random() * 900))).isoformat(),
            "boolean": chance.random() < 0.5,
            "enum": OPTIONS[int(chance.random() * 4)],
        }
        field = {"id": f"cf-{place}", "name": f"Field {place}", "valueType": kind, "value": values[kind]}
        return json.dumps(field, ensure_ascii=self.shape.escapes, separators=(",", ":"))

    def _person(self, chance: random.Random, number: int) -> tuple[str, str]:
        return _id(chance), self._text(self._title(chance, number))

    def _matter(self, chance: random.Random, number: int) -> str:
        client, name = self._clients[number // 4]
        return (
            f'"matterId":"{_id(chance)}","matter":{{"name":{self._text(self._title(chance, number))},'
            f'"reference":"{number // 4}-{number}"}},"clientId":"{client}",'
            f'"client":{{"name":{self._text(name)},"reference":"{number // 4}"}}'
        )

    def _fee(self, chance: random.Random) -> str:
        id_, label, amount = _id(chance), self._text(self._title(chance, 0)), 500 + int(chance.random() * 90)
        return f'"fixedFeeId":"{id_}","fixedFee":{{"id":"{id_}","label":{label},"amount":{amount}}}'

    def _invoice(self, chance: random.Random, number: int) -> str:
        id_, amount = _id(chance), int(chance.random() * 5_000_000)
        day = FIRST_DAY + dt.timedelta(days=30 * (number % 48))
        return (
            f'"invoiceId":"{id_}","invoice":{{"invoiceId":"{id_}","invoiceNumber":"{10_000 + number}",'
            f'"invoiceDate":"{day}","invoiceState":"final","invoiceAmount":{_number(amount / 100)},'
            f'"invoiceBalance":{_number(int(amount * chance.random()) / 100)}}}'
        )

    def _null(self, name: str) -> tuple[str, ...]:
        return () if self.shape.omits else (f'"{name}Id":null,"{name}":null',)

    def _filled(self, name: str, value: str, present: bool) -> tuple[str, ...]:
        if present:
            return (f'"{name}":{value}',)
        return () if self.shape.omits else (f'"{name}":null',)

    def _describe(self, chance: random.Random, number: int) -> str:
        words = " ".join(self._words[int(chance.random() * len(self._words))] for _ in range(10))
        return f"{words}, no. {number}"

    def _title(self, chance: random.Random, number: int) -> str:
        one, other = (self._words[int(chance.random() * len(self._words))] for _ in range(2))
        return f"{one.capitalize()} {other.capitalize()} {number}"

    def _text(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.shape.escapes)


def _id(chance: random.Random) -> str:
    text = f"{chance.getrandbits(128):032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _reference(name: str, person: tuple[str, str]) -> str:
    return f'"{name}Id":"{person[0]}","{name}":{{"userId":"{person[0]}","name":{person[1]}}}'


def _number(value: float) -> str:
    """Write a whole number as an integer, as many servers do."""
    return str(int(value)) if value == int(value) else str(round(value, 2))
