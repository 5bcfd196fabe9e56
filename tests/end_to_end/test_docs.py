"""docs/: its tables against the schemas, the sources and a running server; its commands are run; its links lead somewhere."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from assay_client import ASSAY, Server
from http_service import HttpService

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RUN = re.compile(r"```sh run\n(.*?)```\n\n```text\n(.*?)```", re.S)
LINK = re.compile(r"\[[^\]]+\]\(([^)#]+)\)")
MENTIONED = re.compile(r"`((?:tests|src|schemas|docs|benchmarks|examples|clients|dev\.d)/[\w./-]*|tools/(?!list`)[\w./-]*)`|\b([\w-]+\.md)\b")


def section(page, title):
    text = (DOCS / page).read_text(encoding="utf-8")
    begin = text.index(f"\n## {title}\n")
    end = text.find("\n## ", begin + 1)
    return text[begin:end if end > 0 else len(text)]


def rows(text):
    """The cells of every table row that names something in its first cell."""
    cells = [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in text.splitlines() if line.startswith("| ")]
    return [row for row in cells if not set("".join(row)) <= set("-| ")]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def schema(name):
    with open(ROOT / "schemas" / name, encoding="utf-8") as file:
        return json.load(file)


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        server = cls.enterClassContext(Server())
        cls.tools = {tool["name"]: tool for tool in server.answer(server.send("tools/list"))["result"]["tools"]}
        cls.discovered = server.answer(server.send("server/discover"))["result"]
        cls.templates = [one["uriTemplate"] for one in server.answer(server.send("resources/templates/list"))["result"]["resourceTemplates"]]
        cls.prompts = [one["name"] for one in server.answer(server.send("prompts/list"))["result"]["prompts"]]

    def test_tools_and_their_arguments_are_those_of_tools_list(self):
        listed = [row for row in rows(section("api.md", "MCP tools")) if row[0] != "tool"]
        self.assertEqual([names(row[0])[0] for row in listed], list(self.tools))
        for tool, arguments, _ in listed:
            have = schema(f"{names(tool)[0]}.input.json")
            self.assertEqual(names(arguments), list(have.get("properties", {})), tool)
            self.assertEqual(re.findall(r"`(\w+)`\*", arguments), [a for a in have.get("properties", {}) if a in have.get("required", [])], tool)
            self.assertEqual(set(names(arguments)), set(self.tools[names(tool)[0]]["inputSchema"].get("properties", {})), tool)

    def test_revisions_and_prompts_are_the_servers(self):
        text = section("api.md", "MCP tools")
        source = (ROOT / "src/mcp/revision.cc").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"20\d\d-\d\d-\d\d", text[text.index("Revisions:"):].splitlines()[0]),
                         re.findall(r'\{Revision::\w+, "([\d-]+)"\}', source))
        self.assertIn(self.discovered["supportedVersions"][0], text)
        self.assertEqual(names(text[text.index("Prompts:"):]), self.prompts)

    def test_templates_of_resources_are_those_that_the_server_completes(self):
        self.assertEqual(set(re.findall(r"`(assay://[^`]*\{[^`]*)`", section("api.md", "MCP tools"))), set(self.templates))

    def test_states_verdicts_and_trust_are_those_of_the_reports_schemas(self):
        have = [schema(name)["properties"] for name in ("report.json", "steps_report.json")]
        text = section("api.md", "The report")
        for member in ("state", "status", "verdict", "trust"):
            part = text[text.index(f"\n| {member} |"):]
            told = [names(row[0])[0] for row in rows(part[:part.index("\n\n")] if "\n\n" in part else part)[1:]]
            enums = [report[member].get("enum", []) for report in have]  # reports of steps have no trust
            self.assertEqual(set(told), set().union(*enums) - {None}, member)
            self.assertEqual(len(told), len(set(told)), member)

    def test_error_codes_are_those_of_the_protocol_room(self):
        source = (ROOT / "src/mcp/message.h").read_text(encoding="utf-8")
        enum = source[source.index("enum class ErrorCode"):]
        have = {code: name for name, code in re.findall(r"(\w+) = (-\d+)", enum[:enum.index("};")])}
        told = {row[0]: names(row[1])[0] for row in rows(section("api.md", "JSON-RPC errors"))[1:]}
        self.assertEqual(told, have)

    def test_every_status_that_a_door_answers_is_explained(self):
        told = {int(row[0]) for row in rows(section("api.md", "HTTP statuses"))[1:]}
        used = set()
        for folder in ("src/mcp/http", "src/rest"):
            for path in (ROOT / folder).glob("*.cc"):
                text = path.read_text(encoding="utf-8")
                if path.name != "http_message.cc":  # there they are only spelt out
                    used |= {int(code) for code in re.findall(r"(?:status = |return |refus\w+\(|_error\(|_answer\(|bytes_of\(|answer\(\w+, \w+\.|: )([2-5]\d\d)\b", text)}
        self.assertEqual(used - told, set())
        self.assertEqual(told - used, set(), "explained, but nowhere answered")

    def test_rest_routes_are_those_of_the_table_and_their_methods_those_that_the_server_allows(self):
        source = (ROOT / "src/rest/rest.cc").read_text(encoding="utf-8")
        routed = set(re.findall(r'\{"(/[^"]*)", ', source)) | {"/job/{id}", "/job/{id}/{part}"}
        told = {names(row[0])[0]: row[1] for row in rows(section("api.md", "REST"))[1:]}
        self.assertEqual(set(told), routed)
        with HttpService() as service:
            for path, methods in told.items():
                connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
                connection.request("OPTIONS", path.replace("{id}", "x").replace("{part}", "log"))
                answer = connection.getresponse()
                self.assertEqual((answer.status, answer.headers["Allow"]), (204, methods), path)
                connection.close()

    def test_kernel_types_and_data_types_are_those_of_the_schemas(self):
        text = (DOCS / "kernel-types.md").read_text(encoding="utf-8")
        table = rows(text[:text.index("\n## ")])[1:]
        self.assertEqual([names(row[0])[0] for row in table], schema("evaluate.input.json")["properties"]["kernel"]["properties"]["kernel_type"]["enum"])
        dtypes = [name for row in rows(section("kernel-types.md", "Data types"))[1:] for name in names(row[0])]
        self.assertEqual(set(dtypes), set(schema("io_contract.json")["$defs"]["dtype"]["oneOf"][0]["enum"]))
        with Server() as server:
            told = server.call("check_capabilities")["structuredContent"]
        supported = told["kernel_types"]
        gpus = {device["name"] for device in told["devices"] if device["kind"] == "gpu"}
        for row in table:
            told = supported[names(row[0])[0]]
            if "interpreter" in row[-1]:  # which may or may not be here
                without = "emulator" if "emulator" in row[-1] else "cpu"
                self.assertIn(told.get("runs_on"), {without} | gpus if told["supported"] else {None}, row[0])
            else:
                self.assertEqual("`unsupported`" not in row[-1], told["supported"], row[0])

    def test_sections_of_device_metrics_are_those_that_the_server_takes(self):
        text = (DOCS / "device-metrics.md").read_text(encoding="utf-8")
        table = [row for row in rows(text) if row[0].startswith("`")]
        source = (ROOT / "src/engine/node/device_metrics.cc").read_text(encoding="utf-8")
        values = {}
        for name, key in re.findall(r'(?:Metric|Derived)\{"(\w+)",\s*"(\w+)"', source):
            values.setdefault(name, set()).add(key)
        aliases = re.findall(r'Alias\{"(\w+)", "(\w+)"\}', source)
        defaults = re.findall(r'"(\w+)"', source[source.index("default_sections() {"):].split("}")[0])
        told = {names(row[0])[0]: row for row in table}
        self.assertEqual(set(told), set(values) | {"occupancy_metrics"})
        for name, (_, alias, usual, passes, keys) in told.items():
            self.assertEqual(names(alias), [a for a, target in aliases if target == name], name)
            self.assertEqual(usual == "yes", name in defaults, name)
            self.assertEqual(passes == "0", name not in values, name)
            self.assertLessEqual(values.get(name, set()), set(names(keys)), name)
            for key in names(keys):
                self.assertIn(f'"{key}"', source, name)


class Pages(unittest.TestCase):
    def test_commands_answer_as_the_page_says(self):
        text = (DOCS / "quick-start.md").read_text(encoding="utf-8")
        examples = RUN.findall(text)
        self.assertEqual(len(examples), text.count("```sh run"))
        self.assertGreaterEqual(len(examples), 4)
        with tempfile.TemporaryDirectory(prefix="assay-docs-") as folder:
            env = {**os.environ, "ASSAY_STATE": folder + "/state", "PATH": os.path.dirname(ASSAY) + os.pathsep + os.environ["PATH"]}
            for command, promised in examples:
                with self.subTest(command=command):
                    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    for line in promised.splitlines():
                        self.assertIn(line, done.stdout)

    def test_links_and_names_of_files_lead_somewhere(self):
        pages = [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "MCP_README.md", ROOT / "clients/python/README.md"]
        for page in pages:
            text = page.read_text(encoding="utf-8")
            for target in LINK.findall(text):
                if "://" not in target:
                    self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")
            for path, markdown in MENTIONED.findall(text):
                places = [ROOT / path, page.parent / path] if path else [page.parent / markdown, DOCS / markdown, ROOT / markdown, ROOT / "clients/python" / markdown,
                                                     ROOT / "tests/kernels" / markdown, ROOT / "benchmarks" / markdown, ROOT / "docker" / markdown]
                self.assertTrue(any(place.exists() for place in places), f"{page.name}: {path or markdown}")

    def test_commands_of_dev_are_explained_in_the_page_about_tests(self):
        told = (DOCS / "testing.md").read_text(encoding="utf-8")
        for command in ("test", "conformance", "lint", "fuzz", "bench", "defences"):
            self.assertIn(f"./dev {command}", told)
            self.assertIn(f"\n  {command} ", (ROOT / "dev").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
