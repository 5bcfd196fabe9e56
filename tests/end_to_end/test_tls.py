"""HTTPS: everything that HTTP does, behind a certificate; what is no TLS gets no answer."""

import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest

from assay_client import ADD, META, kernel

ASSAY = os.environ["ASSAY"]


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate with")
class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="assay-tls-")))
        cls.certificate, cls.key = str(cls.folder / "cert.pem"), str(cls.folder / "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", cls.key, "-out", cls.certificate, "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        cls.server = subprocess.Popen([ASSAY, "serve", "--http", "0", "--state", str(cls.folder / "state"),
                                       "--tls-cert", cls.certificate, "--tls-key", cls.key], stderr=subprocess.PIPE)
        cls.addClassCleanup(lambda: (cls.server.kill(), cls.server.wait(), cls.server.stderr.close()))
        line = next(line for line in cls.server.stderr if b"https://" in line)
        cls.port = int(line.rsplit(b":", 1)[1].split(b"/")[0])
        cls.trust = ssl.create_default_context(cafile=cls.certificate)

    def connect(self, context=None):
        return http.client.HTTPSConnection("localhost", self.port, timeout=60, context=context or self.trust)

    def test_rest_and_mcp_are_served_and_a_connection_is_kept(self):
        connection = self.connect()
        for _ in range(3):
            connection.request("GET", "/health")
            answer = connection.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())["status"]), (200, "healthy"))
        connection.request("POST", "/evaluate", json.dumps({"kernel": kernel(ADD), "num_trials": 2}))
        self.assertEqual(json.loads(connection.getresponse().read())["verdict"], "passed")
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}),
                           {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                            "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
        self.assertIn("tools", json.loads(connection.getresponse().read())["result"])
        connection.request("GET", "/health", headers={"Connection": "close"})
        answer = connection.getresponse()
        self.assertEqual((answer.status, len(answer.read()) > 0), (200, True))
        connection.close()

    def test_large_bodies_travel_whole(self):
        connection = self.connect()
        connection.request("POST", "/evaluate", json.dumps({"kernel": kernel(ADD + "//" + "x" * 1_000_000), "num_trials": 1}))
        job = json.loads(connection.getresponse().read())["job_id"]
        connection.request("GET", f"/job/{job}/source")
        self.assertEqual(len(connection.getresponse().read()), len(ADD) + 2 + 1_000_000)
        connection.close()

    def test_old_protocols_and_plain_http_are_not_answered(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as plain:
            plain.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertNotIn(b"HTTP/1.1 200", plain.recv(4096))
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises(OSError):
            self.connect(old).connect()
        self.connect().connect()  # and the server serves on

    def call(self, url, *options, **environment):
        done = subprocess.run([ASSAY, "call", "check_capabilities", "{}", "--url", url, *options], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **environment})
        return done.returncode, done.stdout, done.stderr

    def test_a_call_by_url_is_encrypted_and_only_to_who_is_vouched_for(self):
        url = f"https://localhost:{self.port}"
        code, answer, why = self.call(url, "--ca", self.certificate)
        self.assertEqual(code, 0, why)
        self.assertTrue(json.loads(answer)["devices"])
        self.assertEqual(self.call(url, SSL_CERT_FILE=self.certificate)[0], 0)
        for what, (address, options) in {"nobody vouches": (url, ()), "another name": (f"https://127.0.0.1:{self.port}", ("--ca", self.certificate)),
                                         "not encrypted": (f"http://localhost:{self.port}", ())}.items():
            with self.subTest(what):
                code, answer, why = self.call(address, *options)
                self.assertEqual((code, answer), (4, ""))
                self.assertTrue(why)
        for file in ("/no/such/file", self.key):
            with self.subTest(file):
                code, answer, why = self.call(url, "--ca", file)
                self.assertEqual((code, answer), (2, ""))
                self.assertIn(file, why)

    def test_files_that_cannot_be_used_are_a_mistake_of_usage(self):
        for options, reason in ((["--tls-cert", self.certificate], "together"), (["--tls-key", self.key], "together"),
                                (["--tls-cert", self.key, "--tls-key", self.key], "no start line"),
                                (["--tls-cert", "/no/such/file", "--tls-key", self.key], "/no/such/file: No such file"),
                                (["--tls-cert", str(self.folder), "--tls-key", self.key], str(self.folder)),
                                (["--tls-cert", self.certificate, "--tls-key", "/no/such/file"], "/no/such/file: No such file")):
            done = subprocess.run([ASSAY, "serve", "--http", "0", "--state", str(self.folder / "other"), *options],
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(reason, done.stderr.decode(), options)


if __name__ == "__main__":
    unittest.main()
