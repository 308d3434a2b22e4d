# SPDX-License-Identifier: MIT
"""Rules of format that clang-format leaves open: a test for NULL is !x, numbers print in one way, no comment has a
stray line, and no string is broken early."""
import re

from sources import files, read

OPERAND = r"[\w>.\[\]*-]+(?: \([^()]*\))?"
UNEVEN = [
    (r"== NULL\b|\bNULL [!=]=", "x == NULL is written !x"),
    (r"!= NULL\s*(?:&&|\|\||\?)", "as a condition, x != NULL is written x"),
    (rf"(?:&&|\|\|)\s+{OPERAND} != NULL(?!\)? [!=]=)", "as a condition, x != NULL is written x"),
    (rf"\b(?:if|while) \({OPERAND} != NULL\)", "as a condition, x != NULL is written x"),
    (r"\bG_G(?:U?INT64|S?SIZE)_(?:FORMAT|MODIFIER)\b", "64-bit numbers print by %jd and %ju, sizes by %zu"),
    (r"^#(?!\s*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|pragma|error|warning)\b)", "a line begins with #"),
    (r"__builtin_shuffle\b", "only GCC has __builtin_shuffle; SHUFFLE of core/engine/kernels/vector.h works with clang too"),
    (r"^ +(?:const )?\w+\n +\*\w+;", "a type is alone on its line: the comment after it is too long"),
]


def code(text):
    """Returns @text with comments and strings blanked."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', lambda match: re.sub(r"[^\n]", "~", match.group()), text, flags=re.S)


def stray_lines(text):
    """Yields the numbers of comment lines that clang-format left over when it broke a longer line."""
    lines = text.split("\n")
    for i, line in enumerate(lines[:-1]):
        this, after = line.strip(), lines[i + 1].strip()
        if not this.startswith(("/* ", "* ")) or "*/" in this:
            continue
        begin = next(j for j in range(i, -1, -1) if lines[j].strip().startswith("/*"))
        # The rest of a broken row of a table begins at the margin, and the next row follows on its line.
        if re.match(r"\* \S.*\S {3,}\S", this):
            yield i + 1
        if after == "*/" and lines[begin].strip() != "/*":
            yield i + 2
        if after.startswith("* @") and len(line) + len(after.split()[1]) < 96 and not this.endswith((".", ":", ";", ",")):
            yield i + 1


def pieces(text):
    """Yields the numbers of lines on which a string literal ends although the next word would fit."""
    lines = text.split("\n")
    for i, line in enumerate(lines[:-1]):
        word = re.match(r' *"((?:\\.|[^"\\ ])* ?)', lines[i + 1])
        ends = line.endswith('"') and not re.search(r'\\(?:n|[0-7]{1,3}|x[0-9a-fA-F]+)"$', line)
        if word and ends and not line.lstrip().startswith(("*", "/*")) and len(line + word.group(1)) <= 120:
            yield i + 1


def problems():
    found = []
    for path in files(".c", ".h", ".cc"):
        text = read(path)
        blanked = code(text)
        for pattern, what in UNEVEN:
            for match in re.finditer(pattern, blanked, re.M):
                found.append(f"{path}:{blanked.count(chr(10), 0, match.start()) + 1}: {what}")
        found += [f"{path}:{number}: a stray line of a comment; break its lines anew" for number in stray_lines(text)]
        if path.startswith(("core/", "plugins/")):
            found += [f"{path}:{number}: a text in pieces; join them and let clang-format part it" for number in pieces(text)]
    return found
