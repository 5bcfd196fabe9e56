"""The server as an object. Any thread may call; nothing is held between calls."""

from __future__ import annotations

import json
import os
import urllib.parse
from typing import Any, Dict, List, Optional, Union

from .contract import KernelCode, plain
from .errors import EngineFault, Unreachable, error_of
from .job import Job, JobState
from .report import Report
from .transport import Transport

Kernel = Union[KernelCode, Dict[str, Any]]
_UNTIL_THE_END_S = 3600.0


class Client:
    """`url`: scheme, host and port. `token`: one line of the server's --token-file. `ca_file`: PEM, for a server
    whose certificate no common authority has signed."""

    def __init__(self, url: str = "http://127.0.0.1:8000", token: Optional[str] = None, ca_file: Optional[str] = None,
                 timeout_s: float = 30.0):
        self._transport = Transport(url, token, ca_file)
        self._timeout_s = timeout_s

    @classmethod
    def from_environment(cls) -> Client:
        """$ASSAY_URL, $ASSAY_TOKEN, $ASSAY_CA_FILE: each as above, or its default."""
        url = os.environ.get("ASSAY_URL") or "http://127.0.0.1:8000"
        return cls(url, os.environ.get("ASSAY_TOKEN") or None, os.environ.get("ASSAY_CA_FILE") or None)

    # Answered when the job has ended. Who is interrupted while it waits has cancelled the job.

    def evaluate(self, kernel: Kernel, ref_kernel: Optional[Kernel] = None, *, patience_s: float = _UNTIL_THE_END_S,
                 **options: Any) -> Report:
        """Compiled, validated (against `ref_kernel`, if there is one) and timed.

        `options`: num_trials, num_warmup, validation_trials, timeout, atol, rtol, device, until, checks,
        device_metrics, baseline, generalise, min_isolation. `timeout` is the kernel's, in seconds of execution; `patience_s`
        is how long this call waits in all, for a queue too."""
        return self._judge("/evaluate", self._evaluation(kernel, ref_kernel, options), patience_s)

    def compare(self, ref_kernel: Kernel, custom_kernel: Kernel, *, patience_s: float = _UNTIL_THE_END_S,
                **options: Any) -> Report:
        """Both, with the same inputs, in processes of their own. `atol` and `rtol` are 1e-2 unless given."""
        return self._judge("/compare", self._comparison(ref_kernel, custom_kernel, options), patience_s)

    # Answered at once; the job goes on without us.

    def submit_evaluate(self, kernel: Kernel, ref_kernel: Optional[Kernel] = None, **options: Any) -> Job:
        return self._submit("/evaluate", self._evaluation(kernel, ref_kernel, options))

    def submit_compare(self, ref_kernel: Kernel, custom_kernel: Kernel, **options: Any) -> Job:
        return self._submit("/compare", self._comparison(ref_kernel, custom_kernel, options))

    def job(self, job_id: str) -> JobState:
        told = self._json("GET", "/job/" + _quoted(job_id))
        return JobState(told["job_id"], told["status"], told.get("error"), Report(told["result"]))

    def job_text(self, job_id: str, part: str) -> str:
        """source, report, log, ptx, samples, plot.svg, … of a job."""
        return self._answer("GET", f"/job/{_quoted(job_id)}/{_quoted(part)}").decode("utf-8", "replace")

    def jobs(self, limit: int = 20) -> List[Dict[str, Any]]:
        """Your recent jobs, a line each."""
        return list(self._json("GET", f"/jobs?limit={int(limit)}")["jobs"])

    # The machine.

    def health(self) -> Dict[str, Any]:
        """`status` is healthy or unhealthy; an unhealthy server is no exception here."""
        try:
            return self._json("GET", "/health")
        except EngineFault as fault:
            if fault.body.get("status") == "unhealthy":
                return fault.body
            raise

    def stats(self) -> Dict[str, Any]:
        return self._json("GET", "/stats")

    def metrics(self) -> str:
        """The same for Prometheus."""
        return self._answer("GET", "/metrics").decode()

    def cleanup_jobs(self) -> int:
        """Forgets your jobs that ended more than 300 s ago; how many those were."""
        return int(self._json("POST", "/admin/cleanup-jobs", {})["removed"])

    @staticmethod
    def _evaluation(kernel: Kernel, ref_kernel: Optional[Kernel], options: Dict[str, Any]) -> Dict[str, Any]:
        both = {"kernel": kernel} if ref_kernel is None else {"kernel": kernel, "ref_kernel": ref_kernel}
        return {**plain(both), **plain(options)}

    @staticmethod
    def _comparison(ref_kernel: Kernel, custom_kernel: Kernel, options: Dict[str, Any]) -> Dict[str, Any]:
        return {**plain({"ref_kernel": ref_kernel, "custom_kernel": custom_kernel}), **plain(options)}

    def _judge(self, path: str, body: Dict[str, Any], patience_s: float) -> Report:
        return Report(self._json("POST", path, body, patience_s))

    def _submit(self, path: str, body: Dict[str, Any]) -> Job:
        return Job(self, self._json("POST", path + "?wait=0", body)["job_id"])

    def _json(self, method: str, path: str, body: Any = None, timeout_s: Optional[float] = None) -> Dict[str, Any]:
        content = self._answer(method, path, body, timeout_s)
        told = _object_in(content)
        if told is None:
            raise Unreachable(f"{self._transport.url} is no such server: {method} {path} was answered {content[:100]!r}")
        return told

    def _answer(self, method: str, path: str, body: Any = None, timeout_s: Optional[float] = None) -> bytes:
        status, content = self._transport.ask(
            method, path, body, self._timeout_s if timeout_s is None else timeout_s)
        if status < 400:
            return content
        # From a proxy on the way it need not be JSON.
        raise error_of(status, _object_in(content) or {"error": content[:500].decode("utf-8", "replace")})


def _quoted(part: str) -> str:
    return urllib.parse.quote(part, safe="")


def _object_in(content: bytes) -> Optional[Dict[str, Any]]:
    try:
        told = json.loads(content)
    except ValueError:
        return None
    return told if isinstance(told, dict) else None
