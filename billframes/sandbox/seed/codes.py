"""The UTBMS codes: what a litigation department or an insurer's auditor expects on an electronic bill.

Headings (L100, P200) show how tasks are grouped and cannot be put on an entry. Each code belongs to one set;
activity and expense codes have sets of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["CODE_SETS", "code_rows"]

CODE_SETS = (
    ("UTBMS-ACT", "UTBMS Activity", "How the work was done: drafting, reviewing, communicating"),
    ("UTBMS-EXP", "UTBMS Expense", "What money was spent on"),
    ("UTBMS-LIT", "UTBMS Litigation", "Phases and tasks of contested matters"),
    ("UTBMS-COU", "UTBMS Counseling", "Advice that is neither a dispute nor a transaction"),
    ("UTBMS-PRJ", "UTBMS Project", "Phases of a transaction"),
)

_ACTIVITY = """
A101 Plan and prepare for
A102 Research
A103 Draft/revise
A104 Review/analyze
A105 Communicate (in firm)
A106 Communicate (with client)
A107 Communicate (other outside counsel)
A108 Communicate (other external)
A109 Appear for/attend
A110 Manage data/files
A111 Other
"""

_EXPENSE = """
E101 Copying
E102 Outside printing
E103 Word processing
E104 Facsimile
E105 Telephone
E106 Online research
E107 Delivery services/messengers
E108 Postage
E109 Local travel
E110 Out-of-town travel
E111 Meals
E112 Court fees
E113 Subpoena fees
E114 Witness fees
E115 Deposition transcripts
E116 Trial transcripts
E117 Trial exhibits
E118 Litigation support vendors
E119 Experts
E120 Private investigators
E121 Arbitrators/mediators
E122 Local counsel
E123 Other professionals
E124 Other
"""

_LITIGATION = """
L100 Case Assessment, Development and Administration
L110 Fact Investigation/Development
L120 Analysis/Strategy
L130 Experts/Consultants
L140 Document/File Management
L150 Budgeting
L160 Settlement/Non-Binding ADR
L190 Other Case Assessment, Development and Administration
L200 Pre-Trial Pleadings and Motions
L210 Pleadings
L220 Preliminary Injunctions/Provisional Remedies
L230 Court Mandated Conferences
L240 Dispositive Motions
L250 Other Written Motions and Submissions
L260 Class Action Certification and Notice
L300 Discovery
L310 Written Discovery
L320 Document Production
L330 Depositions
L340 Expert Discovery
L350 Discovery Motions
L390 Other Discovery
L400 Trial Preparation and Trial
L410 Fact Witnesses
L420 Expert Witnesses
L430 Written Motions and Submissions
L440 Other Trial Preparation and Support
L450 Trial and Hearing Attendance
L460 Post-Trial Motions and Submissions
L470 Enforcement
L500 Appeal
L510 Appellate Motions and Submissions
L520 Appellate Briefs
L530 Oral Argument
"""

_COUNSELING = """
C100 Fact Gathering
C200 Researching Law
C300 Analysis and Advice
C400 Third Party Communication
"""

_PROJECT = """
P100 Project Administration
P200 Fact Gathering/Due Diligence
P210 Corporate Review
P220 Tax
P230 Environmental
P240 Real and Personal Property
P250 Employee/Labor
P260 Intellectual Property
P270 Regulatory Reviews
P280 Other
P300 Structure/Strategy/Analysis
P400 Initial Document Preparation/Filing
P500 Negotiation/Revision/Responses
P600 Completion/Closing
P700 Post-Completion/Post-Closing
P800 Maintenance and Renewal
"""

CodeRow = tuple[str, str, str, str, str | None, int, int]


def code_rows() -> Iterator[CodeRow]:
    """Return the rows of the table `code`."""
    yield from _rows("activity", "UTBMS-ACT", _ACTIVITY)
    yield from _rows("task", "UTBMS-LIT", _LITIGATION)
    yield from _rows("task", "UTBMS-COU", _COUNSELING)
    yield from _rows("task", "UTBMS-PRJ", _PROJECT)
    yield from _rows("expense", "UTBMS-EXP", _EXPENSE)


def _rows(kind: str, code_set: str, text: str) -> Iterator[CodeRow]:
    codes = [line.split(" ", 1) for line in text.strip().splitlines()]
    parents = {code: _parent(kind, code, [each for each, _ in codes]) for code, _ in codes}
    headings = set(parents.values())
    for position, (code, label) in enumerate(codes):
        yield kind, code, label, code_set, parents[code], int(code not in headings), position


def _parent(kind: str, code: str, codes: list[str]) -> str | None:
    """Return the heading a task stands under: L210 under L200; C200 and A103 stand by themselves."""
    heading = code[:2] + "00"
    return heading if kind == "task" and heading != code and heading in codes else None
