#!/usr/bin/env python3
"""Runs the shell steps of `action.yml` in their order, as a runner does: try.py BINARY

GitHub's cache is left out, and `cargo` is a stand-in that installs the binary that is given, so that nothing is built."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CARGO = """#!/bin/sh
# cargo install --locked --root FOLDER --path CRATE
test "$1 $2 $3 $5" = "install --locked --root --path" && test -f "$6/Cargo.toml" || { echo "unexpected: cargo $*"; exit 2; }
mkdir -p "$4/bin" && cp "$SKEW_BUILT" "$4/bin/skew"
"""


def steps():
    """The shell text of each step."""
    lines, found = (HERE / "action.yml").read_text().splitlines(), []
    for at, line in enumerate(lines):
        if re.fullmatch(r"\s+run: \|", line):
            indent = len(line) - len(line.lstrip()) + 2
            body = []
            for inner in lines[at + 1:]:
                if inner.strip() and len(inner) - len(inner.lstrip()) < indent:
                    break
                body.append(inner[indent:])
            found.append("\n".join(body))
    return found


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "bin").mkdir()
        (home / "bin" / "cargo").write_text(CARGO)
        (home / "bin" / "cargo").chmod(0o755)
        output, path = home / "output", home / "path"
        environment = dict(os.environ, HOME=folder, PATH=f"{home}/bin:{os.environ['PATH']}", SKEW_BUILT=str(binary), REPOSITORY="",
                           REVISION="", ACTION=str(HERE), GITHUB_OUTPUT=str(output), GITHUB_PATH=str(path))
        found = steps()
        assert len(found) == 3, f"{len(found)} steps"
        for text in found:
            text = text.replace("${{ runner.os }}", "Linux").replace("${{ runner.arch }}", "X64")
            assert "${{" not in text, text
            subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], env=environment, check=True)
        told = dict(line.split("=", 1) for line in output.read_text().splitlines())
        assert re.fullmatch(r"skew-Linux-X64-[0-9a-f]{16}", told["key"]), told
        done = subprocess.run([f"{path.read_text().strip()}/skew", "--version"], capture_output=True, text=True, check=True)
        print(f"{done.stdout.strip()} on the path, {told['key']}")


if __name__ == "__main__":
    main()
