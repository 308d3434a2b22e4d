#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes training logs of plait (run --log FILE, grid --log FOLDER) for TensorBoard. Needs only Python.

    to-tensorboard.py logged.jsonl events               # tensorboard --logdir events
    to-tensorboard.py logs/*.jsonl events --follow 5    # a folder for each log; look for new rows every 5 seconds
"""

import argparse
import json
import os
import struct
import sys
import time

# CRC-32C: Castagnoli's polynomial, bits reversed (RFC 3720, appendix B.4).
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    TABLE.append(byte)


def checksum(data):
    """Returns the bytes of TFRecord's masked checksum: rotated and shifted."""
    total = 0xffffffff
    for byte in data:
        total = TABLE[(total ^ byte) & 0xff] ^ total >> 8
    total ^= 0xffffffff
    return struct.pack("<I", ((total >> 15 | total << 17) + 0xa282ead8) & 0xffffffff)


def varint(value):
    data = b""
    while value > 0x7f:
        data, value = data + bytes([value & 0x7f | 0x80]), value >> 7
    return data + bytes([value])


def field(number, data):
    """Returns a field of a protocol buffer: bytes."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def record(event):
    """Returns the TFRecord of an Event (tensorflow/core/util/event.proto); @event is all but its time."""
    event = b"\x09" + struct.pack("<d", time.time()) + event
    length = struct.pack("<Q", len(event))
    return length + checksum(length) + event + checksum(event)


def event(row):
    table, step = row.pop("table"), row.pop("step")
    values = [field(1, f"{table}/{name}".encode()) + b"\x15" + struct.pack("<f", value)
              for name, value in row.items() if value is not None]
    return record(b"\x10" + varint(step) + field(5, b"".join(field(1, value) for value in values)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="+", metavar="LOG.jsonl")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--follow", type=float, metavar="SECONDS", help="go on as the logs grow, until interrupted")
    given = parser.parse_args()
    streams, names = [], set()
    for path in given.logs:
        name = os.path.splitext(os.path.basename(path))[0] if len(given.logs) > 1 else ""
        if name in names:
            raise ValueError(f"{path}: another log has this name too, but each needs its own folder {name}; rename one")
        names.add(name)
        os.makedirs(os.path.join(given.folder, name), exist_ok=True)
        file = open(os.path.join(given.folder, name, "events.out.tfevents.plait"), "wb")
        file.write(record(field(3, b"brain.Event:2")))
        streams.append((open(path, encoding="utf-8"), file))
    while True:
        for log, file in streams:
            start = log.tell()
            while (line := log.readline()).endswith("\n"):
                file.write(event(json.loads(line)))
                start = log.tell()
            log.seek(start)
            file.flush()
        if not given.follow:
            return
        time.sleep(given.follow)


try:
    main()
except (OSError, ValueError, KeyError) as problem:
    sys.exit(f"to-tensorboard.py: {problem}")
except KeyboardInterrupt:
    pass
