# SPDX-License-Identifier: MIT
"""A page in headless Chromium, driven through the DevTools protocol over two pipes, without Python packages."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """Returns the path of the browser's program, or None."""
    for name in (os.environ.get("PLAIT_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and shutil.which(name):
            return shutil.which(name)
    return None


class Page:
    """One page. `errors` has the errors of its script and log, `requests` the URLs that it requested, files included."""

    def __init__(self, width=1200, height=900, dark=False, script=True, patience=60):
        self.folder = tempfile.TemporaryDirectory(prefix="plait-browser-", ignore_cleanup_errors=True)
        self.patience = patience
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()

        def connect():
            # The browser reads from 3 and writes to 4.
            first, second = os.dup(to_read), os.dup(from_write)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             f"--user-data-dir={self.folder.name}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.to, self.back, self.rest, self.number, self.session = to_write, from_read, b"", 0, None
        self.errors, self.requests = [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError, TimeoutError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.folder.cleanup()

    def next(self):
        end = time.monotonic() + self.patience
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser says nothing")
            part = os.read(self.back, 1 << 20)
            if not part:
                raise EOFError("the browser has gone")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.errors.append(message["params"]["entry"]["text"])
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        return message

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            message = self.next()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def open(self, path, fragment=""):
        """Opens a file and waits until it is loaded, not until its script has drawn."""
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        while self.next().get("method") != "Page.loadEventFired":
            pass

    def value(self, expression):
        """Returns the value of the JavaScript @expression; waits for it if it is a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "a failed expression"))
        return result["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + self.patience
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(.02)

    def choose(self, name, value):
        """Selects @value in the field @name of the page, as a user does, and waits until the page has drawn again."""
        self.act(f"""(() => {{ const field = document.getElementById("look-{name}"); field.value = {json.dumps(value)};
          field.dispatchEvent(new Event(field.type === "search" ? "input" : "change")); }})()""")

    def act(self, expression):
        """Runs @expression and waits until the page has drawn again."""
        before = self.value('document.getElementById("look").dataset.drawn')
        self.value(expression)
        self.wait(f'document.getElementById("look").dataset.drawn !== {json.dumps(before)}')

    def picture(self, path, whole=True):
        """Writes the page as a PNG to @path."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
