# SPDX-License-Identifier: MIT
"""Reads a sample run by experiments/plait.py, as frames or, as if there were no pandas, as arrays."""

import sys

folder, path, many, how = sys.argv[1:]
sys.path.insert(0, folder)
if how == "numpy":
    sys.modules["pandas"] = None
import plait


def check(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


check(list(plait.training(path)), ["step", "negative_log_likelihood", "metric"])
check(len(plait.training(path)["step"]), 3)
check(len(plait.training(path, "updates")["step"]), 30)
check(list(plait.scores(path))[:3], ["metric", "name", "score"])
check(list(plait.sentences(path)), ["hypothesis", "reference"])
check(len(plait.sentences(path)["reference"]), 3)
whole = plait.attention(path, 0, "en")
head = plait.attention(path, 0, "en", layer=1, head=0)
if how == "numpy":
    check(whole["weights"].shape, (len(whole["targets"]), len(whole["rows"])))
    check(whole["targets"][0], "\u2581ein")
    check(head["weights"].shape, whole["weights"].shape)
    check(whole["weights"].sum(axis=1).round(4).tolist(), [1] * len(whole["targets"]))
else:
    check(whole.index[0], "\u2581ein")
    check(head.shape, whole.shape)
    check(whole.sum(axis=1).round(4).tolist(), [1] * len(whole.index))

# Sentences of many are told apart, and each is whole.
seen = set()
for sentence in range(3):
    found = plait.attention(many, sentence, "en", layer=0, head=3)
    weights = found["weights"] if how == "numpy" else found.to_numpy()
    check(weights.shape, (60, 60))
    check(weights.sum(axis=1).round(4).tolist(), [1] * 60)
    seen.add(tuple(found["rows"] if how == "numpy" else found.columns))
check(len(seen), 3)
