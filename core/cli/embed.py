#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes OUTPUT, a C source with the text of each FILE in FOLDER. A FILE is ROOM/NAME; embedded.h finds its text as NAME.

Usage: embed.py OUTPUT FOLDER FILE...
"""
import pathlib
import sys

output, folder, *names = sys.argv[1:]
with open(output, "w", encoding="ascii") as file:
    file.write('#include "command/embedded.h"\n\nconst PlaitEmbedded plait_embedded[] = {\n')
    for name in names:
        within = name.partition("/")[2]
        file.write(f'  {{ "{within}",\n')
        for line in pathlib.Path(folder, name).read_bytes().splitlines(keepends=True):
            text = "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\\\?' else f"\\{byte:03o}" for byte in line)
            file.write(f'    "{text}"\n')
        file.write("  },\n")
    file.write("  { NULL, NULL },\n};\n")
