#!/usr/bin/env python3
"""Writes docs/images/{inbox,styles}.webp from a stack on which the demo was told: screenshots.py RUN OUTPUT, see screenshots.sh."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import urllib.request


class Browser:
    """Chromium without a window, by commands of the DevTools protocol: it reads them from descriptor 3, and answers on 4."""

    def __init__(self, profile):
        # Without a sandbox, because it has none where it is started by root; it shows nothing but pages of this machine.
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec chromium "$@" 3<&0 4>&1 >/dev/null 2>&1', "chromium", *options, "--allow-file-access-from-files",
             "--remote-debugging-pipe", f"--user-data-dir={profile}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number, self._session = 0, None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def open(self, url, width, height, once):
        """Opens a page in a window of that size, and waits until a condition in JavaScript is true."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=False)
        self._call("Page.navigate", url=url)
        self.run(f"""new Promise((done, fail) => {{
            const end = Date.now() + 30000;
            const look = () => ({once}) ? done() : Date.now() > end ? fail({json.dumps(once)}) : setTimeout(look, 50);
            look();
        }})""")

    def run(self, script):
        """Runs JavaScript in the page, and waits for its promise."""
        answer = self._call("Runtime.evaluate", expression=script, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"screenshots: the page refuses {script}: {answer['exceptionDetails']}")

    def shoot(self, path, quality):
        # What is animated has come to rest.
        self.run("Promise.all(document.getAnimations().map((animation) => animation.finished))")
        picture = self._call("Page.captureScreenshot", format="webp", quality=quality)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))

    def close(self):
        self._call("Browser.close")
        self._process.wait()

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()
        while (answer := json.loads(self._read())).get("id") != self._number:
            pass
        if "error" in answer:
            raise SystemExit(f"screenshots: {method}: {answer['error']['message']}")
        return answer["result"]

    def _read(self):
        message = bytearray()
        while (byte := self._process.stdout.read(1)) != b"\0":
            if not byte:
                raise SystemExit("screenshots: chromium has ended")
            message += byte
        return message


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def shoot_inbox(browser, emulator, path):
    """The page of the phone that got the newest pictures; the second push is open and shows its picture."""
    phones = fetch(f"{emulator}/control/tokens")["tokens"]
    token = next(phone["token"] for phone in phones if (phone.get("last") or {}).get("title", "").startswith("Image Ready"))
    browser.open(
        f"{emulator}/inbox?theme=light&token={token}", 1180, 890,
        "document.querySelector('.phone-row') && document.querySelectorAll('.card .row.with-picture').length > 1")
    browser.run("document.querySelectorAll('.card .row.with-picture')[1].click()")
    browser.run("Promise.all([...document.querySelectorAll('.card img')].map((image) => image.decode()))")
    browser.shoot(path, 70)


def shoot_styles(browser, api, sheet, path):
    """The pictures of the contact sheet in one row, the original first."""
    names = ["Original"] + [template["name"] for template in fetch(f"{api}/v1/templates")["data"]["templates"]]
    # As contact-sheet.sh lays them out, four in a row; a portrait is narrower than its square.
    cell_width, cell_height, side, shown_width, shown_height = 512, 564, 387, 114, 141
    scale = shown_width / side
    figures = "".join(
        f"""<figure><div style="background-position: {-scale * (number % 4 * cell_width + (cell_width - side) / 2)}px
        {-scale * (number // 4 * cell_height + 16)}px"></div><figcaption>{name}</figcaption></figure>"""
        for number, name in enumerate(names))
    page = f"""<!doctype html><meta charset="utf-8"><style>
        body {{ margin: 0; padding: 10px; display: flex; justify-content: space-between; background: #fff; font: 12.5px system-ui }}
        figure {{ margin: 0; text-align: center }} figcaption {{ margin-top: 6px }}
        div {{ width: {shown_width}px; height: {shown_height}px; border-radius: 6px; background: url("file://{sheet}");
               background-size: {scale * 4 * cell_width}px auto }}</style>{figures}<img src="file://{sheet}" hidden>"""
    with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        file.write(page)
        file.flush()
        browser.open(f"file://{file.name}", 860, 184, "document.readyState === 'complete' && document.images[0].complete")
        browser.shoot(path, 75)


def main(run, output):
    with open(f"{run}/stack.env") as file:
        settings = dict(line.strip().split("=", 1) for line in file if "=" in line and not line.startswith("#"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        shoot_inbox(browser, settings["FCM_URL"], f"{output}/inbox.webp")
        shoot_styles(browser, settings["IDENTITY_API_URL"], f"{run}/contact-sheet.jpg", f"{output}/styles.webp")
        browser.close()


main(os.path.abspath(sys.argv[1]), sys.argv[2])
