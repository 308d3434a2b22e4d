#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rooms of core/ (core/FLOOR/ROOM), their includes and sizes, and that one floor alone calls BLAS, one HDF5.

The rooms of a floor include each other as "ROOM/FILE" and without a cycle. A header's "ROOM/FILE" is unique in core/, and
each room has a README. Plugins and tests may include BLAS and HDF5 too. The compiler checks the order of the floors: it
gets only the include folders of the floors that a floor may use (core/meson.build).
"""
import os
import re

from sources import ROOT, files, finish, read

FOREIGN = {"cblas.h": "engine", "openblas_config.h": "engine", "blis.h": "engine", "mkl.h": "engine", "mkl_cblas.h": "engine",
           "hdf5.h": "store", "hdf5_hl.h": "store"}
GENERATED = {"revision.h", "resources.h"}
MAX_FILES = 30
MAX_ROOMS = 11


def circle(edges, start):
    """Returns a cycle of rooms from @start to @start, or None."""
    ways = [[start]]
    seen = set()
    while ways:
        way = ways.pop()
        for to in edges.get(way[-1], {}):
            if to == start:
                return way + [to]
            if to not in seen:
                seen.add(to)
                ways.append(way + [to])
    return None


def main():
    problems = []
    floors = re.findall(r"'(\w+)'", re.search(r"plait_floors = \[(.*?)\]", read("core/meson.build"), re.S).group(1))
    rooms, headers = {}, {}
    paths = [path for path in files(".c", ".h", ".cc") if path.startswith("core/") and "/templates/" not in path]
    for path in paths:
        parts = path.split("/")
        if len(parts) != 4 or parts[1] not in floors:
            problems.append(f"{path}: lies in no room of a floor (core/FLOOR/ROOM/FILE)")
            continue
        rooms.setdefault((parts[1], parts[2]), []).append(path)
        if path.endswith(".h"):
            name = "/".join(parts[2:])
            if name in headers:
                problems.append(f"{path}: \"{name}\" is {headers[name]} too")
            headers[name] = path
    edges = {}
    for path in files(".c", ".h", ".cc"):
        parts = path.split("/")
        for number, line in enumerate(read(path).splitlines(), 1):
            local = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            system = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            if parts[0] == "core" and local and len(parts) == 4:
                to = headers.get(local.group(1), "").split("/")
                if "/" not in local.group(1) and local.group(1) not in GENERATED:
                    problems.append(f'{path}:{number}: "{local.group(1)}" is not a path that begins with a room')
                elif len(to) == 4 and to[1] == parts[1] and to[2] != parts[2]:
                    edges.setdefault(tuple(parts[1:3]), {}).setdefault(tuple(to[1:3]), f"{path}:{number}")
            if system and parts[0] != "tests":
                owner = FOREIGN.get(os.path.basename(system.group(1)))
                if owner and parts[1] != owner and not path.startswith("plugins/"):
                    problems.append(f"{path}:{number}: only core/{owner} includes <{system.group(1)}>")
    told = set()
    for room in sorted(edges):
        way = circle(edges, room)
        if way and not told & set(way):
            told |= set(way)
            steps = [f"{'/'.join(a)} includes {'/'.join(b)} at {edges[a][b]}" for a, b in zip(way, way[1:])]
            problems.append("a circle of rooms: " + "; ".join(steps))
    for floor in floors:
        own = [room for room in rooms if room[0] == floor]
        if len(own) > MAX_ROOMS:
            problems.append(f"core/{floor}: {len(own)} rooms; expected at most {MAX_ROOMS}")
    for (floor, room), inside in sorted(rooms.items()):
        if not os.path.isfile(os.path.join(ROOT, "core", floor, room, "README.md")):
            problems.append(f"core/{floor}/{room}: has no README.md, which says in a few lines what belongs there")
        if len(inside) > MAX_FILES:
            problems.append(f"core/{floor}/{room}: {len(inside)} files; expected at most {MAX_FILES}")
    finish(problems)


main()
