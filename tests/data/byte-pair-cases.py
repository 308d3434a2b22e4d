# SPDX-License-Identifier: MIT
"""Writes byte-pair-cases.h: a small byte-level BPE, and the ids that the package tokenizers gives to hostile text.

    python3 byte-pair-cases.py | clang-format > byte-pair-cases.h      (tokenizers 0.23.3)
"""

import json
import os
import tempfile

import tokenizers

TEXT = ["they've the 's 're 'm 'll 'd 't it's we're I'm you'll he'd can't the the"] * 9 + [
    "12 123 1234 99 100 2000 year 12 the 12th ", "!! ... ??? -- !!! ( the ) ( ", "naïve über Straße żluťoučký кот 東京 ",
    "the  the   the    the", "\u00a0the\u00a0 \u2003the \u3000the", "١٢٣ 四五 Ⅻ ½ x² ", "e\u0301 n\u0303 a\u0300 ",
    "👩\u200d👩\u200d👧 👍🏽 ☝🏿 ", "שלום עולם مرحبا بالعالم "] * 4

CASES = [
    "", " ", "  ", "   the", "the", " the", "the the", "the  the", "the   ", "they've it's", "it''s", "IT'S it'S", " 's", "'s's",
    "x've!'ve 1've've", "12th 1234", "½²Ⅻ١٢٣四五", "1 2  3", "!! the !!!the", "(the)", "naïve Straße", "e\u0301e\u0301n\u0303",
    "\u0301the", " \u0301the", "👩\u200d👩\u200d👧👍🏽", "☝🏿 'the", "\u00a0the", "\u00a0\u00a0the", " \u00a0the", "\u00a0 the",
    "the\u2003\u2003the", "\u3000\u3000", "\u1680the\u180ethe\u200bthe\ufeffthe", "\x01the\x1f\x1fthe\x7f\x85the\x85\x85",
    "שלום عالم \u202ethe\u202c", "\tthe\t\tthe \t the", "\\ud83d\\ude00", "\ufffd\ufffe\uffff\U0010ffff", "<s> the </s> <unk>",
    "ĠtheĊ", " " * 40 + "the" + " " * 41, "'" * 30 + "ve", "the" * 30, "\ue000've"]


def literal(text):
    """Returns @text as one C string literal."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else "\\%03o" % b for b in text.encode()) + '"'


def lines(text, width=90):
    return "\n".join(literal(text[i:i + width]) for i in range(0, len(text), width)) or '""'


bpe = tokenizers.ByteLevelBPETokenizer()
bpe.train_from_iterator(TEXT, vocab_size=360, min_frequency=2, special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
with tempfile.TemporaryDirectory() as folder:
    bpe.save_model(folder)
    with open(os.path.join(folder, "vocab.json"), encoding="utf-8") as file:
        pieces = json.dumps(json.load(file), ensure_ascii=True)
    with open(os.path.join(folder, "merges.txt"), encoding="utf-8") as file:
        merges = file.read()
    bpe = tokenizers.ByteLevelBPETokenizer(*(os.path.join(folder, name) for name in ("vocab.json", "merges.txt")))

print("/* SPDX-License-Identifier: MIT */")
print("/* A small byte-level BPE, and the ids of texts by the package tokenizers: byte-pair-cases.py wrote it. */")
print("#pragma once\n")
print(f"#define BYTE_PAIR_SIZE {bpe.get_vocab_size()}\n")
print(f"static const char byte_pair_vocabulary[] = {lines(pieces)};\n")
print(f"static const char byte_pair_merges[] = {lines(merges)};\n")
print("static const struct { const char *text; int n; int ids[64]; } byte_pair_cases[] = {")
for text in CASES:
    ids = bpe.encode(text).ids
    assert len(ids) <= 64
    print(f"  {{ {literal(text)}, {len(ids)}, {{ {', '.join(map(str, ids)) or 0} }} }},")
print("};")
