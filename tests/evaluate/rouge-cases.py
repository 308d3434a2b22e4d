#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints rouge-cases.h: texts with the values that the package rouge-score itself gives them.

The tests run without this script. To renew the table with a newer rouge-score:

    python3 -m venv /tmp/rouge && /tmp/rouge/bin/pip install rouge-score
    /tmp/rouge/bin/python tests/evaluate/rouge-cases.py > tests/evaluate/rouge-cases.h
"""

import random
from importlib.metadata import version

from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]

# A hypothesis and its references.
TEXTS = [
    ("the cat sat on the mat", ["the cat was on the mat"]),
    ("the cat sat on the mat", ["the cat sat on the mat"]),
    ("alpha beta", ["gamma delta"]),
    ("", ["a b c"]),
    ("a b c", [""]),
    ("", [""]),
    ("... --- !", ["?"]),
    ("a", ["a"]),
    ("a", ["a b"]),
    ("the the the the", ["the cat the"]),
    ("w1 w2 w3 w4 w5", ["w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"]),
    ("police killed the gunman", ["police kill the gunman", "the gunman police killed", "the gunman was shot down by police"]),
    ("a b c", ["x y", "a b", "a b"]),
    ("a b c d", ["a b x y", "c d a b"]),
    ("It's U.S.-made, 3.5% (twice)", ["it s us made 35 twice"]),
    ("naïve café ÉCOLE", ["naive cafe ecole"]),
    ("Žluťoučký kůň", ["žluťoučký kůň"]),
    ("K Å İstanbul IŞIK", ["k å i stanbul isik"]),
    ("snake_case CamelCase x86-64 C++", ["snake case camelcase x86 64 c"]),
    ("a\tb\u00a0c\u2028d\rf", ["a b c d f"]),
    ("我们 去 北京", ["我们 去 北京"]),
    ("the cat sat.\n\n\nthe dog ran.\n", ["the dog ran.\nthe cat sat."]),
    ("one\n...\ntwo", ["two one\n!\n"]),
    ("a b a b a b\nb a b", ["b a\na b a", "a a a a\nb b"]),
]

# Words for every rule, its conditions met and not, and words that are not words.
WORDS = """
caresses ponies ties dies lies flies tied died spied caress cats gas ss s
feed agreed seed plastered bled motoring sing king used using uses owed added thing need exceed proceeded
conflated troubled sized hopping tanned falling hissing fizzed failing filing egged awed ebbing
happy sky skies enjoy enjoyed enjoyment display displays displaying play they try trying tries by say yy yyyy yyying
relational conditional rational valenci hesitanci digitizer conformabli possibly possible visibly visible
radicalli traditionally additionally differentli vileli analogousli vietnamization predication operator
feudalism decisiveness hopefulness hopefully callousness formaliti sensitiviti sensibiliti
technology technologies technological biology archaeology geology theology apologi logi
triplicate formative formalize electriciti electrical hopeful goodness
revival allowance inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent
adoption decision opinion fusion homologou communism activate angulariti homologous effective bowdlerize
probate rate cease controll roll late are eve ice ore use all ill well
dying lying tying news innings inning outings outing cannings canning howe proceed succeed
oed eed ing ed ies ied sses 123 3ing x86 4444 2nds aaaa bbbb ational fulness eli
""".split()

SEED = 1
RANDOM = 80


def random_text(draw, most_lines):
    words = "abcdefgh"[: draw.randint(2, 8)]
    lines = [" ".join(draw.choices(words, k=draw.randint(0, 10))) for _ in range(draw.randint(1, most_lines))]
    return "\n".join(lines)


def texts():
    draw = random.Random(SEED)
    yield from TEXTS
    for i in range(RANDOM):
        lines = 1 + i % 4
        yield random_text(draw, lines), [random_text(draw, lines) for _ in range(1 + i % 3)]


def c_string(text):
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode()) + '"'


def main():
    scorer = RougeScorer(TYPES)
    print("/* SPDX-License-Identifier: MIT */\n#pragma once\n")
    print(f"/* Written by rouge-cases.py. Values are those of rouge-score {version('rouge-score')}, not of plait. */")
    print("/* clang-format off */\n")
    print("/* Precision, recall and F of 1, 2, L and Lsum. */")
    print("static const struct\n{\n  const char *hypothesis, *references[3];\n  double scores[4][3];\n} rouge_cases[] = {")
    for hypothesis, references in texts():
        scores = scorer.score_multi(references, hypothesis)
        values = ["{ " + ", ".join(map(repr, map(float, scores[name]))) + " }" for name in TYPES]
        print(f"  {{ {c_string(hypothesis)}, {{ {', '.join(map(c_string, references))} }},")
        print("    { " + ",\n      ".join(values) + " } },")
    print("};\n")

    stem = PorterStemmer().stem
    draw = random.Random(SEED)
    words = WORDS + ["".join(draw.choices("abceilnostuy", k=draw.randint(4, 9))) for _ in range(RANDOM)]
    print("static const struct\n{\n  const char *word, *stem;\n} stem_cases[] = {")
    for word in words:
        print(f"  {{ {c_string(word)}, {c_string(stem(word))} }},")
    print("};")


main()
