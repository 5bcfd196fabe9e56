"""Why there is no report. A kernel that does not compile, crashes or is wrong has a report and is none of these.

    AssayError
      Unreachable        no server there, or the connection broke (then nobody knows what became of the job)
      NotAnswered        the server is there, but not within the time that was given
      ServerError        it answered with a status of 400 or more: `status`, `body`
        Refused          4xx
          InvalidRequest   400: what the arguments alone decide, one Violation for each mistake
          NotAllowed       401, 403, 421: token, origin, name of the server
          NotFound         404: `missing` says what; "" if no such server answered
            JobNotFound    no such job of yours
            PartNotFound   the job is there, and has no such part
        EngineFault      5xx: the server's own fault; `retryable`, and `body` has the report as far as it came
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List


class AssayError(Exception):
    """All of this package's exceptions."""


class Unreachable(AssayError):
    pass


class NotAnswered(AssayError):
    pass


@dataclass(frozen=True)
class Violation:
    """One thing that is wrong with the arguments: where, and what."""

    field: str  # "kernel -> io -> args -> 0"
    message: str
    type: str = ""  # the rule that was broken
    pointer: str = ""  # "/kernel/io/args/0"
    suggestion: str = ""

    def __str__(self) -> str:
        where = f"{self.field}: " if self.field else ""
        return where + self.message + (f" ({self.suggestion}?)" if self.suggestion else "")


class ServerError(AssayError):
    def __init__(self, status: int, body: Dict[str, Any]):
        self.status = status
        self.body = body
        super().__init__(f"{status}: {self._text()}")

    def _text(self) -> str:
        return str(self.body.get("error") or self.body.get("summary") or "the server says no more")


class Refused(ServerError):
    pass


class InvalidRequest(Refused):
    @property
    def violations(self) -> List[Violation]:
        found = self.body.get("validation_errors")
        if not isinstance(found, list):
            return []
        names = ("field", "message", "type", "pointer", "suggestion")
        return [Violation(**{name: str(one.get(name, "")) for name in names}) for one in found if isinstance(one, dict)]

    @property
    def field(self) -> str:
        """Where the first mistake is."""
        return self.violations[0].field if self.violations else ""

    def _text(self) -> str:
        return "; ".join(map(str, self.violations)) or super()._text()


class NotAllowed(Refused):
    pass


class NotFound(Refused):
    @property
    def missing(self) -> str:
        """job, part or path."""
        return str(self.body.get("missing", ""))


class JobNotFound(NotFound):
    pass


class PartNotFound(NotFound):
    pass


class EngineFault(ServerError):
    @property
    def retryable(self) -> bool:
        return bool(self.body.get("retryable", False))


def error_of(status: int, body: Dict[str, Any]) -> ServerError:
    """The exception that an answer means. REQUIRES a status of 400 or more."""
    if status == 404:
        return {"job": JobNotFound, "part": PartNotFound}.get(str(body.get("missing")), NotFound)(status, body)
    known = {400: InvalidRequest, 401: NotAllowed, 403: NotAllowed, 421: NotAllowed}
    return known.get(status, Refused if status < 500 else EngineFault)(status, body)
