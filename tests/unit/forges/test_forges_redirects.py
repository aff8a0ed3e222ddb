"""Redirects are errors: another host never gets the token, and a write that was not processed never counts as done."""

from __future__ import annotations

import pytest

from jacquard.forges.forge import ForgeError
from tests.support.forges.fake_forge import Answer, fake_forge
from tests.support.forges.forge_runs import Runs


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(runs: Runs, method: str, status: int) -> None:
    with fake_forge() as other:
        path = "repos/acme/regions/issues/7/comments"
        runs.forge.answer(method, Answer(status, "Moved", {"Location": f"{other.address}/{path}"}))

        with pytest.raises(ForgeError, match=f"answered {status} \\(Moved\\): is .* the address of its API\\?"):
            runs.write("1.1", "first")

        assert other.headers == []
    assert (runs.forge.comments, runs.waited) == ([], [])
