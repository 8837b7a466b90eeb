#!/usr/bin/env python3
"""Reports in a real browser: nothing is loaded, nothing hostile runs, everything fits and can be read, tables sort by a click,
timelines and pictures answer. With --pictures DIR the screenshots are left there.
usage: test_pages.py [--make PROGRAM --work DIR] [--pictures DIR] [PAGE.html...]"""
import argparse
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading

import browser as browsers

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77  # what CTest takes for "skipped"
SIZES = ((390, 844), (1280, 800))
SCHEMES = ("light", "dark")
# The first of HostileNames() in make_pages.cc, as a reader must see them.
HOSTILE = ("</script><script>document.title='owned'</script>", "\"><img src=x onerror=\"document.title='owned'\">")
DIRECTION_MARKS = ("\u202e", "\u202c")


class Checks:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, text):
        self.count += 1
        if not good:
            self.failed += 1
            print(f"FAILED: {text}", flush=True)

    def equal(self, found, expected, what):
        self.check(found == expected, f"{what}: expected {expected!r}, found {found!r}")


class Listener:
    """A server on this machine that counts who asks it for something."""

    def __init__(self):
        listener = self
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                listener.asked.append(self.path)
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def requests_of(events):
    urls = [e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent"]
    return [u for u in urls if not u.startswith("data:")]


def complaints_of(events):
    said = [e["params"]["entry"]["text"] for e in events if e.get("method") == "Log.entryAdded"]
    return said + [str(e["params"]["exceptionDetails"]) for e in events if e.get("method") == "Runtime.exceptionThrown"]


def check_look(t, browser, path, look, pictures):
    name = os.path.basename(path)[:-len(".html")]
    for width, height in SIZES:
        for scheme in SCHEMES:
            what = f"{name} at {width}x{height} {scheme}"
            events = browser.open(path, width, height, scheme)
            t.equal(requests_of(events), ["file://" + os.path.abspath(path)], f"{what}: requests")
            t.equal(complaints_of(events), [], f"{what}: complaints")
            t.equal(browser.eval(look), [], f"{what}: look")
            dark = browser.eval("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 21)"
            t.equal(dark, scheme == "dark", f"{what}: dark")
            if pictures:
                browser.picture(os.path.join(pictures, f"{name}_{width}_{scheme}.png"))


def check_hostile(t, browser, name):
    t.check("npukit" in browser.eval("document.title"), f"{name}: its title is {browser.eval('document.title')!r}")
    scripts = browser.eval("Array.from(document.scripts, s => s.type)")
    t.equal([s for s in scripts if s != "application/json"], [""], f"{name}: scripts that run")
    t.equal(browser.eval("document.querySelectorAll('img, iframe, object, embed, base, form, [style]:not(.photo svg), [onerror], [onload], "
                         "[onmouseover], [onclick]').length"), 0, f"{name}: elements nobody wrote")
    text = browser.eval("document.body.textContent")
    for hostile in HOSTILE:
        t.check(hostile in text, f"{name}: {hostile!r} is not shown as it is")
    for mark in DIRECTION_MARKS:
        t.check(mark not in text, f"{name}: a direction mark is left")
    t.check("x" * 700 not in text, f"{name}: a name of 10000 characters is not cut")


def check_policy(t, browser, name, listener):
    """Even if something hostile got in, the page's policy stops it."""
    for attempt in (f"fetch('{listener.url}fetch').catch(() => 0)",
                    f"new Promise(r => {{ const i = new Image(); i.onload = i.onerror = r; i.src = '{listener.url}img'; }})",
                    f"new Promise(r => {{ const s = document.createElement('script'); s.onload = s.onerror = r;"
                    f" s.src = '{listener.url}script'; document.head.append(s); }})",
                    f"new Promise(r => {{ const l = document.createElement('link'); l.rel = 'stylesheet'; l.onload = l.onerror = r;"
                    f" l.href = '{listener.url}style'; document.head.append(l); }})",
                    "(() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1'; document.body.append(s); })()",
                    "(() => { const d = document.createElement('div'); d.innerHTML = '<b onclick=\"window.owned=1\">x</b>';"
                    " document.body.append(d); d.firstChild.click(); })()"):
        browser.eval(f"(async () => {{ await ({attempt}); return 0; }})()")
    t.equal(listener.asked, [], f"{name}: asked for over the network")
    t.equal(browser.eval("window.owned"), None, f"{name}: a script of somebody else ran")


COLUMN = ("Array.from(document.querySelectorAll('.table')[{table}].querySelectorAll('tbody tr'),"
          " r => r.cells[{column}].dataset.v === undefined ? null : Number(r.cells[{column}].dataset.v))")


def check_sorting(t, browser, path, width, height, name):
    browser.open(path, width, height, "light")
    tables = browser.eval("Array.from(document.querySelectorAll('.table'), c => [c.querySelectorAll('tbody tr').length,"
                          " Array.from(c.querySelectorAll('th'), h => h.classList.contains('n'))])")
    for table, (rows, numbers) in enumerate(tables):
        if rows < 2 or True not in numbers:
            continue
        column = numbers.index(True)
        what = f"{name} at {width}: table {table}, column {column}"
        values = COLUMN.format(table=table, column=column)
        button = f"document.querySelectorAll('.table')[{table}].querySelectorAll('th')[{column}].querySelector('button')"
        before = browser.eval(values)
        known = [v for v in before if v is not None]
        unknown = [None] * (len(before) - len(known))
        browser.click(button)
        t.equal(browser.eval(values), sorted(known, reverse=True) + unknown, f"{what}: after one click")
        t.equal(browser.eval(f"{button}.parentElement.getAttribute('aria-sort')"), "descending", f"{what}: aria-sort")
        browser.click(button)
        t.equal(browser.eval(values), sorted(known) + unknown, f"{what}: after two clicks")
        browser.click(button)
        t.equal(browser.eval(values), before, f"{what}: after three clicks")
        browser.eval(f"{button}.focus()")
        browser.key("Enter", "Enter", 13, "\r")
        t.equal(browser.eval(values), sorted(known, reverse=True) + unknown, f"{what}: by the keyboard")


def check_search(t, browser, name):
    box = "document.querySelector('.search')"
    if not browser.eval(f"{box} !== null"):
        return
    card = f"{box}.closest('.table')"
    rows = f"Array.from({card}.querySelectorAll('tbody tr'))"
    word = "conv_2"
    texts = browser.eval(f"{rows}.map(r => r.textContent.toLowerCase())")
    expected = sum(word in text for text in texts)
    browser.click(box)
    browser.type("CONV_2")
    t.equal(browser.eval(f"{rows}.filter(r => !r.hidden && r.checkVisibility()).length"), expected, f"{name}: rows found")
    t.check(0 < expected < len(texts), f"{name}: {expected} of {len(texts)} rows hold {word}")
    t.equal(browser.eval(f"{card}.querySelector('.shown').textContent"), f"{expected} of {len(texts)} rows", f"{name}: count")


def check_colours(t, browser, path, name):
    browser.open(path, 1280, 800, "light")
    ground = "getComputedStyle(document.body).backgroundColor"
    day = browser.eval(ground)
    browser.click("document.getElementById('colours')")
    night = browser.eval(ground)
    t.check(day != night, f"{name}: the button changes nothing")
    browser.click("document.getElementById('colours')")
    t.equal(browser.eval(ground), day, f"{name}: the button back")
    browser.open(path, 1280, 800, "dark")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    t.equal(browser.eval(ground), "rgb(255, 255, 255)", f"{name}: on paper")


def ink(track):
    """Pixels of a track's canvas that something is drawn on."""
    return ("(() => { const c = document.querySelectorAll('.track canvas')[" + str(track) + "];"
            " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            " let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; })()")


def check_timeline(t, browser, path, width, height, name):
    browser.open(path, width, height, "light")
    if not browser.eval("document.querySelector('.timeline') !== null"):
        return
    data = json.loads(browser.eval("document.querySelector('.timeline .data').textContent"))
    t.equal(len(data["tracks"]), browser.eval("document.querySelector('.timeline').querySelectorAll('.track').length") - 1,
            f"{name}: tracks")
    for track in range(len(data["tracks"]) + 1):
        t.check(browser.eval(ink(track)) > 30, f"{name} at {width}: nothing is drawn on track {track}")
    # The longest span of the first track, clicked in its middle: told, and its row marked.
    spans = data["tracks"][0]
    start, length, text, task, _ = max((spans[i:i + 5] for i in range(0, len(spans), 5)), key=lambda s: s[1])
    browser.eval("document.querySelector('.timeline').scrollIntoView({block: 'center', behavior: 'instant'})")
    left, wide, top, high = browser.eval("(() => { const b = document.querySelectorAll('.track canvas')[1].getBoundingClientRect();"
                                         " return [b.left, b.width, b.top, b.height]; })()")
    x = left + wide * (start + length / 2) / data["end"]
    browser.click_at(x, top + high / 2)
    t.equal(browser.eval("document.querySelector('.tell b').textContent"), data["names"][text], f"{name} at {width}: told")
    t.check("modelled" in browser.eval("document.querySelector('.tell').textContent"), f"{name}: the kind is told")
    rows = browser.eval("document.querySelectorAll('tr[data-of]').length")
    t.equal(browser.eval("Array.from(document.querySelectorAll('tr.marked'), r => Number(r.dataset.task))"),
            [task] if rows else [], f"{name} at {width}: rows marked")
    # Zoomed in by the button, other bars are drawn.
    drawn = "document.querySelectorAll('.track canvas')[1].toDataURL()"
    before = browser.eval(drawn)
    for _ in range(5):
        browser.click("document.querySelectorAll('.timeline .tools button')[1]")
    t.check(browser.eval(ink(0)) > 0 and browser.eval(drawn) != before, f"{name} at {width}: zooming draws nothing new")
    browser.eval("document.querySelector('.rows').focus()")
    browser.key("Escape", "Escape", 27)
    browser.key("n", "KeyN", 78, "n")
    first = data["names"][data["tracks"][0][2]]
    t.equal(browser.eval("document.querySelector('.tell b').textContent"), first, f"{name} at {width}: the first by key")


def check_picture(t, browser, path, width, height, name):
    browser.open(path, width, height, "light")
    figure = "document.querySelector('.picture:has(.box)')"
    if not browser.eval(f"{figure} !== null"):
        return
    count = browser.eval(f"{figure}.querySelectorAll('.box').length")
    t.check(browser.eval(f"{figure}.querySelector('image').getBoundingClientRect().width") > 200, f"{name}: the photo")
    said = f"{figure}.querySelector('.said').textContent"
    for i in sorted({0, min(3, count - 1)}):
        text = browser.eval(f"{figure}.querySelectorAll('.lines li')[{i}].querySelector('bdi').textContent")
        browser.click(f"{figure}.querySelectorAll('.box polygon')[{i}]")
        t.equal(browser.eval(said), text, f"{name} at {width}: box {i} says")
        t.equal(browser.eval(f"Array.from({figure}.querySelectorAll('.lines li')).findIndex(l => l.classList.contains('on'))"), i,
                f"{name} at {width}: line of box {i}")
    if count > 1:  # the one that is kept would be let go
        browser.click(f"{figure}.querySelectorAll('.lines button')[0]")
        t.equal(browser.eval(f"Array.from({figure}.querySelectorAll('.box')).findIndex(b => b.classList.contains('on'))"), 0,
                f"{name} at {width}: box of the first line")


def check_bars(t, browser, path, name):
    """The parts drawn fill the bar, and those written add up to the total written beside it."""
    browser.open(path, 1280, 800, "light")
    bars = browser.eval("Array.from(document.querySelectorAll('.bar'), b => ["
                        "b.querySelector('figcaption span').firstChild.textContent,"
                        "Array.from(b.querySelectorAll('.legend li'), l => l.querySelectorAll('span')[1].textContent),"
                        "Array.from(b.querySelectorAll(':scope > svg rect'), r => [Number(r.getAttribute('x')), Number(r.getAttribute('width'))])])")
    t.check(len(bars) > 0 or name.startswith(("picture", "ocr")), f"{name}: no bar")
    for total, parts, rects in bars:
        numbers = [float(re.sub(r"[^\d.]", "", p)) for p in parts]
        total = float(re.match(r"[\d.]+", re.sub("\u202f", "", total)).group())
        t.check(abs(sum(numbers) - total) < 1e-6 * max(1, total) + 0.005, f"{name}: {numbers} add up to {sum(numbers)}, not {total}")
        if total:
            last = max(x + w for x, w in rects)
            t.check(rects[0][0] == 0 and 997 <= last <= 1000.01, f"{name}: the bar is drawn from {rects[0][0]} to {last} of 1000")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make")
    parser.add_argument("--work")
    parser.add_argument("--pictures")
    parser.add_argument("pages", nargs="*")
    args = parser.parse_args()
    program = browsers.find()
    if program is None:
        print("SKIPPED: no Chromium: ./dev setup --all installs it")
        return SKIPPED
    if args.pictures:
        os.makedirs(args.pictures, exist_ok=True)
    with open(os.path.join(HERE, "look.js"), encoding="utf-8") as f:
        look = f.read()
    t, listener = Checks(), Listener()
    ours = []
    if args.make:
        shutil.rmtree(args.work, ignore_errors=True)
        os.makedirs(args.work)
        subprocess.run([args.make, args.work], check=True)
        ours = sorted(os.path.join(args.work, n) for n in os.listdir(args.work) if n.endswith(".html"))
        t.equal(len(ours), 5, "pages made")
    with browsers.Browser(program) as browser:
        for path in ours + args.pages:
            name = os.path.basename(path)[:-len(".html")]
            check_look(t, browser, path, look, args.pictures)
            if path in ours:
                check_hostile(t, browser, name)
            for width, height in SIZES:
                check_timeline(t, browser, path, width, height, name)
                check_picture(t, browser, path, width, height, name)
                check_sorting(t, browser, path, width, height, name)
            if path in ours:
                check_search(t, browser, name)
            check_colours(t, browser, path, name)
            check_bars(t, browser, path, name)
            check_policy(t, browser, name, listener)
    print(f"{t.count} checks, {t.failed} failed", flush=True)
    return 0 if t.count and not t.failed else 1


if __name__ == "__main__":
    sys.exit(main())
