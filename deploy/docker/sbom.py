#!/usr/bin/env python3
"""Writes the bill of materials of a build to standard output: CycloneDX 1.5, as JSON.

    sbom.py [--partial] FOLDER-OF-BINARIES

It names the executables with their SHA-256, the Swift packages as Package.resolved has them, the Swift runtime that is linked into them,
the Debian packages that the Dockerfile installs, and those whose libraries the executables load. A Debian version is that of this machine,
which is of the images' release (else it is left out); an image that is built later may get a newer one from that release's updates.
With --partial, executables that are not there are left out; without it they are an error.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXECUTABLES = ["identity-api", "face-matching-worker", "image-worker", "image-decoder", "token-registry", "notifier", "heliographctl",
               "heliograph-load", "fcm-emulator", "mobile-sim"]
DOCKERFILE = (ROOT / "deploy/docker/Dockerfile").read_text()


def run(*command):
    """The output of a command; empty when it fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def swift_packages():
    """The pinned packages."""
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        location = re.sub(r"\.git$", "", pin["location"])
        version = pin["state"].get("version", pin["state"]["revision"])
        purl = f"pkg:swift/{re.sub('^https?://', '', location).lower()}@{version}"
        yield {
            "type": "library", "bom-ref": purl, "name": pin["identity"], "version": version, "purl": purl,
            "externalReferences": [{"type": "vcs", "url": pin["location"]}],
            "properties": [{"name": "heliograph:git-revision", "value": pin["state"]["revision"]}],
        }


def swift_runtime():
    """The standard library and Foundation, which are linked into the executables."""
    version = re.search(r"Swift version (\S+)", run("swift", "--version"))
    if version:
        yield {"type": "framework", "bom-ref": "swift-runtime", "name": "swift", "version": version[1],
               "externalReferences": [{"type": "website", "url": "https://www.swift.org"}]}


def image_packages():
    """The Debian packages that the images of services install, by the Dockerfile's stages that are based on `runtime`."""
    names = set()
    for stage in re.split(r"^(?=FROM )", DOCKERFILE, flags=re.MULTILINE):
        if not re.match(r"FROM (\S+ AS runtime$|runtime AS )", stage, flags=re.MULTILINE):
            continue
        for words in re.findall(r"apt-get install -y -q --no-install-recommends((?:[^&\\]|\\\n)*)", stage):
            names.update(words.replace("\\\n", " ").split())
    return names


def is_release_of_images():
    """Whether this machine has the Debian release of the images."""
    release = re.search(r"^ARG RUNTIME_IMAGE=debian:([a-z]+)", DOCKERFILE, flags=re.MULTILINE)
    return bool(release) and f"VERSION_CODENAME={release[1]}\n" in pathlib.Path("/etc/os-release").read_text()


def spellings(path):
    """The paths by which a package may list a file: with or without /usr, and with links resolved or not."""
    return {prefix + spelling.removeprefix("/usr") for spelling in (path, os.path.realpath(path)) for prefix in ("", "/usr")}


def owners(paths):
    """The Debian packages of files by their paths; those of no package are left out."""
    wanted = sorted(set().union(*map(spellings, paths)))
    # It fails if one of them belongs to no package, and prints the others.
    listed = subprocess.run(["dpkg", "-S", *wanted], capture_output=True, text=True, check=False).stdout if wanted else ""
    packages = {path: name.split(",")[0].split(":")[0] for name, path in re.findall(r"^(.+): (/.+)$", listed, flags=re.MULTILINE)}
    return {path: packages[name] for path in paths for name in spellings(path) if name in packages}


def loaded_libraries(binary):
    """The paths of the libraries that an executable loads."""
    return set(re.findall(r"=> (/\S+)", run("ldd", str(binary))))


def debian_component(name):
    version = run("dpkg-query", "-W", "-f", "${Version}", name) if is_release_of_images() else ""
    architecture = run("dpkg", "--print-architecture").strip() or "amd64"
    purl = f"pkg:deb/debian/{name}" + (f"@{urllib.parse.quote(version, safe='')}" if version else "") + f"?arch={architecture}"
    component = {"type": "library", "bom-ref": f"deb:{name}", "name": name, "purl": purl}
    if version:
        component["version"] = version
    return component


def main():
    partial = "--partial" in sys.argv[1:]
    arguments = [argument for argument in sys.argv[1:] if argument != "--partial"]
    if len(arguments) != 1:
        sys.exit("sbom.py [--partial] FOLDER-OF-BINARIES")
    if not (ROOT / "Package.resolved").exists():
        sys.exit("sbom.py: there is no Package.resolved; build first")
    components, dependencies = list(swift_packages()) + list(swift_runtime()), {}
    root_refs = [component["bom-ref"] for component in components]
    binaries = {name: pathlib.Path(arguments[0]) / name for name in EXECUTABLES}
    missing = [name for name, binary in binaries.items() if not binary.exists()]
    if missing and not partial:
        sys.exit(f"sbom.py: {', '.join(missing)} missing in {arguments[0]}")
    libraries = {name: loaded_libraries(binary) for name, binary in binaries.items() if name not in missing}
    owner, packages = owners(set().union(*libraries.values())), image_packages()
    for name, paths in libraries.items():
        binary, loaded = binaries[name], {owner[path] for path in paths if path in owner}
        packages |= loaded
        ref = f"executable:{name}"
        components.append({"type": "application", "bom-ref": ref, "name": name,
                           "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(binary.read_bytes()).hexdigest()}]})
        dependencies[ref] = sorted(f"deb:{package}" for package in loaded)
        root_refs.append(ref)
    components += [debian_component(name) for name in sorted(packages)]
    dependencies["heliograph"] = root_refs
    version = run("git", "describe", "--always", "--dirty").strip() or "unknown"
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds else datetime.datetime.now(datetime.timezone.utc)
    content = json.dumps(components, sort_keys=True) + version
    print(json.dumps({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}", "version": 1,
        "metadata": {
            "timestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": "heliograph", "name": "heliograph", "version": version},
        },
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": names} for ref, names in dependencies.items()],
    }, indent=2))


main()
