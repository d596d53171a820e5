"""A headless Chromium, driven over two pipes with its DevTools protocol: no driver and no library to install."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "about:blank",
)

# The browser reads from 3 and writes to 4: this puts the pipes there and becomes the browser.
_PIPES = """
import os, sys
given = [os.dup(int(end)) for end in sys.argv[1:3]]
apart = [os.dup2(end, 100 + i) for i, end in enumerate(given)]
for i, end in enumerate(apart):
    os.dup2(end, 3 + i)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find() -> str | None:
    """The browser's program, or None where there is none."""
    if os.name != "posix":
        return None
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One page of a browser of its own.

    Attributes:
        problems: what the console, uncaught errors and the page's policy have complained of.
    """

    def __init__(self, program: str) -> None:
        self.problems: list[str] = []
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _PIPES, str(theirs_in), str(theirs_out)),
                *(program, *FLAGS, f"--user-data-dir={self._profile.name}"),
            ],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._watchdog = threading.Timer(300, self._process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()
        self._buffer = b""
        self._sent = 0
        self._events: list[dict[str, Any]] = []
        self._session = ""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._watchdog.cancel()
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._profile.cleanup()

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = os.read(self._read, 1 << 16)
            if not read:
                raise RuntimeError("the browser has ended")
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(given["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.problems.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not given["request"]["url"].startswith(
            ("file:", "data:")
        ):
            self.problems.append(f"a request to {given['request']['url']}")
        return message

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the protocol; its result."""
        self._sent += 1
        command = {"id": self._sent, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._write, json.dumps(command).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("id") == self._sent:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result
            self._events.append(message)

    def look(self, width: int = 1280, height: int = 800, *, dark: bool = False, motion: bool = False) -> None:
        """Set the window's size and the reader's preferences."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        features = {
            "prefers-color-scheme": "dark" if dark else "light",
            "prefers-reduced-motion": "no-preference" if motion else "reduce",
        }
        self.send(
            "Emulation.setEmulatedMedia", features=[{"name": k, "value": v} for k, v in features.items()]
        )

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file and wait until it has loaded."""
        self._events.clear()
        # Another part of the same page would not be loaded again.
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=path.resolve().as_uri() + fragment)
        while self.run("document.URL == 'about:blank' || document.readyState != 'complete'"):
            pass

    def run(self, script: str) -> Any:
        """The value of an expression in the page, or of the promise it gives."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def key(self, key: str) -> None:
        """Press and release a key."""
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def click(self, selector: str) -> None:
        """Click with the mouse on the middle of an element."""
        script = (
            f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
        )
        x, y = self.run(f"{script} return [b.x + b.width / 2, b.y + b.height / 2]; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, whole: bool = False) -> bytes:
        """A PNG of the window, or of the whole page."""
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"clip": {**size, "scale": 1}} if whole else {}
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **clip)
        return base64.b64decode(shot["data"])
