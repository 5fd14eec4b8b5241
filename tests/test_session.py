"""The default client is made by `connect` or from the environment, or is missing."""

from __future__ import annotations

import argparse

import httpx
import pytest

import billframes as bf
from billframes import _session
from billframes.commands import connected
from billframes.sandbox import Sandbox


@pytest.fixture(autouse=True)
def without_default_client(monkeypatch):
    monkeypatch.setattr(_session, "_default", [])


def test_without_configuration_a_loader_explains_how_to_connect_and_uses_no_sandbox():
    with pytest.raises(bf.errors.ConfigError, match=r"billframes\.connect\("):
        bf.time_entries("2026-10")


def test_a_wrong_argument_is_reported_before_a_missing_connection():
    with pytest.raises(bf.errors.ParameterError):
        bf.time_entries("2026-13")


def test_connect_sets_the_default_and_returns_it(sandbox):
    client = bf.connect(sandbox.base_url, sandbox.tokens["full"])
    assert isinstance(client, bf.Client)
    assert bf.practice_areas().equals(client.practice_areas())


def test_the_environment_makes_the_default(sandbox, monkeypatch):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", sandbox.tokens["full"])
    assert len(bf.users()) > 0


def test_connect_starts_the_sandbox_once_per_process():
    first, second = bf.connect("sandbox"), bf.connect("sandbox")
    assert first.base_url == second.base_url
    assert bf.health().loc[0, "status"] == "healthy"


@pytest.mark.slow
def test_the_sandboxs_client_and_the_commands_demonstration_have_the_firms_settings():
    client = bf.connect("sandbox")
    with connected(argparse.Namespace(demo=True)) as other:
        assert client.settings == other.settings == bf.FirmSettings.load(Sandbox().firm_settings)
    utilization = [
        bf.book("2026-10", settings=settings).utilization(by=None)["utilization"].item()
        for settings in (None, client.settings, bf.FirmSettings())
    ]
    assert [f"{each:.1%}" for each in utilization] == ["73.0%", "73.0%", "59.0%"]
    assert (Sandbox(seed=7).firm_settings, Sandbox(size="medium").firm_settings) == (None, None)


def test_the_sandboxs_settings_name_people_and_matters_of_the_firm_and_have_the_targets_of_its_people(sandbox, client):
    settings = bf.FirmSettings.load(sandbox.firm_settings)
    users = client.users().set_index("email")
    assert settings.emails <= set(users.index)
    assert set(settings.budgets) <= set(client.matters()["matter_id"])
    hours = users["cf_annual_target_hours"].dropna().drop(list(settings.user_end))
    assert {email: goal for email, (goal, _) in settings.targets_of("hours").items()} == hours.to_dict()


def test_the_sandbox_does_not_use_the_environments_profile(monkeypatch):
    monkeypatch.setenv("BILLFRAMES_PROFILE", "nonesuch")
    assert bf.connect("sandbox").profile is None
    assert not bf.practice_areas().empty


def test_an_auth_object_authenticates_with_the_sandbox(sandbox):
    class Bearer(httpx.Auth):
        def auth_flow(self, request):
            request.headers["Authorization"] = f"Bearer {sandbox.tokens['norates']}"
            yield request

    client = bf.connect("sandbox", auth=Bearer())
    with pytest.warns(bf.errors.RatesHiddenWarning):
        assert client.time_entries("2026-10-01", "2026-10-01")["rate"].isna().all()


def test_a_service_credential_sees_rates(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["service"]) as client:
        assert client.time_entries("2026-10-01", "2026-10-01", billing_type="billable")["rate"].notna().all()
