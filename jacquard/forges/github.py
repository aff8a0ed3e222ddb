"""Comments of a pull request at GitHub, or at a GitHub Enterprise Server."""

from collections.abc import Iterator

from jacquard.forges.connection import Connection
from jacquard.forges.forge import Comment, ForgeError


class GitHub:
    """A pull request, whose comments GitHub stores as comments of an issue.

    Args:
        api: address of its REST API.
        graphql: address of its GraphQL API.
        repository: ``OWNER/NAME``.
        pull_request: number of the pull request.
        token: token of the comment's author.
    """

    def __init__(self, *, api: str, graphql: str, repository: str, pull_request: int, token: str) -> None:
        self._connection = Connection("GitHub", api, token, header="Authorization", scheme="Bearer ")
        self._graphql = graphql
        self._issues = f"/repos/{repository}/issues"
        self._comments = f"{self._issues}/{pull_request}/comments"
        self._author: str | None = None

    def own_comments(self) -> Iterator[Comment]:
        """Yield the comments written by the owner of the token."""
        author = self._own_name()
        for entry in self._connection.pages(self._comments):
            if (entry.get("user") or {}).get("login") == author:  # the author is null after the account was deleted
                yield Comment(number=entry["id"], body=entry.get("body") or "")

    def create(self, body: str) -> None:
        """Create a comment."""
        self._connection.ask("POST", self._comments, body={"body": body})

    def update(self, number: int, body: str) -> None:
        """Replace the text of a comment."""
        self._connection.ask("PATCH", f"{self._issues}/comments/{number}", body={"body": body})

    def delete(self, number: int) -> None:
        """Delete a comment."""
        self._connection.ask("DELETE", f"{self._issues}/comments/{number}")

    def _own_name(self) -> str:
        """Return the owner of the token, from GraphQL, because REST returns no owner for a workflow's own token."""
        if self._author is None:
            answer = self._connection.ask("POST", self._graphql, body={"query": "query { viewer { login } }"})
            login = ((answer.get("data") or {}).get("viewer") or {}).get("login")
            if not login:
                msg = "GitHub does not return the owner of the token, so its comments cannot be identified"
                raise ForgeError(msg)
            self._author = str(login)
        return self._author
