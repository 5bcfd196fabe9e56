"""A job that was submitted without waiting for its end."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from .errors import NotAnswered
from .report import Report

if TYPE_CHECKING:
    from .client import Client

UNFINISHED = frozenset({"submitted", "compiling", "validating", "profiling"})
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 2.0


@dataclass(frozen=True)
class JobState:
    job_id: str
    state: str
    error: Optional[str]
    report: Report  # as far as it has come

    @property
    def finished(self) -> bool:
        return self.state not in UNFINISHED


class Job:
    """Holds nothing of the server's: dropping it leaves the job running."""

    def __init__(self, client: Client, job_id: str):
        self._client = client
        self.id = job_id

    def poll(self) -> JobState:
        return self._client.job(self.id)

    def wait(self, timeout_s: Optional[float] = None) -> Report:
        """The final report, asked for in growing pauses. NotAnswered after `timeout_s`; the job goes on then."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        pause_s = _FIRST_PAUSE_S
        while True:
            now = self.poll()
            if now.finished:
                return now.report
            left_s = pause_s if end is None else end - time.monotonic()
            if left_s <= 0:
                raise NotAnswered(f"job {self.id} is still {now.state} after {timeout_s} s")
            time.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)

    def text(self, part: str) -> str:
        """source, log, ptx, samples, plot.svg, … : what the report's `artifacts` name."""
        return self._client.job_text(self.id, part)

    def __repr__(self) -> str:
        return f"<Job {self.id}>"
