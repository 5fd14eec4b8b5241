"""What people write on their time: narratives by practice area, each with the codes that go with it.

A narrative is a task ("Draft reply brief in support of motion to compel"), often with a second clause of the
kind people add ("confer with co-counsel re exhibits"). {other} stands for the other side.
"""

from __future__ import annotations

from billframes.sandbox.seed.areas import AREAS
from billframes.sandbox.seed.basics import Dice

__all__ = ["INTERNAL", "Narrative", "narrative", "no_charge"]

# text, activity code, task code
Narrative = tuple[str, str, str]

_LITIGATION = """
Draft complaint and jury demand|A103|L210
Revise answer and affirmative defenses to {other} counterclaims|A103|L210
Research standard for preliminary injunction in second circuit|A102|L220
Draft reply brief in support of motion to compel|A103|L350
Draft opposition to {other} motion to dismiss|A103|L240
Review and annotate {other} production, volume 3|A104|L320
Review documents for privilege and responsiveness|A104|L320
Prepare privilege log entries for second production|A103|L320
Draft second set of interrogatories and requests for production|A103|L310
Revise responses and objections to first requests for admission|A103|L310
Prepare outline for deposition of {other} controller|A101|L330
Attend deposition of plant manager|A109|L330
Defend deposition of client's corporate representative|A109|L330
Summarize deposition transcripts for motion record|A104|L330
Telephone conference with damages expert re draft report|A108|L340
Analyze {other} expert report and outline rebuttal points|A104|L340
Draft motion in limine to exclude lay opinion testimony|A103|L430
Draft statement of undisputed material facts|A103|L240
Cite-check and finalize memorandum in support of summary judgment|A103|L240
Appear at status conference before magistrate judge|A109|L230
Prepare mediation statement and settlement authority memorandum|A103|L160
Attend mediation with client and {other} principals|A109|L160
Interview fact witness and prepare memorandum to file|A101|L110
Analyze exposure and update case budget for client|A104|L150
Prepare trial exhibit list and objections to {other} exhibits|A101|L440
Prepare direct examination of lead fact witness|A101|L410
Research admissibility of business records|A102|L120
Update litigation hold and custodian list|A110|L140
Conference with client re settlement posture|A106|L160
Meet and confer with opposing counsel re discovery deficiencies|A107|L350
"""

_CORPORATE = """
Draft stock purchase agreement|A103|P400
Revise disclosure schedules to merger agreement|A103|P400
Review data room for change-of-control provisions|A104|P210
Prepare due diligence memorandum re material contracts|A103|P210
Negotiate indemnification basket and cap with {other} counsel|A107|P500
Mark up letter of intent from {other}|A103|P300
Draft officer's certificates and closing deliverables|A103|P600
Attend closing call and release signature pages|A109|P600
Prepare board resolutions and written consent|A103|P400
Review credit agreement covenants and prepare summary for client|A104|P300
Analyze restrictive covenants in key supplier agreements|A104|P210
Conference with client re structure and tax elections|A106|P300
Telephone conference with {other} counsel re open points list|A107|P500
Draft amended and restated operating agreement|A103|P400
Prepare post-closing filings and closing binder index|A110|P700
Review employee benefit plans for assumption by buyer|A104|P250
Research fiduciary duties in related-party transaction|A102|P300
Revise master services agreement and data processing addendum|A103|P500
Prepare cap table and conversion analysis|A104|P280
Update closing checklist and circulate to working group|A110|P100
"""

_REAL_ESTATE = """
Review title commitment and exception documents|A104|P240
Draft title objection letter|A103|P500
Revise purchase and sale agreement|A103|P400
Negotiate lease work letter and tenant improvement allowance|A107|P500
Review phase I environmental report|A104|P230
Prepare zoning analysis for proposed use|A102|P270
Attend planning and zoning commission hearing|A109|P270
Draft estoppel certificates and subordination agreement|A103|P400
Review ALTA survey against legal description|A104|P240
Prepare closing statement and prorations|A101|P600
Attend closing at {other} offices|A109|P600
Draft reciprocal easement agreement|A103|P400
Conference with client re lender requirements|A106|P300
Telephone conference with title company re gap coverage|A108|P240
Coordinate recording and disbursement|A110|P700
Review rent roll and tenant correspondence|A104|P200
"""

_EMPLOYMENT = """
Draft position statement in response to agency charge|A103|L210
Interview managers re {other} performance history|A101|L110
Review personnel file and compensation records|A104|L110
Analyze exempt classification of regional supervisors|A104|L120
Draft separation agreement and release|A103|L160
Research accommodation obligations under state law|A102|L120
Advise human resources re leave request|A106|L120
Revise attendance and remote-work policies|A103|L190
Prepare witness for unemployment hearing|A101|L410
Attend agency fact-finding conference|A109|L230
Telephone conference with {other} counsel re settlement demand|A107|L160
Draft responses to requests for production in wage claim|A103|L310
Review time records and compute potential back pay|A104|L120
Prepare investigation report and recommendations|A103|L110
Conference with client re restrictive covenant enforcement|A106|L120
Revise opposition to conditional certification|A103|L260
"""

