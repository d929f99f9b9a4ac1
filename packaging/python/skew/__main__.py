"""`python -m skew …` is `skew …`."""

import os
import sys

from .server import binary

if __name__ == "__main__":
    path = binary()
    os.execv(path, [path, *sys.argv[1:]])
