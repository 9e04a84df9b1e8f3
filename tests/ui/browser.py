# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium by its debugging pipe: no port, no network, no other library."""
import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self, width=1440, height=900):
        self.folder = tempfile.mkdtemp(prefix="gpubpf-ui.")
        down, self.to = os.pipe()
        self.source, up = os.pipe()
        # the browser's ends are its descriptors 3 and 4, whatever ours are
        down, up = (self.high(fd) for fd in (down, up))
        command = [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
                   "--proxy-server=127.0.0.1:9", "--force-device-scale-factor=1", f"--window-size={width},{height}",
                   "--user-data-dir=" + self.folder, "--remote-debugging-pipe", "about:blank"]
        self.child = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{down} 4>&{up} {down}<&- {up}>&-', "bash", *command], pass_fds=(down, up),
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(down)
        os.close(up)
        self.buffer, self.number, self.events = b"", 0, []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    @staticmethod
    def high(fd):
        other = fcntl.fcntl(fd, fcntl.F_DUPFD, 20)
        os.close(fd)
        return other

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.source, 1 << 20)
            if not more:
                raise RuntimeError("the browser went away")
            self.buffer += more
        one, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        data = json.dumps(m).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            m = self.message()
            if m.get("id") == self.number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']['message']}")
                return m["result"]
            self.events.append(m)

    def js(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in r:
            raise RuntimeError(f"{expression}: {r['exceptionDetails']}")
        return r["result"].get("value")

    def open(self, path, dark=False, fragment="selftest"):
        self.events.clear()
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}#{fragment}")
        return self.js("""new Promise(done => { const look = () => {
            const told = document.getElementById('selftest'), word = document.getElementById('loading');
            told ? done(JSON.parse(told.textContent)) : word && word.textContent.startsWith('This page') ? done({ error: word.textContent }) : setTimeout(look, 30);
        }; look(); })""")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def frame(self):
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def shoot(self, path):
        self.frame()
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    # Whatever the page asked of anybody else, and what it was told was wrong.
    def requests(self):
        return [m["params"]["request"]["url"] for m in self.events if m.get("method") == "Network.requestWillBeSent"
                and not m["params"]["request"]["url"].startswith(("file:", "about:"))]

    def complaints(self):
        return [m["params"]["entry"]["text"] for m in self.events if m.get("method") == "Log.entryAdded"] + \
            [m["params"]["exceptionDetails"]["text"] for m in self.events if m.get("method") == "Runtime.exceptionThrown"]

    def close(self):
        os.close(self.to)
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
