#!/usr/bin/env python3
"""Removes each guard that Tests/MobileClientTests/Mutations lists, and expects that the tests named with it fail.

  mutations.py              all guards
  mutations.py Uploads Job  those of these files

A test of a state machine that cannot fail proves nothing. Each entry names a file, a text that is once in it, what replaces the text, and
the suite that must then fail. The package with MobileClient alone is copied and built for each guard, some 20 seconds a guard. Exits
with 1 if a suite passes without its guard, or a guard is not found."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
let package = Package(
    name: "mutations", platforms: [.macOS(.v15)],
    targets: [
        .target(
            name: "MobileClient", path: "Shared/MobileClient", exclude: ["Package.swift"],
            resources: [.copy("Apple/PrivacyInfo.xcprivacy")], swiftSettings: settings),
        .testTarget(
            name: "MobileClientTests", dependencies: ["MobileClient"], path: "Tests/MobileClientTests", exclude: ["Mutations"],
            swiftSettings: settings),
    ])
"""


def run(arguments, folder, timeout):
    return subprocess.run(arguments, cwd=folder, timeout=timeout, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})


def build(folder):
    return run(["swift", "build", "--build-tests"], folder, 900)


def test(folder, suite):
    bundle = folder / ".build/debug/mutationsPackageTests.xctest"
    return run([bundle, "--testing-library", "swift-testing", "--filter", f"^MobileClientTests\\.{suite}/"], folder, 300)


def try_guard(folder, guard):
    """Says what happened without a guard, and whether that is as it must be."""
    path = folder / guard["file"]
    text = path.read_text()
    if text.count(guard["old"]) != 1:
        return False, f"its text is {text.count(guard['old'])} times in {guard['file']}"
    path.write_text(text.replace(guard["old"], guard["new"]))
    try:
        built = build(folder)
        if built.returncode != 0:
            errors = [line for line in built.stdout.splitlines() if "error:" in line]
            return False, "does not compile: " + (errors or ["?"])[0]
        try:
            tested = test(folder, guard["tests"])
        except subprocess.TimeoutExpired:
            return True, "the tests do not end"
    except subprocess.TimeoutExpired:
        return False, "the build does not end"
    finally:
        path.write_text(text)
    if tested.returncode == 0:
        return False, "the tests pass without it"
    found = [line.strip() for line in tested.stdout.splitlines() if "after " in line and " steps: " in line]
    return True, (found or ["a test fails"])[0]


def main():
    files = sorted((ROOT / "Tests/MobileClientTests/Mutations").glob("*.json"))
    wanted = [file for file in files if not sys.argv[1:] or file.stem in sys.argv[1:]]
    guards = [guard for file in wanted for guard in json.loads(file.read_text())]
    if not guards:
        sys.exit(f"no guard of {' '.join(sys.argv[1:]) or 'any file'}")
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ["Shared/MobileClient", "Tests/MobileClientTests", "Tests/Golden/http", "Tests/AppleStubs"]:
            if (ROOT / part).exists():
                shutil.copytree(ROOT / part, folder / part)
        (folder / "Package.swift").write_text(MANIFEST)
        if build(folder).returncode != 0:
            sys.exit("the package does not compile")
        suites = {guard["tests"] for guard in guards}
        for suite in sorted(suites):
            tested = test(folder, suite)
            if tested.returncode != 0 or " 0 tests" in tested.stdout:
                sys.exit(f"{suite} does not pass, or does not exist, with all guards")
        for number, guard in enumerate(guards, 1):
            found, result = try_guard(folder, guard)
            failures += not found
            print(f"{number}/{len(guards)} {'found ' if found else 'MISSED'} {guard['guard']}: {result}", flush=True)
    print(f"{len(guards) - failures} of {len(guards)} removed guards were found")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
