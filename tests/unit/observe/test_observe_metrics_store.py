"""Queries of a metrics store: requests, and one message for each incomplete response."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from jacquard.lab.rehearsal import ports
from jacquard.observe.metrics_store import EXAMPLE, MetricsError, MetricsStore, address_problem
from tests.support.monitoring.fake_metrics_store import Answer, Form, series, serving
from tests.support.monitoring.store_authority import StoreAuthority
from tests.support.monitoring.stored_region import region, stored

AT = dt.datetime(2026, 11, 22, 16, tzinfo=dt.UTC)
PASSWORD = "canary-51b7"
LOGIN = "set JACQUARD_METRICS_USER and JACQUARD_METRICS_PASSWORD to a login that may query all clusters"
NUMBER = "at data.result[0].value[1]: input should be a valid number, unable to parse string as a number"
IS_ADDRESS = f"correct the address, which is like {EXAMPLE} for the store of a region"


def failure(url: str, login: tuple[str, str] | None = None) -> str:
    """Return the message of a failed query, with ``URL`` in place of the address."""
    with pytest.raises(MetricsError) as caught:
        list(MetricsStore(url, login).values("up", AT))
    return str(caught.value).replace(url, "URL")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((401, "no"), f"answered 401; {LOGIN}"),
        ((403, ""), f"answered 403; {LOGIN}"),
        ((404, f"missing\n \x1b[31m {PASSWORD}"), f"answered 404 (missing \\x1b[31m ***); {IS_ADDRESS}"),
        ((302, ""), f"answered 302; {IS_ADDRESS}"),
        ((503, "x" * 300), f"answered 503 ({'x' * 200}...); {IS_ADDRESS}"),
        (
            (200, "<html>"),
            "did not answer like a Prometheus API (invalid json: expected value at line 1 column 1); " + IS_ADDRESS,
        ),
        (
            (200, '{"status": "error", "error": "x"}'),
            f"did not answer like a Prometheus API (at status: input should be 'success'); {IS_ADDRESS}",
        ),
        (series(({}, "text")), f"did not answer like a Prometheus API ({NUMBER}); {IS_ADDRESS}"),
        (
            series(isPartial=True),
            "answered with a part of the data (isPartial); retry when all of its pods are available",
        ),
        (
            series(warnings=["store-1 failed", "store-2 too"]),
            "answered with a part of the data (store-1 failed, store-2 too); retry when all of its pods are available",
        ),
    ],
)
def test_each_answer_that_is_not_complete_has_one_message(answer: Answer, message: str) -> None:
    with serving(lambda *_: answer) as url:
        assert failure(url, ("operator", PASSWORD)) == f"the metrics store at URL {message}"


def test_a_query_has_a_form_and_a_path_below_the_address() -> None:
    requests: list[tuple[str, Form]] = []

    def respond(path: str, form: Form) -> Answer:
        requests.append((path, form))
        return series(({"node": "a"}, 3)) if path.endswith("query") else series(({}, [60, 120]), kind="matrix")

    with serving(respond) as url:
        store = MetricsStore(f"{url}/select/0/prometheus/", None)
        assert list(store.values("up", AT)) == [({"node": "a"}, 3.0)]
        assert list(store.times("up", AT - dt.timedelta(hours=1), AT, 60)) == [({}, [60.0, 120.0])]

    at = int(AT.timestamp())
    assert requests == [
        ("/select/0/prometheus/api/v1/query", {"query": "up", "time": f"{at}"}),
        (
            "/select/0/prometheus/api/v1/query_range",
            {"query": "up", "start": f"{at - 3600}", "end": f"{at}", "step": "60"},
        ),
    ]


def test_an_unreachable_store_is_reported_with_its_address() -> None:
    [port] = ports.free(1)

    assert failure(f"http://{ports.LOOPBACK}:{port}") == (
        "the metrics store at URL cannot be reached ([Errno 111] Connection refused); start the port forwarding, or "
        "correct the address"
    )


def test_a_private_authority_is_trusted_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificates = [item for item in stored(region()) if item.kind == "Certificate"]
    authority = StoreAuthority(tmp_path / "authority", certificates)
    file = tmp_path / "ca.crt"
    file.write_text(authority.certificate)
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)

    with serving(lambda *_: series(), authority.secret) as url:
        untrusted = failure(url)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing.crt"))
        missing = failure(url)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
        assert list(MetricsStore(url, ("operator", PASSWORD)).values("up", AT)) == []

    assert untrusted.startswith("the metrics store at URL has no trusted certificate (")
    assert untrusted.endswith("); set REQUESTS_CA_BUNDLE to a file with the certificate of its CA")
    assert missing.startswith("the metrics store at URL cannot be reached (")
    assert str(tmp_path / "missing.crt") in missing


def test_a_password_is_not_sent_to_other_machines_without_encryption() -> None:
    with pytest.raises(MetricsError) as caught:
        MetricsStore("http://store.example:8427", ("operator", PASSWORD))

    assert str(caught.value) == (
        "the metrics store at http://store.example:8427 would get the password without encryption; write https://"
    )
    MetricsStore("http://localhost:8427", ("operator", PASSWORD))
    MetricsStore("http://store.example:8427", None)


def test_a_proxy_gets_no_request_for_this_machine_and_the_store_no_login_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [closed] = ports.free(1)
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine {ports.LOOPBACK} login operator password {PASSWORD}\n")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://{ports.LOOPBACK}:{closed}")
    headers: list[Form] = []

    with serving(lambda *_: series(), headers=headers) as url:
        assert list(MetricsStore(url, None).values("up", AT)) == []
        assert list(MetricsStore(url, ("operator", PASSWORD)).values("up", AT)) == []

    assert [sent.get("Authorization", "none")[:5] for sent in headers] == ["none", "Basic"]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://10.0.0.1:8427", None),
        (EXAMPLE, None),
        *(
            (url, f"must be the address of a Prometheus API (got '{url}'); write it like {EXAMPLE}")
            for url in ("10.0.0.1:8427", "http:///api", "http://a:port", "http://[a", "https://a/?up")
        ),
        (
            f"https://operator:{PASSWORD}@a:port",
            "must not contain a login; set JACQUARD_METRICS_USER and JACQUARD_METRICS_PASSWORD instead",
        ),
    ],
)
def test_an_address_has_neither_query_nor_login(url: str, problem: str | None) -> None:
    assert address_problem(url) == problem
