"""The API's rules for writes as plain Python on dicts, for the stateful test to compare with.

Written from the description, not from the sandbox. Each method returns the status it expects and changes the
model only where that is 200.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

ZERO = "00000000-0000-0000-0000-000000000000"
ITEMS = ("time-entries", "expenses", "fixed-fees")
KEEPS = {
    "clients": {"name"},
    "matters": {"name", "clientId", "responsibleId", "archived", "practiceAreaId"},
    "time-entries": {"userId", "matterId", "date", "description", "hours", "billingType", "fixedFeeId"},
    "expenses": {"matterId", "date", "description", "amount"},
    "fixed-fees": {"matterId", "date", "description", "amount"},
}
REQUIRED = {
    "clients": {"name"},
    "matters": {"name", "clientId", "responsibleId"},
    "time-entries": {"matterId", "date", "description", "hours"},
    "expenses": {"matterId", "date", "description", "amount"},
    "fixed-fees": {"matterId", "date", "description", "amount"},
}
BLANK = {
    "clients": {"reference": None, "notes": None},
    "matters": {"reference": None, "matterType": "hourly", "archived": False, "opened": None, "practiceAreaId": None},
    "time-entries": {"time": None, "fixedFeeId": None, "taskCode": None},
    "expenses": {"userId": None, "expenseCode": None},
    "fixed-fees": {"userId": None, "taskCode": None},
}
DEFAULT_TYPES = {
    "hourly": "billable",
    "fixedFee": "fixedFee",
    "contingency": "billable",
    "probono": "nonBillable",
    "internal": "nonBillable",
}
CODES = {"taskCode": {"L110"}, "expenseCode": {"E101"}}


class Model:
    """A firm's clients, matters, items and invoices."""

    def __init__(self, rates: dict[str, int], areas: set[str]) -> None:
        self.rates = rates
        self.areas = areas
        self.rows: dict[str, dict[str, dict]] = {name: {} for name in KEEPS}
        self.invoices: dict[str, dict] = {}

    def create(self, kind: str, sent: dict, caller: str | None, header: str | None) -> tuple[int, dict]:
        sent = {name: value for name, value in sent.items() if value is not None}
        row = {**BLANK[kind], **sent, "invoiceId": None}
        bad = REQUIRED[kind] - sent.keys() or not self._sound(kind, sent)
        if kind == "clients":
            contact = sent.get("contact", {})
            named = contact.get("companyName") or (contact.get("firstName") and contact.get("lastName"))
            bad = bad or not named
            row["contact"] = {name: text for name, text in contact.items() if text is not None}
        if kind == "time-entries":
            row["userId"] = sent.get("userId") or header or caller
            bad = bad or row["userId"] not in self.rates or not self._fee_fits(row)
        if bad:
            return 400, {}
        if kind == "time-entries":
            covered = (
                "fixedFee" if row["fixedFeeId"] else DEFAULT_TYPES[self.rows["matters"][row["matterId"]]["matterType"]]
            )
            row.setdefault("billingType", covered)
            self._price(row, row.pop("rate", None))
        row["customFields"] = self._fields({}, row.pop("customFields", ()))
        return 200, row

    def update(self, kind: str, id_: str, sent: dict) -> int:
        if id_ not in self.rows[kind]:
            return 404
        row = dict(self.rows[kind][id_])
        if not self._sound(kind, sent):
            return 400
        for name, value in sent.items():
            if name in ("contact", "customFields", "rate") or (value is None and name in KEEPS[kind]):
                continue
            row[name] = None if value == ZERO and name in ("fixedFeeId", "practiceAreaId") else value
        if kind == "time-entries" and not self._fee_fits(row):
            return 400
        if row["invoiceId"]:
            return 409
        covered = (each for each in self.rows["time-entries"].values() if each["fixedFeeId"] == id_)
        if kind == "fixed-fees" and any(each["matterId"] != row["matterId"] for each in covered):
            return 409
        if kind == "time-entries":
            self._price(row, sent.get("rate", row.pop("rate", None)))
        if "contact" in sent:
            whole = {**row["contact"], **sent["contact"]}
            row["contact"] = {name: text for name, text in whole.items() if text is not None}
        row["customFields"] = self._fields(row["customFields"], sent.get("customFields") or ())
        self.rows[kind][id_] = row
        return 200

    def delete(self, kind: str, id_: str) -> int:
        if id_ not in self.rows[kind]:
            return 404
        if kind == "clients":
            refused = any(each["clientId"] == id_ for each in self.rows["matters"].values())
            refused |= any(each["clientId"] == id_ for each in self.invoices.values())
        elif kind == "matters":
            refused = any(each["matterId"] == id_ for name in ITEMS for each in self.rows[name].values())
            refused |= any(id_ in each["matters"] for each in self.invoices.values())
        else:
            refused = bool(self.rows[kind][id_]["invoiceId"])
            if kind == "fixed-fees":
                refused |= any(each["fixedFeeId"] == id_ for each in self.rows["time-entries"].values())
        if not refused:
            del self.rows[kind][id_]
        return 409 if refused else 200

    def bill(self, client_id: str) -> tuple[Decimal, list[tuple[str, str]]] | None:
        """Return the total and the items of a new draft."""
        matters = {id_ for id_, each in self.rows["matters"].items() if each["clientId"] == client_id}
        taken = [
            (kind, id_)
            for kind in ITEMS
            for id_, each in self.rows[kind].items()
            if each["matterId"] in matters and not each["invoiceId"]
        ]
        total = sum((Decimal(str(self.rows[kind][id_].get("amount") or 0)) for kind, id_ in taken), Decimal(0))
        return (total, taken) if taken else None

    def _sound(self, kind: str, sent: dict) -> bool:
        """Tell whether every sent value is allowed by the description, and every reference exists."""
        known = {"clientId": self.rows["clients"], "matterId": self.rows["matters"], "userId": self.rates}
        known |= {"responsibleId": self.rates, "practiceAreaId": self.areas, "fixedFeeId": self.rows["fixed-fees"]}
        known |= CODES
        for name, value in sent.items():
            if value is None or (value == ZERO and name in ("fixedFeeId", "practiceAreaId")):
                continue
            if name in known and value not in known[name]:
                return False
            if name in ("name", "description") and not value:
                return False
        return all(_field_is_sound(kind, each) for each in sent.get("customFields") or ())

    def _fee_fits(self, row: dict) -> bool:
        fee = self.rows["fixed-fees"].get(row.get("fixedFeeId"))
        return fee is None or fee["matterId"] == row["matterId"]

    def _price(self, row: dict, rate: float | None) -> None:
        row.pop("amount", None)
        row.pop("rate", None)
        if row["billingType"] == "billable":
            row["rate"] = self.rates[row["userId"]] if rate is None else rate
            amount = Decimal(str(row["hours"])) * Decimal(str(row["rate"]))
            row["amount"] = float(amount.quantize(Decimal("0.01"), ROUND_HALF_UP))

    @staticmethod
    def _fields(before: dict, entries: list) -> dict:
        after = dict(before)
        for each in entries:
            after.pop(each["id"], None)
            if each["value"] is not None:
                after[each["id"]] = _READ[each["id"]](each["value"])
        return after


_READ = {
    "cf-since": str,
    "cf-score": float,
    "cf-urgent": lambda value: value if isinstance(value, bool) else value == "true",
    "cf-tier": str,
}
_OF = {"cf-since": "clients", "cf-tier": "clients", "cf-score": "matters", "cf-urgent": "matters"}
_ACCEPTED = {
    "cf-since": ("2021-03-04",),
    "cf-tier": ("Gold", "Silver"),
    "cf-score": ("7", 2.5, "-1e2"),
    "cf-urgent": (True, "false"),
}


def _field_is_sound(kind: str, entry: dict) -> bool:
    value = entry["value"]
    accepted = any(value == each and type(value) is type(each) for each in _ACCEPTED[entry["id"]])
    return _OF[entry["id"]] == kind and (value is None or accepted)
