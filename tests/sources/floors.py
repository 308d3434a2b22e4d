#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A floor of core/ includes only from itself and the lower floors; only one floor knows BLAS, and only one HDF5."""
import os
import re

from sources import files, finish, read

FOREIGN = {"cblas.h": "tensor", "openblas_config.h": "tensor", "blis.h": "tensor", "mkl.h": "tensor", "mkl_cblas.h": "tensor", "hdf5.h": "store", "hdf5_hl.h": "store"}


def main():
    problems = []
    floors = re.findall(r"'(\w+)'", re.search(r"plait_floors = \[(.*?)\]", read("core/meson.build"), re.S).group(1))
    for path in files(".c", ".h"):
        parts = path.split("/")
        floor = parts[1] if parts[0] == "core" and len(parts) > 2 else None
        for number, line in enumerate(read(path).splitlines(), 1):
            place = f"{path}:{number}"
            local = re.match(r'\s*#\s*include\s+"([^"@]+)"', line)
            system = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            if floor and local:
                included = local.group(1).split("/")[0]
                if "/" not in local.group(1) or included not in floors:
                    problems.append(f'{place}: "{local.group(1)}" is no path that begins with a floor')
                elif floors.index(included) > floors.index(floor):
                    problems.append(f"{place}: {floor} includes from the higher floor {included}")
            if system and parts[0] != "tests":
                owner = FOREIGN.get(os.path.basename(system.group(1)))
                if owner and floor != owner:
                    problems.append(f"{place}: only core/{owner} includes <{system.group(1)}>")
    finish(problems)


main()
