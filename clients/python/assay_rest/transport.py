"""One HTTP request and its answer: address, token, TLS. One connection each, so that any thread may ask."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import urllib.parse
from typing import Any, Dict, Optional, Tuple

from .errors import NotAnswered, Unreachable

_NOT_IN_A_FIELD = ("\r", "\n", "\0")


class Transport:
    def __init__(self, url: str, token: Optional[str], ca_file: Optional[str]):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no http:// or https:// address")
        if parts.path.strip("/") or parts.query or parts.fragment or parts.username:
            raise ValueError(f"{url!r}: only scheme, host and port belong here")
        if ca_file and parts.scheme == "http":
            raise ValueError("a ca_file is of no use over http")
        if token is not None and (not token or any(one in token for one in _NOT_IN_A_FIELD)):
            raise ValueError("the token is empty or holds a line break")
        self._host, self._port = parts.hostname, parts.port
        self._tls = ssl.create_default_context(cafile=ca_file) if parts.scheme == "https" else None
        self._token = token
        self.url = f"{parts.scheme}://{parts.netloc}"

    def ask(self, method: str, path: str, body: Any = None, timeout_s: float = 30.0) -> Tuple[int, bytes]:
        """Status and bytes of the answer. `timeout_s`: without a byte from the server."""
        if timeout_s <= 0:
            raise ValueError(f"nobody can answer within {timeout_s} s")
        fields: Dict[str, str] = {"Accept": "application/json, */*"}
        text = None
        if body is not None:
            text = json.dumps(body, allow_nan=False).encode()
            fields["Content-Type"] = "application/json"
        if self._token:
            fields["Authorization"] = "Bearer " + self._token
        connection = self._connection(timeout_s)
        try:
            connection.request(method, path, text, fields)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (socket.timeout, TimeoutError) as fault:
            raise NotAnswered(f"{self.url} did not answer {method} {path} within {timeout_s} s") from fault
        except (OSError, http.client.HTTPException) as fault:
            raise Unreachable(f"{self.url}: {fault or type(fault).__name__}") from fault
        finally:
            connection.close()

    def _connection(self, timeout_s: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        return http.client.HTTPSConnection(self._host, self._port, timeout=timeout_s, context=self._tls)
