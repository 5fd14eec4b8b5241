"""A client's options are documented, checked before any request, and taken from the first source that has them."""

from __future__ import annotations

import inspect
import pickle
import uuid
from pathlib import Path

import numpy as np
import pytest

import billframes as bf
from billframes.client_options import OPTIONS, PROFILE_OPTIONS
from billframes.config.profiles import config_file

URL = "https://billing.example.com"


@pytest.fixture
def profile():
    """Write the settings of a profile."""

    def write(text):
        config_file().parent.mkdir(parents=True, exist_ok=True)
        config_file().touch(mode=0o600)
        config_file().write_text(f'[profiles.firm]\nbase_url = "{URL}"\n{text}', encoding="utf-8")

    yield write
    config_file().unlink(missing_ok=True)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("call", [bf.connect, bf.Client], ids=["connect", "Client"])
def test_connect_and_client_show_every_option_with_its_default_and_text(call, name):
    parameter = inspect.signature(call).parameters[name]
    assert (parameter.kind, parameter.default) == (parameter.KEYWORD_ONLY, OPTIONS[name].default)
    text = " ".join(inspect.getdoc(call).split())
    assert f"{name} : {OPTIONS[name].type}" in text
    assert OPTIONS[name].meaning in text


@pytest.mark.parametrize("call", [bf.connect, bf.Client], ids=["connect", "Client"])
def test_connect_and_client_take_the_address_and_token_first(call):
    names = list(inspect.signature(call).parameters)
    assert names[:2] == ["base_url", "token"]
    assert names[-len(OPTIONS) :] == list(OPTIONS)


@pytest.mark.parametrize("call", ["connect", "Client"])
@pytest.mark.parametrize(("wrong", "right"), [("timeot", "timeout"), ("pagesize", "page_size"), ("retry", "retries")])
def test_a_wrong_name_suggests_the_nearest(call, wrong, right):
    with pytest.raises(TypeError) as raised:
        getattr(bf, call)(URL, "t0ken", **{wrong: 1})
    assert f"{call}() got an unexpected keyword argument {wrong!r}" in str(raised.value)
    assert repr(right) in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        *[("timeout", value, "a number above 0") for value in (0, -1, "30", True, None)],
        *[("retries", value, "a whole number of at least 0") for value in (-1, 1.5, "5", True, float("inf"))],
        *[("concurrency", value, "a whole number of at least 1") for value in (0, 2.5, None)],
        *[("page_size", value, "a whole number from 1 to 1000") for value in (0, 1001, "all", True)],
        *[("rate_limit", value, "a number above 0") for value in (0, -1, "5")],
    ],
)
def test_a_number_out_of_range_is_named_with_the_accepted_range(name, value, accepted):
    with pytest.raises(bf.errors.ParameterError) as raised:
        bf.Client(URL, "t0ken", **{name: value})
    assert str(raised.value) == f"{name}={value!r} is out of range; it takes {accepted}."


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"auth": ("ann", "secret")}, "auth= is a tuple; it takes httpx.Auth."),
        ({"transport": "x"}, "transport= is a str; it takes httpx.BaseTransport."),
        *[
            ({"verify": value}, f"verify= is {kind}; it takes bool, str or ssl.SSLContext.")
            for value, kind in ((None, "None"), (0, "an int"))
        ],
        ({"acting_user_header": None}, "acting_user_header= is None; it takes str."),
        ({"acting_user_header": "a b"}, "acting_user_header='a b' is not the name of a header."),
        ({"progress": 3}, "progress=3 is not known; it takes True, False, None or a function."),
        ({"select_names": {"matters": 3}}, "select_names: 'matters' has no alternate name 3; there are "),
    ],
)
def test_a_value_of_a_wrong_type_is_named_before_a_request(options, said):
    with pytest.raises(bf.errors.ParameterError) as raised:
        bf.Client(URL, **options)
    assert str(raised.value).startswith(said)


def test_the_acting_user_is_an_id():
    user = uuid.uuid4()
    with bf.Client(URL, "t0ken", acting_user=user) as client:
        assert client._connection.acting_user == str(user)
    with pytest.raises(bf.errors.ParameterError, match="acting_user='Miriam Harrow' is not an id"):
        bf.Client(URL, "t0ken", acting_user="Miriam Harrow")


def test_numbers_may_be_those_of_numpy():
    with bf.Client(URL, "t0ken", page_size=np.int64(7), timeout=np.float32(2.5)) as client:
        assert (client._connection.page_size, client.options["timeout"]) == (7, 2.5)


@pytest.mark.parametrize("address", [3, Path("/x"), b"https://billing.example.com"])
def test_an_address_that_is_not_a_text_is_refused(address):
    with pytest.raises(bf.errors.ConfigError, match="not a text such as 'https://billing.example.com'"):
        bf.Client(address, "t0ken")


def test_an_infinite_timeout_is_no_limit(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["full"], timeout=float("inf")) as client:
        assert not client.practice_areas().empty


def test_an_argument_takes_precedence_over_the_profile_and_the_profile_over_the_default(profile):
    profile("page_size = 100\nretries = 2\ntimeout = 60")
    with bf.Client(profile="firm", token="t0ken", page_size=1000, timeout=5, rate_limit=None) as client:
        assert (client._connection.page_size, client.options["retries"], client.options["timeout"]) == (1000, 2, 5)
        assert client.options["concurrency"] == OPTIONS["concurrency"].default


@pytest.mark.parametrize("name", sorted(OPTIONS.keys() - PROFILE_OPTIONS))
def test_an_option_that_a_profile_can_not_have_is_refused(profile, name):
    profile(f'{name} = "x"')
    with pytest.raises(bf.errors.ConfigError, match=name):
        bf.Client(profile="firm", token="t0ken")


def test_a_pickled_client_keeps_its_options():
    with bf.Client(URL, "t0ken", page_size=7, timeout=3, select_names={"matters": "client"}) as client:
        packed = pickle.dumps(client)
    with pickle.loads(packed) as again:
        assert again.options == {**client.options, "select_names": {"matters": ("client",)}}
        assert again._connection.page_size == 7
