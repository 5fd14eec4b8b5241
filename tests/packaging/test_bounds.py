"""The lowest versions that `pyproject.toml` admits have no fault that is known: `audit.toml` lists those faults."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from packaging.requirements import Requirement
from packaging.version import Version

HERE = Path(__file__).parent
PROJECT = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FAULTS = tomllib.loads((HERE / "audit.toml").read_text(encoding="utf-8"))["fault"]
EXTRAS = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}


def lowest(extra: str) -> dict[str, Version]:
    """Return the lowest admitted version of each package that an extra names, also by other extras."""
    found: dict[str, Version] = {}
    for line in EXTRAS[extra]:
        wanted = Requirement(line)
        if wanted.name == "billframes":
            named = [pair for other in wanted.extras for pair in lowest(other).items()]
        else:
            bounds = [Version(each.version) for each in wanted.specifier if each.operator in {">=", "==", "~="}]
            named = [(wanted.name, max(bounds, default=Version("0")))]
        for name, version in named:
            found[name] = max(version, found.get(name, version))
    return found


def too_low(extra: str, faults: list[dict[str, object]]) -> list[str]:
    versions = lowest(extra)
    return [
        f"{extra or 'core'}: {fault['package']} {versions[fault['package']]} < {fault['fixed']}"
        for fault in faults
        if fault["package"] in versions and versions[fault["package"]] < Version(fault["fixed"])
    ]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_lowest_versions_have_no_known_fault(extra):
    assert too_low(extra, FAULTS) == []


def test_packages_with_known_faults_are_named_where_they_are_used():
    """Also those that only other packages need, because no other bound keeps them from being old."""
    missing = [
        (fault["package"], extra)
        for fault in FAULTS
        for extra in fault["extras"]
        if fault["package"] not in lowest(extra)
    ]
    assert missing == []


def test_a_lower_bound_is_found():
    assert "core: httpx 0.28 < 0.29" in too_low("", [{"package": "httpx", "fixed": "0.29"}])
    assert lowest("all")["tornado"] == lowest("dashboard")["tornado"]


def test_each_fault_says_what_was_wrong_and_where_that_was_announced():
    assert all(len(fault["wrong"]) > 20 and fault["announced"] for fault in FAULTS)
