"""A merge request at GitLab."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from jacquard.forges.connection import Connection
from jacquard.forges.forge import Comment


class GitLab:
    """One merge request, whose comments GitLab calls notes.

    Args:
        api: address of its REST API.
        project: number or path of the project that it would be merged into.
        merge_request: its number in that project.
        token: a project access token; that of a job may not write notes.
    """

    def __init__(self, *, api: str, project: str, merge_request: int, token: str) -> None:
        self._connection = Connection("GitLab", api, token, header="PRIVATE-TOKEN")
        self._notes = f"/projects/{quote(project, safe='')}/merge_requests/{merge_request}/notes"
        self._author: int | None = None

    def own_comments(self) -> Iterator[Comment]:
        """Return the comments that the owner of the token wrote."""
        if self._author is None:
            self._author = int(self._connection.ask("GET", "/user")["id"])
        for entry in self._connection.pages(self._notes, sort="asc", order_by="created_at"):
            if not entry.get("system") and entry["author"]["id"] == self._author:
                yield Comment(number=entry["id"], body=entry["body"])

    def create(self, body: str) -> None:
        """Write a new comment."""
        self._connection.ask("POST", self._notes, body={"body": body})

    def update(self, number: int, body: str) -> None:
        """Write another text into a comment."""
        self._connection.ask("PUT", f"{self._notes}/{number}", body={"body": body})

    def delete(self, number: int) -> None:
        """Remove a comment."""
        self._connection.ask("DELETE", f"{self._notes}/{number}")
