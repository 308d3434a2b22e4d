#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints sacrebleu-cases.h: odd texts with the values that sacreBLEU itself gives them.

The tests run without this script. To renew the table with a newer sacreBLEU:

    python3 -m venv /tmp/sacrebleu && /tmp/sacrebleu/bin/pip install sacrebleu
    /tmp/sacrebleu/bin/python tests/evaluate/sacrebleu-cases.py > tests/evaluate/sacrebleu-cases.h
"""

import logging
import random

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_intl import TokenizerV14International
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

logging.disable(logging.CRITICAL)


def drawn_corpora():
    """Returns texts of few words in many orders. They reach Tercom's limits on shifts. Their edits leave the diagonal."""
    draw = random.Random(1)
    corpora = []
    for words, lengths in ((6, (12, 12)), (12, (40, 36)), (40, (70, 80)), (3, (30, 30)), (30, (5, 150)), (30, (150, 5))):
        texts = [[" ".join(f"w{draw.randrange(words)}" for _ in range(length)) for _ in range(2)] for length in lengths]
        corpora.append((f"drawn from {words} words", texts[0], [texts[1]]))
    for words in (20, 60):
        reference = [f"w{draw.randrange(words)}" for _ in range(45)]
        for _ in range(2):
            hypothesis = list(reference)
            for _ in range(4):
                start, length = draw.randrange(40), draw.randrange(1, 12)
                moved = hypothesis[start:start + length]
                del hypothesis[start:start + length]
                to = draw.randrange(len(hypothesis))
                hypothesis[to:to] = moved
            del hypothesis[draw.randrange(20)]
            corpora.append((f"moved, of {words} words", [" ".join(hypothesis)], [[" ".join(reference)]]))
    return corpora


