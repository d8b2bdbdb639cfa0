"""Drives a headless Chromium over its debugging pipe; needs nothing but Python.

    with Browser(find_chromium()) as browser:
        page = browser.open("file:///tmp/a.html", width=1280, height=900)
        page.value("document.title")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 60  # seconds for one answer


def find_chromium():
    """The program's path; None if there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="memcrest-browser-")
        command_read, self.command = os.pipe()
        self.answer, answer_write = os.pipe()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
                     "--disable-background-networking", "--disable-component-update", "--allow-file-access-from-files",
                     f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"]

        def as_pipe():  # Chromium reads commands from descriptor 3 and answers on 4
            read, write = os.dup(command_read), os.dup(answer_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=as_pipe)
        os.close(command_read)
        os.close(answer_write)
        self.buffer, self.events, self.last = b"", [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.command, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.last:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def read(self):
        while b"\0" not in self.buffer:
            part = os.read(self.answer, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def open(self, url, width=1280, height=900, dark=False, scale=1, ready="document.title !== 'memcrest'"):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Log"):
            page.call(domain + ".enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        page.started = time.monotonic()
        page.call("Page.navigate", url=url)
        page.wait(f"document.readyState === 'complete' && {ready}")
        page.settle()
        page.opened_after = time.monotonic() - page.started
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + TIMEOUT
        while not self.value(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def settle(self):
        """Until what has changed is drawn."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def errors(self):
        """Exceptions, console errors and failed loads so far."""
        found = []
        for event in self.browser.events:
            method, params = event.get("method"), event.get("params", {})
            if event.get("sessionId") != self.session:
                continue
            if method == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"].get("exception", {}).get("description", params)))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(str([a.get("value") for a in params["args"]]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
        return found

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def point(self, selector, fx, fy):
        """A point of an element by fractions of its box, scrolled into view."""
        self.value(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.value(f"(b => [b.x, b.y, b.width, b.height])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        return box[0] + box[2] * fx, box[1] + box[3] * fy

    def hover(self, selector, fx, fy):
        self.mouse("mouseMoved", *self.point(selector, fx, fy))
        self.settle()

    def click(self, selector, fx=0.5, fy=0.5):
        x, y = self.point(selector, fx, fy)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def drag(self, selector, start, end):
        x0, y0 = self.point(selector, *start)
        x1, y1 = self.point(selector, *end)
        self.mouse("mousePressed", x0, y0, button="left", clickCount=1)
        self.mouse("mouseMoved", x1, y1, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, button="left", clickCount=1)
        self.settle()

    def key(self, key, shift=False):
        modifiers = 8 if shift else 0
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)
        self.settle()

    def type(self, selector, text):
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path, whole=True):
        clip = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
