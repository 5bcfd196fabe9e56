"""What came of a kernel, partial or final: the server's JSON (`raw`) and names for what is read most."""

from __future__ import annotations

from typing import Any, Dict, List, Optional


class Report:
    def __init__(self, raw: Dict[str, Any]):
        self.raw = raw

    @property
    def job_id(self) -> str:
        return str(self.raw["job_id"])

    @property
    def state(self) -> str:
        """submitted, compiling, validating, profiling; completed, failed, cancelled, interrupted."""
        return str(self.raw["state"])

    @property
    def verdict(self) -> Optional[str]:
        """None until the job has ended."""
        return self.raw.get("verdict")

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    @property
    def trust(self) -> Optional[str]:
        return self.raw.get("trust")

    @property
    def summary(self) -> str:
        """The one cause and the one next step."""
        return str(self.raw.get("summary", ""))

    @property
    def compilation_error(self) -> Optional[str]:
        return self._result.get("compilation_error")

    @property
    def validation_error(self) -> Optional[str]:
        return self._result.get("validation_error")

    @property
    def runtime_ms(self) -> Optional[float]:
        """Mean of the timed runs. None: there were none, or only an emulator's or a CPU's, whose times are no GPU's."""
        mean = self._result.get("runtime")
        clock = (self.raw.get("timing") or {}).get("clock")
        return float(mean) if mean and clock not in ("emulated", "cpu") else None

    @property
    def speedup(self) -> Optional[float]:
        """The reference's time over the candidate's; None where it could not be measured."""
        told = self.raw.get("speedup") or {}
        return told.get("ratio")

    @property
    def warnings(self) -> List[Dict[str, Any]]:
        return list(self.raw.get("warnings") or [])

    @property
    def _result(self) -> Dict[str, Any]:
        return self.raw.get("kernel_exec_result") or {}

    def __repr__(self) -> str:
        return f"<Report {self.raw.get('job_id')} {self.state} {self.verdict}>"
