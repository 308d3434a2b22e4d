#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that each source names its licence in one of its first three lines."""
from sources import files, finish, read

SUFFIXES = (".c", ".h", ".cc", ".css", ".js", ".xml", ".py", ".sh", ".ini", "meson.build", ".ci/run")

finish([f"{path}: no line of SPDX-License-Identifier: MIT" for path in files(*SUFFIXES)
        if "SPDX-License-Identifier: MIT" not in "\n".join(read(path).splitlines()[:3])])