# Name, hypotheses, reference sets (None: the set lacks the sentence).
CORPORA = [
    ("plain", ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
     [["The dog bit the man.", "It was not surprising.", "The man had just bitten him."]]),
    ("two references", ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
     [["The dog bit the man.", "It was not surprising.", "The man had just bitten him."],
      ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."]]),
    ("three references of differing length", ["a b c d e f", "a b"],
     [["a b c d e", "a"], ["a b c d e f g", "a b c"], ["a x c d e f g h", ""]]),
    ("references equally near, the longer first", ["a b c d e f", "u v"],
     [["a b c d e f g", "u v w"], ["a b c d e", "u"]]),
    ("references equally bad", ["abc def", "the cat sat"], [["uvwxyz", "the cat sits"], ["rs", "a cat sits there"]]),
    ("some references missing", ["the cat sat on the mat", "a dog", "so it goes"],
     [["the cat sat on a mat", "a dog", "so it goes"], [None, "the dog", None], ["a cat sat", None, None]]),
    ("perfect", ["one two three four five"], [["one two three four five"]]),
    ("nothing matches", ["alpha beta gamma delta"], [["one two three four"]]),
    ("one word", ["dog"], [["dog"]]),
    ("one word of two", ["dog"], [["dog cat"]]),
    ("two words", ["a dog"], [["a dog"]]),
    ("three words", ["a big dog"], [["a big dog"]]),
    ("unigrams alone match", ["a b c d e f g h"], [["h g f e d c b a"]]),
    ("bigrams alone match", ["a b x c d y e f"], [["a b u c d v e f"]]),
    ("trigrams alone match", ["a b c x d e f"], [["a b c y d e f"]]),
    ("empty hypothesis", [""], [["a b c d"]]),
    ("empty reference", ["a b c d"], [[""]]),
    ("both empty", [""], [[""]]),
    ("some empty", ["", "a b c d e", "x"], [["a b", "a b c d e", ""]]),
    ("blank hypothesis", [" \t\u00a0\u2003\u3000 "], [["a b c d"]]),
    ("brevity", ["the cat sat on"], [["the cat sat on the mat in the hall today"]]),
    ("too long", ["the cat sat on the mat in the hall today"], [["the cat sat on"]]),
    ("clipping", ["the the the the the the the"], [["the cat is on the mat"]]),
    ("punctuation", ['He said: "No!" (twice) -- to-day; 50% of {them} [all] <b> a/b c\\d e^f g_h i|j k~l m`n.'],
     [['He said "No", twice - to-day: 50 % of {them}, [all] <b> a/b c\\d e^f g_h i|j k~l m`n.']]),
    ("numbers", ["In 1,000.50 or 3.14 and 1-2-3, 2,5, .5 5. 1.a a.1 1,,2 1..2 10-fold -5 --5 5--"],
     [["In 1,000.50 or 3.14, and 1-2-3 2,5 .5 5 1.a a.1 1,2 1..2 10-fold -5 5-"]]),
    ("ellipses", ["wait... what,. really.,.", "a.b.c. U.S.A. e.g., i.e."],
     [["wait ... what . really", "a.b.c U.S.A, e.g. i.e."]]),
    ("entities", ["&quot;a&quot; &amp; b &lt;c&gt; &amp;lt;d&amp;gt; &amp;amp; &apos;e&apos; &nbsp;"],
     [['"a" & b <c> <d> & \'e\' &nbsp;']]),
    ("skipped", ["a <skipped> b<skipped>c <skip<skipped>ped> d", "x <SKIPPED> y"],
     [["a b c d", "x y"]]),
    ("line breaks", ["multi-\nline text\nhere", "a-\r\nb\r\n", "one\rtwo\x0bthree\x0cfour"],
     [["multiline text here", "a- b", "one two three four"]]),
    ("carriage returns", ["the cat sat on the mat\r", "so it goes\r\n"], [["the cat sat on the mat", "so it goes"]]),
    ("Unicode white space", ["a\u00a0b\u1680c\u2000d\u2003e\u2009f\u200ag\u2028h\u2029i\u202fj\u205fk\u3000l\u0085m"],
     [["a b c d e f g h i j k l m"]]),
    ("separators", ["a\x1cb\x1dc\x1ed\x1fe\x1bf"], [["a b c d e f"]]),
    ("no white space", ["a\u200bb c\ufeffd e\u180ef g\u2060h i\u00adj"], [["a b c d e f g h i j"]]),
    ("byte order mark", ["\ufeffthe cat sat on the mat"], [["the cat sat on the mat"]]),
    ("combining marks", ["cafe\u0301 nai\u0308ve re\u0301sume\u0301 Z\u030c"], [["café naïve résumé Ž"]]),
    ("points after marks", ["cafe\u0301. é, 中. ١. ٣,١ １.２ ½."], [["cafe\u0301 . é , 中 . ١ . ٣ , ١ １ . ２ ½ ."]]),
    ("Chinese and Japanese", ["我们 去 北京。今天 天气 很 好，", "これは テスト です。"],
     [["我们去 北京。今天 天气 不 好，", "これは テストです 。"]]),
    ("Chinese and others", ["他说：“AI在2024年有3.5%的增长”，—5.", "㐀丽ﬁ\u2001〇①㈱😀𠀀⺀A4纸5.\u3000"],
     [["他说：“AI于2024年有3.5％增长”。—5. ", "㐀丽ﬁ〇①㈱😀𠀀A4 纸5 ."]]),
    ("Arabic and Hebrew", ["مرحبا بالعالم، كيف حالك؟", "שלום עולם, מה שלומך?"],
     [["مرحبا بالعالم كيف حالك؟", "שלום עולם מה שלומך"]]),
    ("emoji", ["good 😀👍🏽 👨\u200d👩\u200d👧 🇩🇪🇫🇷 day ❤\ufe0f", "😀😀😀"], [["good 😀👍 👨\u200d👩 🇩🇪 day ❤", "😀😀"]]),
    ("Czech", ["Žluťoučký kůň úpěl ďábelské ódy.", "Děkuji, že jste přišli!"],
     [["Žluťoučký kůň pěl ďábelské kódy.", "Děkuji že jste přišel."]]),
    ("case", ["The CAT Sat ON The Mat", "ÉCOLE Übung ŽLUŤOUČKÝ"], [["the cat sat on the mat", "école übung žluťoučký"]]),
    ("special case", ["ΟΔΟΣ ΣΑΣ Α.Σ. ΣΣ Σ", "İstanbul IŞIK ẞ ǅ Ⅷ Ⱥ K Ω", "ΑΣ\u0301 ΑΣ\u0301Α"],
     [["οδος σας α.σ. σς σ", "i\u0307stanbul ışık ß ǆ ⅷ ⱥ k ω", "ας\u0301 ασ\u0301α"]]),
    ("words and marks", ["(hi) 'tis \"so\" well, a. . .. --- !x x! é. .é ¿qué? \u2019a"],
     [["( hi ) tis so well , a . ... - x é é qué a"]]),
    ("tokenised text", ["2-3 ' on", "2-3 . The &amp; The dogs dogs '", "&amp;",
                        ", 3.5 sat dogs dogs U.S. U.S. . ) ) mat dogs 2-3", "2-3 sat the U.S. 2-3 The cat dogs &amp;"],
     [["2-3 ' on cat -x-", "2-3 &amp; ( &amp; ) ) dogs . The cat The", "&amp; -x-",
       ", 3.5 sat &amp; the U.S. U.S. . ) ) mat the 2-3 The sat Mat", "2-3 sat the Mat sat The cat dogs on -x- Mat"],
      ["2-3 U.S. on &amp; 3.5 -x- on", "( The The &amp; on dogs dogs ' ) on &amp; , Mat cat &amp; . 3.5 . the Mat .",
       "&amp; 2-3 The Mat , ( Mat the the the dogs été",
       "( 3.5 -x- dogs isn't U.S. U.S. The ) ) mat dogs 2-3 3.5 été -x- 2-3 a , the 2-3 The isn't (",
       "2-3 sat the U.S. 2-3 The ) the &amp; Mat U.S. on"]]),
    ("phrases moved", ["on the mat the cat sat , quietly", "we b c a d e g f h i", "a b c d e f g h i j k l m n",
                       "x y a b c a b c z", "d e f a b c"],
     [["the cat sat quietly on the mat .", "a b c d e f g h i", "k l m n a b c d e f g h i j",
       "a b c z x y a b c", "a b c d e f"]]),
] + drawn_corpora()

METRICS = [
    ("bleu", BLEU()),
    ("bleu:tok=none", BLEU(tokenize="none")),
    ("bleu:smooth=floor", BLEU(smooth_method="floor")),
    ("bleu:smooth=floor,value=0.25", BLEU(smooth_method="floor", smooth_value=0.25)),
    ("bleu:smooth=add-k", BLEU(smooth_method="add-k")),
    ("bleu:smooth=add-k,value=0.5", BLEU(smooth_method="add-k", smooth_value=0.5)),
    ("bleu:smooth=none", BLEU(smooth_method="none")),
    ("bleu:lowercase", BLEU(lowercase=True)),
    ("bleu:tok=none,smooth=none,lowercase", BLEU(tokenize="none", smooth_method="none", lowercase=True)),
    ("bleu:effective", BLEU(effective_order=True)),
    ("chrf", CHRF()),
    ("chrf:lowercase", CHRF(lowercase=True)),
    ("chrf:whitespace", CHRF(whitespace=True)),
    ("chrf:epsilon", CHRF(eps_smoothing=True)),
    ("chrf:beta=3", CHRF(beta=3)),
    ("chrf++", CHRF(word_order=2)),
    ("bleu:tok=intl", BLEU(tokenize="intl")),
    ("bleu:tok=char", BLEU(tokenize="char")),
    ("bleu:tok=zh", BLEU(tokenize="zh")),
    ("chrf:characters=4", CHRF(char_order=4)),
    ("chrf:words=1", CHRF(word_order=1)),
    ("chrf++:characters=2,words=3", CHRF(char_order=2, word_order=3)),
    ("ter", TER()),
    ("ter:case-sensitive", TER(case_sensitive=True)),
    ("ter:no-punctuation", TER(no_punct=True)),
]

LOWER = [
    "PLAIN ascii 123", "ÀÉÎÕÜ Ÿ Œ Þ", "Σ", "ΑΣ", "ΑΣΑ", "ΣΑΣ ΑΣ.", "Α.Σ", "Α.Σ.Α", "ΑΣ\u00ad", "ΑΣ\u0345Β", "1Σ", "ªΣ", "aʰΣ",
    "İ", "İİ", "I\u0307", "ıI", "ẞß", "ǅǄǆ", "ŉ", "ﬁ", "ⅧⅧ", "ȺȾ", "KΩÅ", "ԱՒ", "ᲐᲑ", "Ꭰꭰ", "𐐀𐐁", "𞤀", "Ⰰ", "Ａ", "中", "😀",
]


def c_string(text):
    if text is None:
        return "NULL"
    data = text if isinstance(text, bytes) else text.encode()
    return '"' + "".join(
        chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in data) + '"'


def row(items):
    return f"  {{ {', '.join(items)} }},"


def stripped(lines):
    """Returns the lines as sacreBLEU's command gives them to its metrics."""
    return [None if line is None else line.rstrip() for line in lines]


def main():
    print("/* SPDX-License-Identifier: MIT */\n#pragma once\n")
    print("/* Written by sacrebleu-cases.py. Values are those of sacreBLEU, not of plait. */\n/* clang-format off */\n")
    print(f'#define SACREBLEU_VERSION "version:{sacrebleu.__version__}"\n')

    print("static const struct\n{\n  const char *line, *tokens, *international, *characters, *chinese;\n} token_cases[] = {")
    tokenisers = Tokenizer13a(), TokenizerV14International(), TokenizerChar(), TokenizerZh()
    lines = dict.fromkeys(line for _, hypotheses, sets in CORPORA for part in (hypotheses, *sets) for line in part)
    for line in lines:
        if line is not None:
            print(row(c_string(text) for text in (line, *(" ".join(cut(line).split()) for cut in tokenisers))))
    print("};\n")

    print("static const struct\n{\n  const char *text, *lower;\n} lower_cases[] = {")
    for text in LOWER:
        print(f"  {{ {c_string(text)}, {c_string(text.lower())} }},")
    print("};\n")

    print("static const struct\n{\n  const char *name;\n  guint sentences, sets;\n  const char *hypotheses[5];\n"
          "  const char *references[3][5];\n} corpora[] = {")
    for name, hypotheses, sets in CORPORA:
        print(f"  {{ {c_string(name)}, {len(hypotheses)}, {len(sets)},\n"
              f"    {{ {', '.join(map(c_string, hypotheses))} }},")
        print("    { " + ",\n      ".join("{ " + ", ".join(map(c_string, s)) + " }" for s in sets) + " } },")
    print("};\n")

    metrics, results = {}, []
    for _, hypotheses, sets in CORPORA:
        results.append([])
        for text, metric in METRICS:
            score = metric.corpus_score(stripped(hypotheses), [stripped(lines) for lines in sets])
            line = score.format(width=2, signature=str(metric.get_signature()))
            name, references, rest = line.split("|", 2)
            rest, value = rest.split(" = ", 1)
            metrics.setdefault(text, {(name, rest)}).add((name, rest))
            results[-1].append((references, score.score, value))

    print("/* Metrics, and the parts of their texts before and after the number of references. */")
    print("static const struct\n{\n  const char *metric, *name, *signature;\n} metric_cases[] = {")
    for text, signatures in metrics.items():
        (name, rest), = signatures
        print(row(map(c_string, (text, f"{name}|", f"|{rest} = "))))
    print("};\n")

    print("/* Expected values of each corpus: the number of references, and the score by each metric with the end of its text. */")
    print("static const struct\n{\n  const char *references;\n  struct\n  {\n    double score;\n    const char *text;\n"
          "  } by_metric[G_N_ELEMENTS (metric_cases)];\n} score_cases[G_N_ELEMENTS (corpora)] = {")
    for scores in results:
        references, = {references for references, _, _ in scores}
        print(f"  {{ {c_string(references)}, {{")
        for _, score, value in scores:
            print("  " + row((repr(score), c_string(value))))
        print("    } },")
    print("};")


main()
