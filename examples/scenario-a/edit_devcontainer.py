"""edit_devcontainer.py FROM TO: a devcontainer.json for scenario A from one that takes shortcuts.

Comments and trailing commas are read; image and cacheFrom go; the build is the scenario's Dockerfile,
the post-create command its script.
"""

import json
import re
import sys

STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
STRING_OR_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])')


def keep_strings(match):
    return match[0] if match[0].startswith('"') else ""


def read(text):
    return json.loads(STRING_OR_COMMA.sub(keep_strings, STRING_OR_COMMENT.sub(keep_strings, text)))


def edited(document):
    for key in ("image", "cacheFrom", "cacheTo", "dockerFile", "dockerComposeFile"):
        document.pop(key, None)
    build = {key: value for key, value in document.get("build", {}).items() if key not in ("cacheFrom", "cacheTo", "options")}
    document["build"] = {**build, "dockerfile": "Dockerfile.scenario-a"}
    document["postCreateCommand"] = "bash .devcontainer/post-create-scenario-a.sh"
    return document


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = edited(read(file.read()))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
