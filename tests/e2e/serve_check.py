#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks a server of `gpubpf timeline --serve` and prints what is not as it should be.

  serve_check.py CASE URL [FILE]     FILE: the bytes that it has to serve
"""
import bisect
import html.parser
import http.client
import os
import socket
import sys
import tempfile
import threading
from urllib.parse import parse_qsl, urlsplit

case, url = sys.argv[1:3]
data = open(sys.argv[3], "rb").read() if len(sys.argv) > 3 else b""
port, base = urlsplit(url).port, urlsplit(url).path
VIEWER = "https://ui.perfetto.dev"


def ask(path, method="GET", body=None, **headers):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    c.request(method, path, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    r = c.getresponse()
    return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()


def raw(text, close=True, timeout=20, small=False):
    s = socket.socket()
    if small:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(timeout)
    s.connect(("127.0.0.1", port))
    s.sendall(text)
    got = b""
    try:
        while close:
            part = s.recv(65536)
            if not part:
                break
            got += part
    except OSError:
        pass
    return got if close else s


def wanted(what, got, want):
    if got != want:
        print(f"{what}: {str(got)[:200]}, not {str(want)[:200]}")


def trace():
    status, h, body = ask(base + "trace")
    wanted("status", status, 200)
    wanted("the same bytes", body == data, True)
    wanted("length", h["content-length"], str(len(data)))
    wanted("cache", h["cache-control"], "no-store")
    wanted("no origin, no grant", "access-control-allow-origin" in h, False)
    status, h, body = ask(base + "trace?x=1")
    wanted("with a query", (status, body == data), (200, True))
    status, h, body = ask(base + "trace", "HEAD")
    wanted("HEAD", (status, body, h["content-length"]), (200, b"", str(len(data))))
    for name, kind in ("", "text/html"), ("page.js", "text/javascript"), ("page.css", "text/css"):
        status, h, body = ask(base + name)
        wanted(name, (status, h["content-type"], len(body)), (200, kind + "; charset=utf-8", int(h["content-length"])))
        wanted(name + " policy", h["content-security-policy"].startswith("default-src 'none'"), True)


def token():
    key = base.strip("/")
    other = ("b" if key[0] == "a" else "a") + key[1:]
    last = key[:-1] + ("b" if key[-1] == "a" else "a")
    paths = ["/", "//", "/trace", "/favicon.ico", f"/{other}/trace", f"/{last}/trace", f"/{key[:-1]}/trace", f"/{key}x/trace",
             f"/{key}", f"/{key.upper()}/trace", f"/{key}/../{key}/trace", f"/{key}/trace/", f"/{key}//trace",
             f"/{key}/%74race", f"/{key}/../../../../etc/passwd", f"/{key}/..%2f..%2fetc/passwd", f"/{key}/ui/../trace",
             f"/{key}/nothing", f"/x/../{key}/trace"]
    for p in paths:
        status, h, body = ask(p)
        wanted(p, (status, body), (404, b"there is nothing here\n"))


def host():
    key = f"{base}trace"
    for name, want in {f"127.0.0.1:{port}": 200, f"localhost:{port}": 200, "127.0.0.1": 403, f"127.0.0.1:{port ^ 1}": 403,
                       f"evil.example:{port}": 403, "evil.example": 403, f"[::1]:{port}": 403, "": 403}.items():
        status, h, body = ask(key, Host=name)
        wanted("host " + name, (status, body == data), (want, want == 200))
    good = f"Host: 127.0.0.1:{port}\r\n"
    for head in "", good + f"Host: evil.example\r\n", good + good, f"Host: evil.example\r\n" + good:
        wanted("hosts " + repr(head), raw(f"GET {key} HTTP/1.1\r\n{head}\r\n".encode())[:13], b"HTTP/1.1 403 ")
    wanted("no host, HTTP/1.0", raw(f"GET {key} HTTP/1.0\r\n\r\n".encode())[9:12], b"403")
    got = raw(f"GET http://127.0.0.1:{port}{key} HTTP/1.1\r\n{good}\r\n".encode())
    wanted("absolute form", got[:13], b"HTTP/1.1 404 ")


def origin():
    for name, want in {VIEWER: 200, f"http://127.0.0.1:{port}": 200, f"http://localhost:{port}": 200, "null": 403,
                       "https://evil.example": 403, "http://ui.perfetto.dev": 403, VIEWER + ".evil.example": 403,
                       "http://127.0.0.1": 403, f"http://127.0.0.1:{port ^ 1}": 403, f"http://evil.example:{port}": 403}.items():
        for path in "trace", "":
            status, h, body = ask(base + path, Origin=name)
            wanted("origin " + name, status, want)
            wanted("grant to " + name, h.get("access-control-allow-origin"), name if want == 200 else None)
            wanted("vary", h["vary"], "Origin")
    got = raw(f"GET {base}trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {VIEWER}\r\nOrigin: https://evil.example\r\n\r\n".encode())
    wanted("two origins", got[:13], b"HTTP/1.1 403 ")


def ranges():
    n = len(data)
    for text, want in {"bytes=0-0": (0, 1), "bytes=1-": (1, n), "bytes=-7": (n - 7, n), f"bytes={n - 1}-": (n - 1, n),
                       f"bytes=5-{2 * n}": (5, n), "bytes=300000-700000": (300000, 700001), f"bytes=-{2 * n}": (0, n)}.items():
        status, h, body = ask(base + "trace", Range=text)
        wanted(text, (status, h["content-range"]), (206, f"bytes {want[0]}-{want[1] - 1}/{n}"))
        wanted(text + ": the same bytes", body == data[want[0]:want[1]], True)
    for text in f"bytes={n}-", f"bytes={n}-{n + 5}", "bytes=-0":
        status, h, body = ask(base + "trace", Range=text)
        wanted(text, (status, h["content-range"]), (416, f"bytes */{n}"))
    for text in "bytes=0-1,5-6", "bytes=5-2", "lines=1-2", "bytes=x":
        status, h, body = ask(base + "trace", Range=text)
        wanted(text, (status, body == data, "content-range" in h), (200, True, False))
    status, h, body = ask(base + "trace", "HEAD", Range="bytes=0-0")
    wanted("HEAD with a range", (status, h["content-length"]), (200, str(n)))
    tag = h["etag"]
    for condition, want in {tag: 206, '"other"': 200, "W/" + tag: 200, "Mon, 01 Jan 2024 00:00:00 GMT": 200}.items():
        status, h, body = ask(base + "trace", Range="bytes=0-9", If_Range=condition)
        wanted("If-Range " + condition, status, want)


def methods():
    for m in "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE":
        for path in "trace", "":
            status, h, body = ask(base + path, m, body=b"x" * 100 if m in ("POST", "PUT", "PATCH") else None)
            wanted(m, (status, h.get("allow")), (405, "GET, HEAD"))
    for text in b"FOO /x HTTP/1.1\r\n\r\n", b"CONNECT x:1 HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n":
        got = raw(text, timeout=0.3)  # some wait for more of it
        if b" 200 " in got[:16]:
            print(f"{text}: {got[:60]}")
    big = f"GET {base}trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: {'x' * 100000}\r\n\r\n".encode()
    if b" 200 " in raw(big)[:16]:
        print("a head of 100,000 bytes is taken")
    status, h, body = ask(base + "trace", "POST", body=b"x" * 1000000)
    wanted("a large body", status in (405, 413), True)
    wanted("and after all that", ask(base + "trace")[2] == data, True)


def many():
    bad = []

    def one():
        if ask(base + "trace")[2] != data:
            bad.append("a trace is not the same")

    # some ask and read nothing, some do not even ask to the end
    slow = [raw(f"GET {base}trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(), close=False, small=True) for _ in range(4)]
    slow += [raw(b"GET /", close=False) for _ in range(4)]
    # and some go away
    for _ in range(4):
        raw(f"GET {base}trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(), close=False).close()
    threads = [threading.Thread(target=one) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for b in bad:
        print(b)
    for s in slow:
        s.close()


def full():
    """More connections than are taken wait, and are answered when there is room."""
    many()
    idle = [raw(b"G", close=False) for _ in range(40)]
    late = raw(f"HEAD {base}trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(), close=False)
    late.settimeout(1)
    try:
        wanted("while full", late.recv(100)[:12], None)
    except socket.timeout:
        pass
    for s in idle:
        s.close()
    late.settimeout(8)  # less than it takes to give up those that say nothing
    wanted("when there is room", late.recv(100)[:12], b"HTTP/1.1 200")


def silent():
    """Who never finishes a request is let go, whatever drips in."""
    s = raw(b"GET / HTTP/1.1\r\n", close=False)
    s.settimeout(0.5)
    for _ in range(50):
        try:
            if not s.recv(100):
                return
        except socket.timeout:
            pass
        except OSError:
            return
        try:
            s.sendall(b"X: y\r\n")
        except OSError:
            return
    print("a request that never ends is waited for")


def fetch():
    wanted("the same bytes", ask(base + "trace")[2] == data, True)


def part():
    s = raw(f"GET {base}trace HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(), close=False, small=True)
    s.recv(1000)
    s.close()
    ask(base + "trace", Range="bytes=0-9")
    ask(base + "trace", "HEAD")
    ask(base)


def viewer():
    """The address of the viewer, as the page has it: its base, and what stands behind #!/?"""
    found = {}

    class Body(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag == "body":
                found.update(attrs)

    Body().feed(ask(base)[2].decode())
    at, _, link = found["data-viewer"].partition("#!/?")
    return at, {k: int(v) for k, v in parse_qsl(link, strict_parsing=bool(link))}


def served():
    """The trace's slices and moments with the times that its clock snapshots give them, as the viewer's trace processor does."""
    from trace_read import Trace
    trace = Trace(ask(base + "trace")[2])
    mono, shown = ([c[k] for c in trace.clocks] for k in (3, trace.primary))

    def time(t):
        i = max(0, bisect.bisect_right(mono, t) - 1)
        return shown[i] + t - mono[i]

    return [(e["name"], time(e["ts"]), time(e["ts"] + e.get("dur", 0)) - time(e["ts"])) for e in trace.slices + trace.instants
            if e.get("dur", 0) is not None] + [("sample", time(e["ts"]), 0) for e in trace.samples]


def focus():
    """FILE is: name of the kernel, its occurrence; or two times, ns since the capture's first clock pair."""
    with open(sys.argv[3]) as f:
        want = f.read().split("\n")
    at, link = viewer()
    events = served()
    first, last = min(t for _, t, _ in events), max(t + d for _, t, d in events)
    wanted("viewer", at, VIEWER + "/")
    wanted("in what there is", first <= link["visStart"] < link["visEnd"] <= last, True)
    if want[0] == "time":
        wanted("the time", [link["visStart"] - first, link["visEnd"] - first], [int(w) for w in want[1:3]])
    if want[0] != "kernel":
        wanted("no slice", "ts" in link or "dur" in link, False)
        return
    runs = sorted((t, d) for n, t, d in events if n == want[1] and d)
    wanted("the slice", (link["ts"], link["dur"]), runs[int(want[2]) - 1])
    wanted("that alone", sum((t, d) == (link["ts"], link["dur"]) for _, t, d in events), 1)
    wanted("around it", link["visStart"] <= link["ts"] and link["ts"] + link["dur"] <= link["visEnd"] <= link["visStart"] + 6 * link["dur"], True)


TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "json": "application/json",
         "wasm": "application/wasm", "png": "image/png", "svg": "image/svg+xml", "woff2": "font/woff2", "data": "application/octet-stream"}


