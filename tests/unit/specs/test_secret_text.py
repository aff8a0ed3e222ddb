"""Recognition of secrets in text: masked and shown text, and content that a URL must not have."""

import json
import subprocess
import sys

import pytest
import yaml

from components.specs import secret_text
from components.specs.reading.problems import Problem, dotted, shortened, shown
from components.specs.secret_text import found, masked, masked_data, masked_forms, secret_in_url, shown_at
from jacquard.machine import paths

EXAMPLES = {
    "RFC 7468; PROTOCOL.key of OpenSSH": "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----",
    "PROTOCOL.key of OpenSSH, without its first line": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\nAAAEbm9uZQ==",
    "https://age-encryption.org/v1": f"AGE-SECRET-KEY-1{'QZ4' * 19}",
    "RFC 7519, section 3": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html": "AKIAIOSFODNN7EXAMPLE",
    "https://github.blog/engineering/behind-githubs-new-authentication-token-formats/": f"ghp_{'aB3' * 12}",
    "https://docs.gitlab.com/security/tokens/#token-prefixes": f"glpat-{'aB3-' * 6}",
    "https://docs.slack.dev/authentication/tokens": "xoxb-123456789012-abcdef",
    "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks": "services/T000/B000/aB3d",
    "https://developer.hashicorp.com/vault/docs/concepts/tokens#token-prefixes": f"hvs.{'aB3_' * 6}",
    "https://cloud.google.com/docs/authentication/api-keys": f"AIza{'aB3_-' * 7}",
    "https://cloud.google.com/docs/authentication/token-types": f"ya29.{'aB3_' * 6}",
    "https://docs.nvidia.com/ngc/latest/ngc-user-guide.html": f"nvapi-{'aB3_' * 6}",
    "https://www.pulumi.com/docs/administration/access-identity/access-tokens/": f"pul-{'0a' * 20}",
    "https://huggingface.co/docs/hub/security-tokens": f"hf_{'aB3' * 11}",
    "https://docs.docker.com/security/access-tokens/": f"dckr_pat_{'aB3' * 9}",
    "https://docs.npmjs.com/about-access-tokens": f"npm_{'aB3' * 12}",
    "https://pypi.org/help/#apitoken": f"pypi-AgE{'aB3_' * 6}",
    "https://grafana.com/docs/grafana/latest/administration/service-accounts/": f"glsa_{'aB3' * 12}",
    "crypt(5)": "$6$rounds=5000$salt$aB3./aB3./aB3./",
    "RFC 6750, section 2.1; RFC 7617, section 2": "YWRtaW46c2VjcmV0MTIz=",
}
"""An example of each form, by its source."""
_AROUND = {
    "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks": "https://hooks.slack.com/{}",
    "RFC 6750, section 2.1; RFC 7617, section 2": "Authorization: Basic {}",
}
_ROWS = yaml.safe_load(secret_text.FORMS.read_bytes())


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: str(row["source"]))
def test_each_form_is_masked_and_found_in_any_text(row: dict[str, str]) -> None:
    credential = EXAMPLES[row["source"]]
    text = _AROUND.get(row["source"], "before {} after").format(credential)

    assert "[secret]" in masked_forms(text)
    assert credential[-6:] not in masked_forms(text)
    assert masked(masked(text)) == masked(text)
    assert row["name"] in {name for _, name in found(text)}
    assert any(mark in text for mark in row["marks"])


MASKED = {
    "https://bot:hunter2@images.example/x": "https://[secret]@images.example/x",
    "https://bot:hun/ter2@images.example/x": "https://[secret]@images.example/x",
    "https://bot:hun@ter2@images.example/x": "https://[secret]@images.example/x",
    "https://hunter2@images.example": "https://[secret]@images.example",
    "ssh://git:hunter2@git.example/x": "ssh://[secret]@git.example/x",
    "redfish+https://root:hunter2@10.1.1.1/x": "redfish+https://[secret]@10.1.1.1/x",
    "bot:hunter2@registry.example": "[secret]@registry.example",
    "https://s3/x?X-Amz-Signature=hunter2&region=eu": "https://s3/x?X-Amz-Signature=[secret]&region=eu",
    "https://s3/x?sv=1&amp;sig=hunter2": "https://s3/x?sv=[secret]&amp;sig=[secret]",
    "https://s3/x#access_token=hunter2": "https://s3/x#access_token=[secret]",
    "https://s3/x?hunter2hunter2hunter2": "https://s3/x?[secret]",
    "(got 'https://a:hunter2@b/c'); remove it": "(got 'https://[secret]@b/c'); remove it",
    "{user: a, password: hunter2}": "{user: a, password: [secret]}",
    "{password: 'hunter2 hunter2', a: b}": "{password: [secret], a: b}",
    "mount -o api_key=hunter2,ro": "mount -o api_key=[secret],ro",
    "login --token hunter2": "login --token [secret]",
}


