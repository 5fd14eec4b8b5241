"""Files from other people are read up to a limit, and each file beyond it is one error."""

from __future__ import annotations

import os
import threading
import time

import pytest

import billframes as bf
from billframes._shared import limits
from billframes._shared.limits import SETTINGS_BYTES, checked_limit, open_limited
from billframes.config import read_keys
from billframes.config.profiles import read_config, save_select_names


@pytest.mark.parametrize("given", [0, -1, True, 1.5, "9", None])
def test_a_limit_is_a_whole_number(given):
    with pytest.raises(bf.errors.ParameterError, match="max_bytes=.* is not a limit"):
        checked_limit("max_bytes", given)


def test_a_file_of_the_limits_size_is_read_and_a_larger_one_is_refused(tmp_path):
    path = tmp_path / "bill.txt"
    path.write_bytes(b"x" * 10)
    for source in (path, b"x" * 10):
        with open_limited(source, 10) as file:
            assert file.read() == b"x" * 10
        with (
            pytest.raises(bf.errors.ParameterError, match=r"has more than 9 bytes\..* raise max_bytes\."),
            open_limited(source, 9),
        ):
            pass


def test_of_a_pipe_and_a_device_no_more_than_the_limit_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=[b"LEDES"], daemon=True).start()
    with open_limited(pipe, 10) as file:
        assert file.read() == b"LEDES"
    with (
        pytest.raises(bf.errors.ParameterError, match="/dev/zero has more than 1,000,000 bytes"),
        open_limited("/dev/zero", 10**6),
    ):
        pass


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("# " + "x" * SETTINGS_BYTES, "it has more than 250,000 bytes"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        (".".join(["a"] * 100_000) + " = 1", "a key has more than 50 parts"),
        (". ".join(['"a"'] * 60) + " = 1", "a key has more than 50 parts"),
        (".".join(['"a b"'] * 20_000) + " = 1", "a key has more than 50 parts"),
        (".".join(["'a.b'"] * 20_000) + " = 1", "a key has more than 50 parts"),
        (".".join(['"\\"\\\\é"'] * 20_000) + " = 1", "a key has more than 50 parts"),
        ("[[ " + ".".join(['""'] * 60) + "]]", "a key has more than 50 parts"),
        ("x = {y = 1, " + ".".join(["a", "'b'"] * 60) + " = 1}", "a key has more than 50 parts"),
        (b"\xff", "it is not UTF-8 text; save it as UTF-8"),
        ("x = 'Caf\xe9'".encode("cp1252"), "it is not UTF-8 text; save it as UTF-8"),
        ("x = 'Caf\xe9'".encode("utf-16")[:-1], "can't decode"),
    ],
)
def test_settings_that_nobody_writes_are_one_error(tmp_path, content, problem):
    path = tmp_path / "firm.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for read in (lambda: read_keys(path, "firm settings", ["x"]), lambda: read_config(path)):
        with pytest.raises(bf.errors.ConfigError, match=problem):
            read()


@pytest.mark.parametrize(
    "value",
    [
        f"{'a' * 100_000} 1.2.3",
        '"a b".' * 40_000,
        ',"\\"' * 50_000,
        '{"' * 100_000,
        "[ " * 100_000,
        "a." * 49,
        '"' * 200_000,
        "\\" * 200_000,
        "0.5, " * 40_000,
    ],
)
def test_a_text_that_looks_like_a_long_key_takes_no_time(tmp_path, value):
    path = tmp_path / "firm.toml"
    path.write_text(f"x = '{value}'")
    begun = time.process_time()
    assert limits.read_toml(path)["x"] == value
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_settings_are_read_in_the_encodings_that_windows_writes(tmp_path, encoding):
    path = tmp_path / "firm.toml"
    path.write_text("default_profile = 'Café'\r\n[profiles.'Café']\r\n", encoding=encoding)
    read = read_config(path)
    assert read_keys(path, "firm settings", ["default_profile", "profiles"]) == read
    assert read["default_profile"] == "Café"
    save_select_names(path, "Café", {"matters": ["client"]})
    assert read_config(path)["profiles"]["Café"]["select_names"] == {"matters": ["client"]}
