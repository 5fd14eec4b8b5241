"""The report on paper: numbered pages, and the same bytes for the same page."""

from __future__ import annotations

import os
import re

import pytest

from billframes.errors import ConfigError
from billframes.report.printing import chromium, print_pages

OTHER = "<title>Report</title><body>Another page"


@pytest.mark.browser
@pytest.mark.slow
def test_a_page_is_printed_in_pages_and_is_the_same_file_each_time(html):
    try:
        chromium()
    except ConfigError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
    report, again, other = print_pages([html, html, OTHER])
    assert report[:5] == b"%PDF-"
    assert report == again != other
    assert 8 <= len(re.findall(rb"/Type\s*/Page\b", report)) <= 10
    assert set(re.findall(rb"/(?:Creation|Mod)Date \(D:(\d{14})", report)) == {b"20000101000000"}
