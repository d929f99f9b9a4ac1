#!/usr/bin/env python3
"""Makes the wheel of a binary that is built already: wheel.py BINARY FOLDER. Prints the wheel's path.

`maturin build --release` in this folder makes the same wheel and builds the binary itself; this is for a binary that was
built once for every package.
"""

import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent


def version() -> str:
    text = (HERE / "../../Cargo.toml").read_text()
    return re.search(r'^version = "(.*)"', text, re.MULTILINE).group(1)


def platform() -> str:
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def main() -> None:
    binary, folder = Path(sys.argv[1]), Path(sys.argv[2])
    number, tag = version(), f"py3-none-{platform()}"
    info = f"skew-{number}.dist-info"
    with tempfile.TemporaryDirectory() as temporary:
        stripped = Path(temporary) / "skew"
        subprocess.run(["strip", "-o", stripped, binary], check=True)
        files = {f"skew/{path.name}": path.read_bytes() for path in sorted((HERE / "skew").glob("*.py"))}
        files[f"skew-{number}.data/scripts/skew"] = stripped.read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: skew\nVersion: {number}\nRequires-Python: >=3.9\nLicense: MIT OR Apache-2.0\n"
        "Summary: Is my application right on a database that is not serializable?\n"
        "Description-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text()
    ).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: skew\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[pytest11]\nskew = skew.pytest_plugin\n"
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    path = folder / f"skew-{number}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(entry, content)
    print(path)


if __name__ == "__main__":
    main()
