"""Comments of a merge request at GitLab."""

from collections.abc import Iterator
from urllib.parse import quote

from jacquard.forges.connection import Connection
from jacquard.forges.forge import Comment


class GitLab:
    """A merge request, whose comments GitLab calls notes.

    Args:
        api: address of its REST API.
        project: number or path of the target project.
        merge_request: number of the merge request in that project.
        token: a project access token; a job token may not write notes.
    """

    def __init__(self, *, api: str, project: str, merge_request: int, token: str) -> None:
        self._connection = Connection("GitLab", api, token, header="PRIVATE-TOKEN")
        self._notes = f"/projects/{quote(project, safe='')}/merge_requests/{merge_request}/notes"
        self._author: int | None = None

    def own_comments(self) -> Iterator[Comment]:
        """Yield the comments written by the owner of the token."""
        if self._author is None:
            self._author = int(self._connection.ask("GET", "/user")["id"])
        for entry in self._connection.pages(self._notes, sort="asc", order_by="created_at"):
            if not entry.get("system") and entry["author"]["id"] == self._author:
                yield Comment(number=entry["id"], body=entry["body"])

    def create(self, body: str) -> None:
        """Create a comment."""
        self._connection.ask("POST", self._notes, body={"body": body})

    def update(self, number: int, body: str) -> None:
        """Replace the text of a comment."""
        self._connection.ask("PUT", f"{self._notes}/{number}", body={"body": body})

    def delete(self, number: int) -> None:
        """Delete a comment."""
        self._connection.ask("DELETE", f"{self._notes}/{number}")
