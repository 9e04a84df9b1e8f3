#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ui.py GPUBPF TOOLS FOLDER [SHOTS]: the page of `timeline --html` in a headless Chromium.

With SHOTS a large capture is opened too, what it took is printed, and screenshots (light and dark) are left there.
"""
import json
import os
import subprocess
import sys

from browser import Browser, find

program, tools, folder = sys.argv[1:4]
shots = sys.argv[4] if len(sys.argv) > 4 else None


def made(name, command, scene=None, options=()):
    capture, page = os.path.join(folder, name), os.path.join(folder, name + ".html")
    subprocess.run([os.path.join(tools, command[0]), *command[1:], capture], input=scene, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "timeline", "-q", capture, "--html", page, *options], check=True, stderr=subprocess.DEVNULL)
    return capture, page


def result(name, problems):
    for p in problems:
        print("#", str(p)[:600])
    print(("not ok " if problems else "ok ") + name, flush=True)


def wrong(what, got, wanted):
    return [] if got == wanted else [f"{what}: {got!r}, not {wanted!r}"]


def quiet(b):
    return [f"asked for {u}" for u in b.requests()] + [f"complains: {c}" for c in b.complaints()]


def reported(capture):
    text = subprocess.run([program, "report", capture], capture_output=True, check=True).stdout.decode()
    return text.split("\n\n")[0].rstrip("\n")


def exported(capture):
    return json.loads(subprocess.run([program, "export", "--format", "json", capture], capture_output=True, check=True).stdout)["tables"]


VERDICT = """(() => { const v = document.getElementById('verdict');
    return [v.querySelector('summary').textContent, ...[...document.getElementById('reasons').children].map(e => e.textContent)].join('\\n'); })()"""


def reads_what_was_exported(b):
    bad = []
    with open("tests/e2e/golden/device.scene", "rb") as f:
        scene = f.read()
    for name, command, text in (("scene", ["mkscene"], scene), ("dev", ["mkdevice", "--calls", "3000", "--zero", "500", "--processes", "2"], None),
                                ("host", ["mkcapture", "--calls", "500"], None)):
        capture, page = made(name, command, text)
        told, tables = b.open(page), exported(capture)
        if "error" in told:
            bad.append(f"{name}: {told['error']}")
            continue
        bad += quiet(b)
        ran = [x["duration_ns"] for x in tables["executions"]]
        bad += wrong(f"{name}: counts", (told["calls"], told["gpu"], told["gpu_ns"]), (len(tables["calls"]), len(ran), sum(filter(None, ran))))
        kernels, keys = {k["id"]: k for k in tables["launch_keys"] + tables["kernels"]}, {}
        for x in tables["executions"]:
            if x["kind"] == "kernel":
                k = kernels[x["kernel"]]
                keys.setdefault((k["name"], f"{k['grid_x']}×{k['grid_y']}×{k['grid_z']}", k.get("cluster_x")), []).append(x["duration_ns"])
        ours = sorted((k["name"], k["grid"], k["count"], k["timed"], k["total"], k["min"], k["max"]) for k in told["keys"] if k["grid"])
        theirs = sorted((n, g, len(v), len(t), sum(t), min(t, default=None), max(t, default=None)) for (n, g, _), v in keys.items()
                        for t in [[d for d in v if d is not None]])
        bad += wrong(f"{name}: launch keys", ours, theirs)
        bad += wrong(f"{name}: verdict", b.js(VERDICT), reported(capture))
        bad += wrong(f"{name}: rows of the table", b.js("document.querySelectorAll('#table tbody tr').length"), len(told["keys"]))
    b.open(os.path.join(folder, "host.html"))
    bad += wrong("without a device", b.js("document.getElementById('table-note').textContent"), "no device observer: what ran on a GPU was not measured")
    result("ui_reads_what_was_exported_R2_R24", bad)


# Both of two kernels that overlap in one stream are seen, each where it is picked.
def draws_what_there_is(b):
    b.open(os.path.join(folder, "scene.html"))
    bad = []
    names = b.js("""(() => { const s = gpubpf, t = s.t, found = []; s.draw();
        for (let e = 0; e < t.n; e++) {
            s.all(); s.draw();
            if ((t.head[e] >> 3 & 7) !== 2 || t.end[e] - t.start[e] < 40000) continue;
            s.reveal(e); s.draw();
            const [x, y] = s.spot(e), p = s.canvas.getContext('2d').getImageData(Math.round(x) + 2, Math.round(y) + 6, 1, 1).data;
            found.push([t.names[t.name[e]], '#' + [p[0], p[1], p[2]].map(v => v.toString(16).padStart(2, '0')).join(''), s.painter.colour(e), t.row[e]]);
        }
        return found; })()""")
    bad += [f"{n} is drawn {c}, not {w}" for n, c, w, _ in names if c != w]
    overlapping = {y for n, _, _, y in names if n == "reduce(float*)"}
    if len(names) < 8 or len(overlapping) < 2:
        bad.append(f"found {names}")
    x, y, name = b.js("(() => { const s = gpubpf; s.all(); s.view.y = 0; s.draw(); const e = s.keys[0] && s.t.keyOf.indexOf(s.keys[0].number); return [...s.spot(e), s.t.names[s.t.name[e]]]; })()")
    top = b.js("document.getElementById('lanes').getBoundingClientRect().top")
    b.click(x, top + y)
    b.frame()
    bad += wrong("picked", b.js("document.querySelector('#facts h3').textContent"), name)
    facts = b.js("Object.fromEntries([...document.querySelectorAll('#facts dt')].map(e => [e.textContent, e.nextSibling.textContent]))")
    for key in ("start", "duration", "where", "correlation", "join with its call", "timing source", "clock"):
        if key not in facts:
            bad.append(f"no {key} in {facts}")
    if "wall time" in facts:
        bad.append("a capture without clock pairs has a wall time (R23)")
    b.js("document.querySelector('#facts button').click()")
    bad += wrong("its call", (b.js("gpubpf.t.head[gpubpf.selected] >> 3 & 7"), b.js("document.querySelector('#facts button').textContent.slice(0, 1)")), (1, "→"))
    # a chosen time, against each execution looked at by itself
    for a, b_ in ((0.1, 0.6), (0.3, 0.31), (0.745, 0.79), (0, 1)):
        got, want = b.js(f"""(() => {{ const s = gpubpf, t = s.t, at = f => t.first + f * (t.last - t.first), from = at({a}), to = at({b_});
            let ns = 0, n = 0;
            for (let e = 0; e < t.n; e++)
                if ((t.head[e] >> 3 & 7) === 2) {{
                    ns += (t.head[e] & 7) === 3 ? 0 : Math.max(0, Math.min(t.end[e], to) - Math.max(t.start[e], from));
                    n += t.start[e] >= from && t.start[e] < to;
                }}
            const facts = Object.fromEntries(s.inside(from, to));
            return [[facts['GPU work begun'], facts['GPU time in it, all streams'].replace(/.*\\(|[^0-9]/g, '')], [String(n), String(Math.round(ns))]]; }})()""")
        bad += wrong(f"in {a} to {b_}", got, want)
    result("ui_draws_what_there_is_C25_R23", bad + [q for q in quiet(b) if "willReadFrequently" not in q])


def obeys_keys(b):
    b.open(os.path.join(folder, "dev.html"))
    bad, look = [], lambda what: b.js(f"gpubpf.{what}")
    b.key("w")
    b.frame()
    before, per = look("view.t0"), look("view.per")
    b.key("s")
    b.frame()
    if not look("view.per") > per:
        bad.append("w and s do not zoom")
    b.key("w")
    b.key("d")
    b.frame()
    if not look("view.t0") > before:
        bad.append("d does not move")
    b.key("0")
    b.frame()
    bad += wrong("0", look("view.t0 <= gpubpf.t.first && gpubpf.view.t0 + gpubpf.room() * gpubpf.view.per >= gpubpf.t.last"), True)
    b.key("/")
    for c in "memcpy h2d":
        b.key(c)
    b.js("new Promise(done => setTimeout(done, 400))")
    copies = look("keys.find(k => k.name === 'memcpy h2d').count")
    bad += wrong("search", look("hits.length"), copies)
    b.key("Enter")
    b.key("Escape")
    b.key("n") # nothing to step through
    b.key("0")
    b.frame()
    b.js("document.querySelector('#table tbody tr').click()")
    first = look("selected")
    b.key("n")
    second = look("selected")
    b.key("p")
    bad += wrong("n and p", (second != first, look("selected"), look("t.start[%d] >= gpubpf.t.start[%d]" % (second, first))), (True, first, True))
    bad += wrong("count", b.js("document.getElementById('found').textContent"), f"1 of {look('hits.length'):,}")
    for _ in range(5):
        b.key("n")
    bad += wrong("count", b.js("document.getElementById('found').textContent"), f"6 of {look('hits.length'):,}")
    ran = look("selected")
    b.key("c")
    bad += wrong("c", (look("t.head[gpubpf.selected] >> 3 & 7"), look("t.work[gpubpf.selected]")), (1, look(f"t.work[{ran}]")))
    b.key("c")
    bad += wrong("c and back", look("selected"), ran)
    b.key("t")
    bad += wrong("t", b.js("document.documentElement.className"), "dark")
    b.key("?")
    bad += wrong("?", b.js("document.getElementById('help').open"), True)
    result("ui_obeys_keys", bad + quiet(b))


# Where it was told to: the execution is selected and drawn, and the times that are seen are those.
def opens_at_a_focus(b):
    with open("tests/e2e/golden/device.scene", "rb") as f:
        scene = f.read()
    bad, kernel = [], ["--focus-kernel", "reduce(float*)", "--focus-occurrence", "2"]
    seen = "(() => { const s = gpubpf, v = s.view; return [Math.round(v.t0), Math.round(v.t0 + s.room() * v.per)]; })()"
    for name, options, times in (("focus", kernel, [2788600, 3028600]), ("both", [*kernel, "--focus-from", "1ms", "--focus-to", "3ms"], [1000000, 3000000]),
                                 ("range", ["--focus-from", "1ms", "--focus-to", "1.25ms"], [1000000, 1250000])):
        told = b.open(made(name, ["mkscene"], scene, options)[1])
        bad += [told["error"]] if "error" in told else []
        b.frame()
        bad += wrong(f"{name}: is seen", b.js(seen), times)
        if name == "range":
            bad += wrong(f"{name}: selected", b.js("[gpubpf.selected, gpubpf.range]"), [-1, times])
            continue
        bad += wrong(f"{name}: selected", b.js("(t => e => [t.names[t.name[e]], t.start[e], t.end[e]])(gpubpf.t)(gpubpf.selected)"),
                     ["reduce(float*)", 2868600, 2948600])
        bad += wrong(f"{name}: details", b.js("document.querySelector('#facts h3').textContent"), "reduce(float*)")
        x, y = b.js("gpubpf.spot(gpubpf.selected)")
        if not 0 <= y < b.js("gpubpf.canvas.clientHeight"):
            bad.append(f"{name}: it is at {x}, {y}")
    result("ui_opens_at_a_focus_R52", bad + quiet(b))


def obeys_no_name(b):
    name = "a</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> \u202ec \u2066d\u2069 \ufeff\u200b"
    _, page = made("names", ["mkscene"], ("arm\nname 1 " + name + "\ncuLaunchKernel 0x5000 1 1 1 32 1 1 0 0 0 0\nseen launch\nran kernel 2000 1000 name 1\n"
                                         "wait 10000\ndisarm\n").encode())
    told = b.open(page)
    bad = [told["error"]] if "error" in told else []
    bad += wrong("title", b.js("document.title.startsWith('gpubpf timeline')"), True)
    bad += wrong("elements", b.js("document.querySelectorAll('img, #table script').length"), 0)
    shown = b.js("document.querySelector('#table td.name').textContent")
    if not shown.startswith("a</script><script>") or any(c in shown for c in "\u202e\u2066\u2069\ufeff\u200b\x1b"):
        bad.append(f"shown as {shown!r}")
    result("ui_obeys_no_name", bad + quiet(b))


VIEWER = """<!doctype html><body data-perfetto_version='{"stable":"v1"}'><script>
const blocked = [];
addEventListener('securitypolicyviolation', e => { blocked.push(e.blockedURI); });
fetch('http://127.0.0.1:9/').catch(() => 0);
addEventListener('message', e => {
    if (e.source !== opener || e.origin !== location.origin)
        return;
    if (e.data === 'PING') {
        if (globalThis.say)
            e.source.postMessage('PONG', '*');
        return;
    }
    const { buffer, title, fileName } = e.data.perfetto;
    document.title = JSON.stringify([buffer.byteLength, title, fileName, location.hash, say, blocked]);
});
</script><script src="v1/frontend_bundle.js"></script>"""


# A viewer from the disk, of the same origin as the page that hands it the trace, opened by a click.
def hands_the_trace_over(b):
    capture, _ = made("served", ["mkdevice", "--calls", "300"])
    viewer, trace = os.path.join(folder, "viewer"), os.path.join(folder, "served.pftrace")
    os.makedirs(os.path.join(viewer, "v1"))
    for name, text in ("index.html", VIEWER), ("v1/manifest.json", '{"resources": {}}'), ("v1/frontend_bundle.js", "globalThis.say = 'hello';"):
        with open(os.path.join(viewer, name), "w", encoding="utf-8") as f:
            f.write(text)
    subprocess.run([program, "timeline", "-q", capture, "-o", trace], check=True)
    server = subprocess.Popen([program, "timeline", "-q", "--serve", "--ui-dir", viewer, "--focus-from", "0", "--focus-to", "10us", capture],
                              stdout=subprocess.PIPE)
    try:
        b.events.clear()
        b.call("Page.navigate", url=server.stdout.readline().decode().strip())
        b.js("""new Promise(done => { const look = () => document.getElementById('state')?.textContent.startsWith('The trace is here') ? done(0) : setTimeout(look, 30);
            look(); })""")
        b.js("(() => { const open = window.open; window.open = (...a) => globalThis.opened = open.apply(window, a); })()")
        x, y = b.js("(r => [r.x + r.width / 2, r.y + r.height / 2])(document.getElementById('open').getBoundingClientRect())")
        b.click(x, y)
        told = b.js("""new Promise(done => { const until = Date.now() + 10000, told = () => globalThis.opened?.document?.title;
            const look = () => told()?.startsWith('[') || Date.now() > until ? done(told()) : setTimeout(look, 30); look(); })""")
        bad = []
        try:
            size, title, name, link, said, blocked = json.loads(told)
            bad += wrong("the trace", (size, title, name, said), (os.path.getsize(trace), "served", "served.perfetto-trace", "hello"))
            bad += wrong("the link", link.startswith("#!/?visStart="), True)
            bad += wrong("blocked", blocked, ["http://127.0.0.1:9/"])
        except (TypeError, ValueError):
            bad.append(f"the viewer says {told!r}, the page {b.js('document.getElementById(`state`).textContent')!r}")
        bad += wrong("the page", b.js("document.getElementById('state').textContent"), "The viewer has the trace.")
        b.js("globalThis.opened?.close()")
    finally:
        server.terminate()
        server.wait()
    result("ui_hands_the_trace_over_R51_R52", bad)


def says_why_not(b):
    page = os.path.join(folder, "scene.html")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    bad, at = [], text.index('octet-stream">') + 14
    for name, change in (("cut", text[:at + 400] + text[text.index("</script>", at):]), ("flipped", text[:at + 300] + "AAAAAAAA" + text[at + 308:])):
        with open(os.path.join(folder, name + ".html"), "w", encoding="utf-8") as f:
            f.write(change)
        told = b.open(os.path.join(folder, name + ".html"))
        if "This page cannot be shown" not in told.get("error", ""):
            bad.append(f"{name}: {told}")
    script = b.call("Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.DecompressionStream")["identifier"]
    if "DecompressionStream" not in b.open(page).get("error", ""):
        bad.append("an old browser")
    b.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    # a script that is not the page's own does not run in it
    b.open(page)
    b.js("document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = \"taken\"' }))")
    bad += wrong("another script", b.js("document.title.startsWith('gpubpf')"), True)
    b.js("fetch('http://127.0.0.1:9/').then(() => document.title = 'taken', () => 0)")
    bad += wrong("the network", b.js("document.title.startsWith('gpubpf')"), True)
    result("ui_says_why_not", bad)


def large(b):
    os.makedirs(shots, exist_ok=True)
    _, page = made("large", ["mkdevice", "--calls", "500000", "--threads", "4", "--processes", "2"])
    bad = []
    for n in range(3):
        told = b.open(page, fragment="selftest-frames")
        f = told["frames_ms"]
        print(f"# 1,000,000 slices, {os.path.getsize(page) / (1 << 20):.1f} MiB: first frame on the screen after {told['loaded_ms']:.0f} ms; while moving, "
              + "; ".join(f"{k}: {v['draw']['median']:.1f} ms to draw, a frame each {v['frame']['median']:.1f} ms (worst {v['frame']['worst']:.1f})" for k, v in f.items()))
    bad += wrong("events", (told["calls"], told["gpu"]), (500000, 500000)) + quiet(b)
    b.shoot(os.path.join(shots, "large-light.png"))
    told = b.open(page, dark=True)
    b.js("gpubpf.show(gpubpf.t.first + 100e6, gpubpf.t.first + 100.08e6)")
    b.js("gpubpf.select(gpubpf.t.runs[gpubpf.t.runs.length - 1 >> 1], true)")
    b.shoot(os.path.join(shots, "large-dark.png"))
    for dark in (False, True):
        b.open(os.path.join(folder, "scene.html"), dark=dark)
        b.js("document.querySelectorAll('#table tbody tr')[1].click()")
        b.key("0")
        b.shoot(os.path.join(shots, f"scene-{'dark' if dark else 'light'}.png"))
    b.key("?")
    b.shoot(os.path.join(shots, "help-dark.png"))
    print("# screenshots:", shots)
    result("ui_large_and_screenshots", bad)


if not find():
    print("skip ui: no Chromium (chromium, chromium-browser or google-chrome)")
    sys.exit()
try:
    chromium = Browser()
except (RuntimeError, OSError) as e:
    print(f"skip ui: {find()} does not start: {e}")
    sys.exit()
try:
    for test in (reads_what_was_exported, draws_what_there_is, obeys_keys, opens_at_a_focus, obeys_no_name, hands_the_trace_over, says_why_not) + ((large,) if shots else ()):
        try:
            test(chromium)
        except (RuntimeError, KeyError, TypeError, IndexError, subprocess.CalledProcessError) as e:
            result("ui_" + test.__name__, [repr(e)])
finally:
    chromium.close()