@pytest.mark.parametrize("text", MASKED)
def test_logins_signatures_and_named_values_are_masked(text: str) -> None:
    assert masked(text) == MASKED[text]
    assert masked(MASKED[text]) == MASKED[text]


@pytest.mark.parametrize(
    "text",
    [
        "https://images.example:8443/a@b/c.raw",
        "https://[fd00::1]:8443/a@b",
        "ssh://git@git.example/x",
        "postgres://pulumi@db.example/state?sslmode=require",
        "https://grafana.example/d/jacquard-pools?var-cluster=acme-train",
        "s3://bucket/region?region=eu-central-1&awssdk=v2&profile=x",
        "registry.example:5000/os@sha256:0123abcd",
        "oci://registry.example:5000/charts/kamaji@sha256:0123abcd",
        "gpu-2026.11.1@8d2f0c6b1a4e9375",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICNPZccfq2Qc8plKIZmAmY48pZ1x8O9oQs7K52SutrN7 ops@cloud.example",
        "97e48efb44c0b4d9fe9e4fc38de45ad221078f1082bac897841dbf0f247f0000",
        "bmc_secret: bmc-a01",
        "redfish-virtualmedia+https://10.1.1.1/redfish/v1/Systems/437XR1138R2",
    ],
)
def test_texts_without_secrets_are_shown(text: str) -> None:
    assert masked(text) == text
    assert "://" not in text or secret_in_url(text) == ""


def test_a_secret_is_masked_before_a_text_is_shortened() -> None:
    url = f"https://bot:{'x' * 70}@images.example/{'y' * 70}"
    key = "-----BEGIN PRIVATE KEY-----" + "x" * 100

    assert shown(url).startswith("'https://[secret]@images.example/")
    assert shortened(key) == "[secret]"
    assert dotted(("a", "AKIAIOSFODNN7EXAMPLE", 0)) == "a.[secret][0]"
    problem = Problem("https://a:b@c", 1, "AKIAIOSFODNN7EXAMPLE", "is 'https://a:b@c'")
    assert (problem.file, problem.path, problem.text) == ("https://[secret]@c", "[secret]", "is 'https://[secret]@c'")


def test_a_value_is_shown_by_the_name_of_its_field() -> None:
    assert shown_at(("region", "password"), "hunter2") == "[secret]"
    assert shown_at(("password", 0), 755) == "[secret]"
    assert shown_at(("host", "bmc_secret"), "Hunter2!") == "[secret]"
    assert shown_at(("host", "bmc_secret"), "metal3/bmc-a01") == "metal3/bmc-a01"
    assert shown_at(("cache", "credentials"), {"a": 1}) == {"a": 1}
    assert shown_at((), "text") == "text"


def test_data_are_masked_with_their_keys() -> None:
    data = {"https://a:b@c": [1, None, ("AKIAIOSFODNN7EXAMPLE",)]}

    assert masked_data(data) == {"https://[secret]@c": [1, None, ["[secret]"]]}


LONG = (
    "a:" * 50_000,
    "https://" + "a:" * 50_000,
    "https://" + "a:" * 50_000 + "?@",
    ";a:" * 50_000 + " @",
    "?a=" * 30_000,
    "token " * 20_000,
    "--a-" * 20_000 + " token",
    "--token" * 20_000,
    "a.b" * 40_000 + " x://y@",
    "eyJ" * 30_000,
    "-eyJaaaaaaaaa" * 10_000,
)
"""Texts in which a pattern can begin at each position and reach the end of the text each time."""
CPU_SECONDS = 30
"""Limit of a process; it needs about 3 s, and more than 100 s if one pattern takes quadratic time."""


def test_long_texts_are_masked_in_linear_time() -> None:
    program = (
        f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({CPU_SECONDS}, {CPU_SECONDS}))\n"
        "import json, sys\n"
        "from components.specs.secret_text import found, masked\n"
        "for text in json.load(sys.stdin): masked(text), list(found(text))\n"
    )

    outcome = subprocess.run(
        [sys.executable, "-c", program],
        cwd=paths.ROOT,
        input=json.dumps(LONG),
        capture_output=True,
        text=True,
        check=False,
    )

    assert outcome.returncode == 0, outcome
