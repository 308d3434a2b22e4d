#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Adds up the test cases of the last run of "meson test" in a build folder: prints "PASSED FAILED SKIPPED".

A GoogleTest executable counts with each of its cases (read from the XML that it writes into results/), any other test
as one. An executable that failed without a failed case, or without XML, has crashed and counts as one failure. A run
without tests counts as one failure too.
"""
import json
import os
import sys
import xml.etree.ElementTree


def main():
    folder = sys.argv[1]
    passed = failed = skipped = 0
    with open(os.path.join(folder, "meson-logs", "testlog.json"), encoding="utf-8") as log:
        tests = [json.loads(line) for line in log if line.strip()]
    for test in tests:
        ok = test["result"] in ("OK", "EXPECTEDFAIL")
        results = os.path.join(folder, "results", os.path.basename(test["command"][0]) + ".xml")
        if os.path.exists(results):
            cases = failures = skips = 0
            for suite in xml.etree.ElementTree.parse(results).getroot().iter("testsuite"):
                cases += int(suite.get("tests"))
                failures += int(suite.get("failures")) + int(suite.get("errors", "0"))
                skips += int(suite.get("skipped", "0"))
            passed += cases - failures - skips
            failed += failures or (0 if ok else 1)
            skipped += skips
        elif test["result"] == "SKIP":
            skipped += 1
        elif ok:
            passed += 1
        else:
            failed += 1
    if not tests:
        failed = 1
    print(passed, failed, skipped)


main()
