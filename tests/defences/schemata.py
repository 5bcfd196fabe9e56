"""Defences that can be turned off while a program runs: what a table of them makes of the sources, and of the build.

Every entry's change is in one set of sources at once, behind `assay_without("its name")`: true where the environment
variable ASSAY_WITHOUT has that name. The product has no trace of it: what is changed are copies.
"""

import dataclasses
import os
import re

VARIABLE = "ASSAY_WITHOUT"
EXPRESSION, STATEMENT = "expression", "statement"
HEADER = """#pragma once
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
inline bool assay_without(const char* name) {
  const char* without = std::getenv("%s");
  return without != nullptr && std::strcmp(without, name) == 0;
}
""" % VARIABLE
PYTHON_HEAD = f"def assay_without(name): import os; return os.environ.get({VARIABLE!r}) == name\n"


class NotApplied(Exception):
    """An entry does not fit the source that it names."""


@dataclasses.dataclass(frozen=True)
class Change:
    """`makes` is the source text of the defence, `without` what it becomes without it. Where the text alone is in the
    file more than once, `around` is a text that is there once and has it in it once."""
    file: str
    makes: str
    without: str
    kind: str = EXPRESSION
    around: str = ""

    def place(self, text):
        around = self.around or self.makes
        for whole, part in ((text, around), (around, self.makes)):
            if (times := whole.count(part)) != 1:
                raise NotApplied(f"{self.file}: there {times} times, not once: {part!r}")
        begin = text.index(around) + around.index(self.makes)
        return begin, begin + len(self.makes)

    def schema(self, names, text, begin):
        is_python = self.file.endswith(".py")
        asked = (" or " if is_python else " || ").join(f'assay_without("{name}")' for name in names)
        if is_python and self.kind == EXPRESSION:
            return f"(({self.without}) if {asked} else ({self.makes}))"
        if is_python:
            indent = text[text.rindex("\n", 0, begin) + 1:begin]
            return f"if {asked}:\n{indent}    {self.without}\n{indent}else:\n{indent}    {self.makes}"
        if self.kind == EXPRESSION:
            return f"({asked} ? ({self.without}) : ({self.makes}))"
        return f"if ({asked}) {{ {self.without} }} else {{ {self.makes} }}"


@dataclasses.dataclass(frozen=True)
class Test:
    """One that passes, and fails without the defence. `kind`: catch (program, case), python (a unittest's name in
    tests/end_to_end), torch (in tests/python, with an interpreter that has torch), gpu (in tests/gpu/check_cheats.py).
    `cases`: names of subtests, each of which is to fail."""
    kind: str
    name: str
    program: str = ""
    cases: tuple = ()

    def __str__(self):
        where = {"catch": self.program, "python": "end_to_end", "torch": "python", "gpu": "gpu"}[self.kind]
        cases = list(self.cases[:2]) + ([f"{len(self.cases) - 2} more"] if len(self.cases) > 2 else [])
        return f"{where}: {self.name}" + (f" [{', '.join(cases)}]" if cases else "")


@dataclasses.dataclass(frozen=True)
class Defence:
    """`row` is how its row of docs/trust.md begins, or words of another page. Several changes: each of them alone holds,
    so only all together are a defence that a test can miss."""
    name: str
    row: str
    tests: tuple
    changes: tuple
    note: str = ""
    page: str = "docs/trust.md"


# How the variable reaches those who run foreign code: their environment is made anew, and one of the attacks on it is
# to find what does not belong there.
CARRIERS = (
    Change("src/engine/confinement/child.cc", "for (const auto& variable : request.environment) {\n    const std::string prefix",
           f'if (const char* without = std::getenv("{VARIABLE}"); without != nullptr) environment.push_back(std::string("{VARIABLE}=") + without);\n'
           "  for (const auto& variable : request.environment) {\n    const std::string prefix"),
    Change("src/engine/confinement/canaries.cc", '"TSAN_OPTIONS"};', f'"TSAN_OPTIONS", "{VARIABLE}"}};'),
)


def rows(page):
    """The first cells of the table in docs/trust.md."""
    found = [line[2:].split(" | ")[0] for line in page.splitlines() if line.startswith("| ")]
    return found[1:]  # below the head


def changed(root, defences, carriers=CARRIERS):
    """{path below root: its text with every defence behind its name}. Raises NotApplied where an entry does not fit."""
    names = {carrier: [] for carrier in carriers}
    for defence in defences:
        for change in defence.changes:
            names.setdefault(change, []).append(defence.name)
    texts, places = {}, {}
    for change, whose in names.items():
        if change.file not in texts:
            with open(os.path.join(root, change.file), encoding="utf-8") as file:
                texts[change.file] = file.read()
        begin, end = change.place(texts[change.file])
        schema = change.schema(whose, texts[change.file], begin) if whose else change.without
        places.setdefault(change.file, []).append((begin, end, schema, whose))
    out = {}
    for path, text in texts.items():
        at, parts = 0, []
        for begin, end, schema, whose in sorted(places[path]):
            if begin < at:
                raise NotApplied(f"{path}: what makes {' and '.join(whose)} lies in what makes another")
            parts += [text[at:begin], schema]
            at = end
        out[path] = "".join(parts) + text[at:]
    return out


def with_head(path, text, header, original):
    """The text as it is compiled: complaints name the original."""
    if path.endswith(".py"):
        head, _, rest = text.partition("\nimport ")
        return f"{head}\n{PYTHON_HEAD}import {rest}" if rest else PYTHON_HEAD + text
    return f'#include "{header}"\n#line 1 "{original}"\n{text}'


def redirected(ninja, moved, build, copy, uses):
    """What build.ninja becomes in a copy of its folder: sources of `moved` ({path: path}) are compiled from there, those
    that use a definition naming the build folder (`uses(source, names)`) are told of the copy, and nothing configures
    again. All other commands stay as they are, so that their objects are up to date."""
    out, source, skipping = [], "", False
    for line in ninja.split("\n"):
        if line.startswith("build "):
            skipping = line.startswith("build build.ninja:")
            words = line.split(" ")
            inputs = [word for word in words if word.endswith((".cc", ".S"))]
            source = inputs[0] if inputs else ""
            line = " ".join(moved.get(word, word) for word in words)
        elif not line.startswith(" "):
            skipping, source = False, ""
        elif line.startswith("  DEFINES = ") and source:
            names = re.findall(r"-D(\w+)=\S*" + re.escape(f"{build}/"), line)
            if names and uses(source, names):
                line = line.replace(f"{build}/", f"{copy}/")
        if not skipping:
            out.append(line)
    return "\n".join(out)
