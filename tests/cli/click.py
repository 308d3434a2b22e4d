# SPDX-License-Identifier: MIT
"""Opens reports of sample runs (test-report.c) in a browser, chooses and clicks, and checks what is drawn.

Usage: click.py TWO-RUNS.html DESCENT.html DOCUMENT.html WIDE.html
"""
import sys

import browser

LOOK = 'document.getElementById("look")'
TITLES = f'[...{LOOK}.querySelectorAll(".side figcaption")].map((c) => c.textContent)'
BLOCKS = f'[...{LOOK}.querySelectorAll(".sheet .name")].map((c) => c.textContent)'
LINES = f'[...{LOOK}.querySelectorAll(".line")].map((line) => line.children[0].textContent)'
TIP = 'document.querySelector(".tip")'
CURVE = """(() => {
  const curve = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  curve.setAttribute("class", "curve");
  document.body.append(curve);
  const display = getComputedStyle(curve).display;
  curve.remove();
  return display;
})()"""


def check(found, expected):
    if found != expected:
        sys.exit(f"found {found!r}, expected {expected!r}")


def chosen(page, name):
    return page.value(f'document.getElementById("look-{name}").selectedOptions[0].textContent')


def key(page, selector, name):
    page.value(f'document.querySelector("{selector}").focus()')
    page.value(f'document.querySelector("{selector}").dispatchEvent(new KeyboardEvent("keydown", {{ key: "{name}", bubbles: true }}))')


def one_run(page):
    check(chosen(page, "run"), "one")
    check(page.value('document.getElementById("fixed").open'), False)
    check(page.value(LINES), ["0", "1", "2"])
    check(page.value(BLOCKS)[:2], ["en", "fr"])
    check(page.value(TITLES), ["attention to all sources layer 1, mean of 2 heads", "Share of each source in a target token layer 1",
                               "Attention over contexts by decoder layer mean of heads"])
    # Markup in tokens is shown as text, and characters that change the writing direction are replaced.
    check("</script>" in page.value(f'{LOOK}.querySelector(".sheet").textContent'), True)
    check(page.value('document.body.textContent.includes("\\u202e")'), False)
    # A sample of a dashed curve (the ninth run has the first) stands in the line of the run's name.
    check(page.value(CURVE), "inline-block")
    # In the mean over the heads of the last layer, the first target token gives the two tokens of en the weights 1 0.
    key(page, "#look .sheet", "ArrowDown")
    check(page.value(f"{TIP}.textContent"), "▁ein → en: ▁<b>a</b>   1.000")
    key(page, "#look .sheet", "ArrowRight")
    check(page.value(f"{TIP}.textContent"), "▁ein → en: 漢   0.000")
    key(page, "#look .sheet", "Escape")
    check(page.value(f"{TIP}.hidden"), True)


def heads(page):
    page.choose("layer", "0")
    page.choose("head", "1")
    check(page.value(TITLES)[0], "attention to all sources layer 0, head 1")
    # The three target tokens give the two tokens of en the weights .125 .875, 0 1 and .75 .25.
    key(page, "#look .sheet", "ArrowDown")
    check(page.value(f"{TIP}.textContent"), "▁ein → en: ▁<b>a</b>   0.125")
    page.value(f'{LOOK}.querySelector(".side details").open = true')
    page.wait(f'{LOOK}.querySelectorAll(".side details .face").length === 6')
    check(page.value(f'{LOOK}.querySelector(".face[aria-pressed=true]").getAttribute("aria-label")'), "layer 0, head 1")
    page.act(f'{LOOK}.querySelectorAll(".face")[4].click()')
    check(page.value(TITLES)[0], "attention to en layer 1, head 0")
    page.choose("source", "")
    page.choose("layer", "mean")
    page.choose("head", "")
    check(page.value(TITLES)[0], "attention to all sources mean of 2 layers, mean of 2 heads")
    page.choose("layer", "")
    page.choose("weights", "effective")
    check(page.value(TITLES)[0], "attention to all sources, with the second level layer 1")
    key(page, "#look .sheet", "ArrowDown")
    check(page.value(f"{TIP}.textContent"), "▁ein → en: ▁<b>a</b>   0.250")
    page.choose("weights", "own")


def two_runs(page):
    page.choose("beside", "1")
    check(page.value(f'[...{LOOK}.querySelectorAll(".side h3")].map((h) => h.textContent)'), ["one", "two"])
    check(page.value(f'{LOOK}.querySelectorAll(".shown > p .bar").length'), 1)
    page.choose("order", "loss.0")
    scores = page.value(f'[...{LOOK}.querySelectorAll(".line")].map((line) => parseFloat(line.children[1].textContent))')
    check(scores, sorted(scores))
    page.choose("order", "worst.0")
    check(scores, page.value(f'[...{LOOK}.querySelectorAll(".line")].map((line) => parseFloat(line.children[1].textContent))'))
    page.choose("order", "attention")
    check(page.value(LINES), ["0"])
    # One of three rows differs. Its means over two heads, 1 0 and .5 .5, have a divergence of .311 bits.
    check(page.value(f'{LOOK}.querySelector(".line").children[1].textContent'), "0.104 bits")
    page.choose("order", "")
    page.choose("find", "DOGS")
    check(page.value(LINES), ["1"])
    check("two dogs run over green grass" in page.value(f'{LOOK}.querySelector(".shown").textContent'), True)
    page.choose("find", "das kind")
    check(page.value(LINES), ["2"])
    check(page.value(f'[...{LOOK}.querySelectorAll(".shown tr:first-child > *")].map((e) => e.textContent)'), ["en", "das Kind", ""])
    page.choose("find", "no such words")
    check(page.value(LINES), [])
    page.choose("find", "")
    before = page.value('location.hash')
    key(page, "#look .sentences", "Home")
    page.wait(f'{LOOK}.querySelector("[aria-selected=true]").children[0].textContent === "0"')
    check("beside=1" in before, True)


