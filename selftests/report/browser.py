# SPDX-License-Identifier: GPL-2.0-only
"""Control a headless Chromium by its DevTools protocol over two pipes."""
import atexit
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium")
TIMEOUT = 60


def find():
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A browser with one page at a time. The list errors collects the browser's complaints."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="netsync-browser-",
                                                  ignore_cleanup_errors=True)
        there, self.commands = os.pipe()
        self.answers, back = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{there} 4>&{back}', "bash", find(), "--headless",
             "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             f"--user-data-dir={self.folder.name}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, pass_fds=(there, back))
        os.close(there)
        os.close(back)
        self.buffer = b""
        self.number = 0
        self.session = None
        atexit.register(self.close)
        self.errors = []
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(domain + ".enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise EOFError("the browser has gone")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        """Collect what a user would see in the console, and all requests."""
        method, what = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            detail = what["exceptionDetails"]
            self.errors.append(detail.get("exception", {}).get("description", detail["text"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.errors.append(what["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning",
                                                                       "assert"):
            self.errors.append(str(what["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.note(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def js(self, expression):
        """Return the value of a JavaScript expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def wait_for(self, expression):
        end = time.monotonic() + TIMEOUT
        while not self.js(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def open(self, path):
        self.errors.clear()
        self.requests.clear()
        self.call("Page.navigate", url=f"file://{path}")
        self.wait_for("document.readyState == 'complete'")

    def box(self, selector):
        """Scroll to an element, and return its place in the window when it no longer moves.
        Smooth scrolling that began earlier may still continue."""
        return self.js(f"""(async () => {{
            const element = document.querySelector({json.dumps(selector)});
            let box, before, still = 0;
            while (still < 5) {{
                element.scrollIntoView({{ block: "center", behavior: "instant" }});
                await new Promise(requestAnimationFrame);
                box = element.getBoundingClientRect();
                still = before && before.y === box.y ? still + 1 : 0;
                before = box;
            }}
            return [box.x, box.y, box.width, box.height];
        }})()""")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y,
                  **dict({"button": "left", "clickCount": 1}, **more))

    def click(self, selector):
        x, y, width, height = self.box(selector)
        for kind in "mouseMoved", "mousePressed", "mouseReleased":
            self.mouse(kind, x + width / 2, y + height / 2)

    def drag(self, selector, start, end):
        """Drag between two fractions of the element's width, at half its height."""
        x, y, width, height = self.box(selector)
        self.mouse("mousePressed", x + width * start, y + height / 2)
        for share in start, (start + end) / 2, end:
            self.mouse("mouseMoved", x + width * share, y + height / 2, buttons=1)
        self.mouse("mouseReleased", x + width * end, y + height / 2)

    def screenshot(self, path):
        """Save a picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))