_IP = """
Draft response to office action|A103|C300
Review prior art references cited by examiner|A104|C200
Prepare clearance opinion for proposed mark|A103|C300
Conduct knockout search and review results|A102|C200
Draft claims for continuation application|A103|C300
Interview inventors re improvements|A106|C100
Negotiate field-of-use limits with {other} counsel|A107|C400
Draft cease and desist letter to {other}|A103|C400
Analyze claim charts against accused product|A104|C300
Review specimen and prepare statement of use|A104|C100
Prepare invention disclosure and docket deadlines|A110|C100
Conference with client re filing strategy abroad|A106|C300
Telephone interview with examiner|A108|C400
Revise license grant and royalty provisions|A103|C300
"""

_ESTATE = """
Meet with client re estate planning objectives|A106|C100
Draft revocable trust agreement|A103|C300
Draft pour-over will and powers of attorney|A103|C300
Review beneficiary designations and titling of assets|A104|C100
Analyze generation-skipping transfer tax exposure|A104|C300
Attend execution of estate planning documents|A109|C300
Prepare summary letter and diagrams for client|A103|C300
Telephone conference with client's accountant re basis|A108|C400
Prepare probate inventory|A103|C100
Draft deed transferring residence to trust|A103|C300
Research portability election deadlines|A102|C200
Review appraisal of closely held interest|A104|C100
"""

_FAMILY = """
Draft petition and automatic orders|A103|L210
Prepare financial affidavit with client|A101|L110
Review bank and retirement account statements|A104|L110
Draft motion for pendente lite support|A103|L250
Attend case management conference|A109|L230
Telephone conference with client re parenting schedule|A106|L120
Correspond with opposing counsel re holiday schedule|A107|L160
Prepare for and attend four-way settlement meeting|A109|L160
Draft separation agreement and parenting plan|A103|L160
Conference with guardian ad litem|A108|L120
Draft discovery requests re business valuation|A103|L310
Prepare client for custody evaluation|A101|L410
Research tracing of separate property|A102|L120
Attend hearing on motion to modify|A109|L450
"""

_CLAUSES = (
    *("confer with co-counsel re same", "confer with co-counsel re exhibits", "email client re status"),
    *(
        "revise per partner comments",
        "follow-up correspondence with opposing counsel",
        "update file memorandum",
    ),
    *(
        "telephone call with client re next steps",
        "review related correspondence",
        "circulate draft for comment",
    ),
    *("attention to open items", "conference with working group", "cite-check authorities"),
    *(
        "calendar resulting deadlines",
        "review client comments to draft",
        "coordinate with paralegal re documents",
    ),
    *("call with {other} counsel re schedule", "proofread and finalize", "research follow-up question"),
)

_NO_CHARGE = (
    *(
        "Confer with incoming associate re matter history (no charge)",
        "Prepare invoice backup at client's request",
    ),
    *("Attention to conflict check and engagement letter", "Internal transition conference (no charge)"),
    *("Correct and resend prior correspondence (courtesy, no charge)", "Organize file for closing"),
)

INTERNAL = {
    "admin": (
        *("Weekly timekeeping review and prebill edits", "Partners' meeting", "Department staffing meeting"),
        *(
            "Interview lateral candidate",
            "Review matter budgets and write-offs",
            "Associate review committee",
        ),
    ),
    "training": (
        *(
            "CLE: ethics of generative tools in practice",
            "CLE: evidence update",
            "Deposition skills workshop",
        ),
        *(
            "Associate training: reading a credit agreement",
            "CLE: trust accounting",
            "Research database training",
        ),
    ),
    "development": (
        *(
            "Prepare pitch for prospective client",
            "Bar association section lunch",
            "Draft client alert for website",
        ),
        *("Coffee with referral source", "Trade association conference", "Respond to request for proposal"),
    ),
    "committee": (*("Pro bono committee meeting", "Screen pro bono intake requests", "Staff legal clinic scheduling"),),
}


def _read(text: str) -> tuple[Narrative, ...]:
    lines = (line.split("|") for line in text.strip().splitlines())
    return tuple((words, activity, task) for words, activity, task in lines)


_BY_AREA = {
    "litigation": _read(_LITIGATION),
    "corporate": _read(_CORPORATE),
    "realestate": _read(_REAL_ESTATE),
    "employment": _read(_EMPLOYMENT),
    "ip": _read(_IP),
    "estate": _read(_ESTATE),
    "family": _read(_FAMILY),
}

# The activity of paralegals: they review, organize and prepare; they do not appear in court.
_SUPPORT = {
    area.key: tuple(each for each in _BY_AREA[area.key] if each[1] in {"A101", "A104", "A110"}) for area in AREAS
}


def narrative(dice: Dice, area: str, *, support: bool, other: str) -> Narrative:
    """Return a narrative for work in a practice area, by a lawyer or by support staff."""
    pool = (_SUPPORT if support else _BY_AREA)[area]
    chance = dice.chance
    text, activity, task = pool[int(chance() * len(pool))]
    if chance() < 0.38:
        text = f"{text}; {_CLAUSES[int(chance() * len(_CLAUSES))]}"
    if "{" in text:
        text = text.replace("{other}", other)
    return text, activity, task


def no_charge(dice: Dice) -> str:
    """Return a narrative for work that the client is shown and not charged for."""
    return dice.pick(_NO_CHARGE)