def ui():
    """FILE is a list: the viewer's folder, then each name that is served."""
    folder, *names = open(sys.argv[3]).read().split()
    for name in names + [""]:
        with open(os.path.join(folder, name or "index.html"), "rb") as f:
            content = f.read()
        status, h, body = ask(base + "ui/" + name)
        wanted(name, (status, body == content, h["content-length"]), (200, True, str(len(content))))
        wanted(name + " type", h["content-type"], TYPES[(name or "index.html").rpartition(".")[2]])
        wanted(name + " is not guessed at", h["x-content-type-options"], "nosniff")
        policy = dict(p.split(" ", 1) for p in h["content-security-policy"].split("; "))
        wanted(name + " reaches this server alone", (policy["default-src"], policy["connect-src"]), ("'self'", "'self' data: blob:"))
        wanted(name + " names no other", "http" in h["content-security-policy"] or "*" in h["content-security-policy"], False)
        wanted(name + " HEAD", [x for x in ask(base + "ui/" + name, "HEAD")[::2]], [200, b""])
    wanted("with a query", ask(base + "ui/index.html?x=1")[0], 200)
    wanted("the trace", ask(base + "trace")[0], 200)
    key = base.strip("/")
    other = base.replace(key[:2], "ab" if key[:2] != "ab" else "cd")
    for name in ["ui", "ui//", "ui/.", "ui/..", "ui/../trace", "ui/v9-abc.1", "ui/v9-abc.1/", "ui/v9-abc.1/../index.html", "ui/./index.html", "ui/%69ndex.html", "ui//index.html",
                 "ui/.hidden", "ui/v9-abc.1/.hidden", "ui/v9-abc.1/passwd", "ui/v9-abc.1/link.js", "ui/linked/frontend_bundle.js", "ui/v9-abc.1/odd%20name.js", "ui/v9-abc.1/pipe",
                 "ui/later.js", "ui/" + "x" * 900, "ui/v9-abc.1/manifest.json/", "UI/index.html", "index.html"]:
        wanted(name, ask(base + name)[::2], (404, b"there is nothing here\n"))
    wanted("another token", ask(other + "ui/index.html")[0], 404)
    wanted("POST", ask(base + "ui/index.html", "POST", body=b"x")[0], 405)
    for path in "ui/index.html", "trace":
        wanted("its own origin", ask(base + path, Origin=f"http://127.0.0.1:{port}")[0], 200)
        for origin in VIEWER, "https://evil.example", "null":
            wanted(f"{path} for {origin}", ask(base + path, Origin=origin)[0], 403)
    wanted("viewer", viewer(), ("ui/", {}))
    wanted("the page says which", b"v9-abc.1, manifest <code>" in ask(base)[2] and b"perfetto.dev" not in ask(base)[2], True)


def refused():
    """FILE is a list: names of the viewer that were changed since."""
    for name in open(sys.argv[3]).read().split():
        status, h, body = ask(base + "ui/" + name)
        wanted(name, (status, b"was changed since" in body), (410, True))


def broken_off():
    """FILE is a list of one name: its time stands (or does not, where the kernel wrote it out), its content is another."""
    name = open(sys.argv[3]).read().strip()
    try:
        wanted(name, ask(base + "ui/" + name)[0], 410)
    except http.client.HTTPException:
        pass


def gone():
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5)
        print("something listens still")
    except ConnectionRefusedError:
        pass


def changed():
    status, h, body = ask(base + "trace")
    wanted("a changed file", status, 410)


globals()[case]()