def addresses(page):
    """Checks that the page is drawn with any text after the # of its address, and ignores unknown text."""
    # Each address counts as two, and a browser follows at most 200 in ten seconds.
    names, more = ["__proto__", "constructor", "length", "-1", "1.5", "9"], ["toString", "01", "NaN", "%00", "%"]
    keys = ["run", "beside", "split", "order", "layer", "head", "weights", "scale", "word", "source", "sentence", "find"]
    fragments = [f"{key}={name}" for key in keys for name in names] + [f"run={name}" for name in more]
    fragments += [f"{name}=1" for name in names[:3]]
    fragments += ["run=1&order=best.length", "order=best.__proto__", "order=attention", "beside=1&order=gain.at", "run=0&run=__proto__"]
    page.open(sys.argv[1], "?addresses")
    page.wait(f"{LOOK}.dataset.drawn")
    for fragment in fragments:
        page.act("location.hash = " + repr("#other=&" + fragment))
        check((fragment, page.errors), (fragment, []))
        if fragment.startswith(("run=", "layer=", "order=", "weights=")) and fragment not in ("run=1&order=best.length", "layer=9"):
            usual = [chosen(page, name) for name in ("run", "layer", "order", "weights")]
            check((fragment, usual), (fragment, ["one", "last layer", "in order", "of each attention"]))


def descent(page):
    """Checks the pyramid of a word: its levels, cells of weighed rows, and the frame of a row that is not weighed."""
    picture = f'[...{LOOK}.querySelectorAll(".side figure")].at(-1)'
    check(page.value(f"{picture}.querySelector('figcaption').textContent"), "descent to en layer 0, mean of 2 heads")
    check(page.value(f"[...{picture}.querySelectorAll('.words button')].map((b) => b.textContent)"), ["▁ein", "Mann"])
    check(page.value(f"[...{picture}.querySelectorAll('.tick')].map((t) => t.textContent)"), ["level 2", "level 1", "leaves"])
    titles = f"[...{picture}.querySelectorAll('.cell title')].map((t) => t.textContent)"
    check(page.value(titles)[-2:], ["a … d: 0.502; 1 of 2", "e: 0.502; 1 of 2"])
    check(page.value(f"[...{picture}.querySelectorAll('.cell.way')].at(-1).getAttribute('fill-opacity')"), "0.53")
    check(page.value(f"[...{picture}.querySelectorAll('.unseen title')].map((t) => t.textContent)")[2], "<i>c</i>: not weighed")
    first = page.value(titles)
    page.act(f"{picture}.querySelectorAll('.words button')[1].click()")
    check(page.value(f"{picture}.querySelector('[aria-pressed=true]').textContent"), "Mann")
    check(page.value(titles) == first, False)


def document(page):
    """Checks that sentences have their first words as labels, and that tokens of the heaviest sentences are shown."""
    page.act(f"[...{LOOK}.querySelectorAll('.line')].find((line) => line.children[0].textContent === '1').click()")
    check(page.value(BLOCKS), ["a.tokens", "a.sentences"])
    check(page.value(f"{LOOK}.querySelector('.sheet').textContent.includes('40: the first wo…')"), True)
    check(page.value(f"[...{LOOK}.querySelectorAll('.side figure .dim.small')].map((p) => p.textContent)"),
          ["a.tokens: the heaviest sentences: 0, 40, 80, 120, 160"])
    page.choose("source", "a.sentences")
    check(page.value(TITLES)[0], "a.sentences layer 0, mean of 2 heads, the 16 heaviest of 200")


def wide(page):
    check("<wide> has too many values to be drawn." in page.value(f"{LOOK}.querySelector('.side').textContent"), False)
    page.act(f"[...{LOOK}.querySelectorAll('.line')].find((line) => line.children[0].textContent === '1').click()")
    check("<wide> has too many values to be drawn." in page.value(f"{LOOK}.querySelector('.side').textContent"), True)


def main():
    if not browser.find():
        sys.exit(77)
    with browser.Page() as page:
        page.open(sys.argv[1])
        page.wait(f"{LOOK}.dataset.drawn")
        one_run(page)
        heads(page)
        two_runs(page)
        page.value("localStorage === null || 0")
        check(page.errors, [])
        check([url for url in page.requests if not url.startswith("file:")], [])
        # The user's selection is after the # of the address.
        page.open(sys.argv[1], "?again#run=1&layer=0")
        page.wait(f"{LOOK}.dataset.drawn")
        check((chosen(page, "run"), chosen(page, "layer")), ("two", "layer 0"))
        addresses(page)
        for path, look in zip(sys.argv[2:], (descent, document, wide), strict=True):
            page.open(path)
            page.wait(f"{LOOK}.dataset.drawn")
            look(page)
            check(page.errors, [])
    with browser.Page(width=390) as page:
        page.open(sys.argv[1], "#beside=1")
        page.wait(f"{LOOK}.dataset.drawn")
        check(page.value(f"{LOOK}.scrollWidth <= {LOOK}.clientWidth"), True)
    with browser.Page(width=390, script=False) as page:
        page.open(sys.argv[1])
        check(page.value('document.getElementById("fixed")?.open ?? "no script"'), True)
        check(page.value('document.getElementById("unscripted").checkVisibility()'), True)
        check(page.value('document.getElementById("fixed").textContent.includes("two dogs run under green grass")'), True)


main()
