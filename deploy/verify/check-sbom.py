"""Checks a bill of materials: against the schema of CycloneDX 1.5, and against what it is made from. check-sbom.py FILE"""
import json
import pathlib
import re
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).resolve().parents[2]
text = pathlib.Path(sys.argv[1]).read_text()
bill = json.loads(text)
faults = []

fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
if fault:
    faults.append(f"it does not follow the schema: {fault.data if hasattr(fault, 'data') else fault}")

versions = {component["name"]: component.get("version") for component in bill["components"]}
for pin in json.loads((ROOT / "Package.resolved").read_text())["pins"]:
    if versions.get(pin["identity"]) != pin["state"].get("version", pin["state"]["revision"]):
        faults.append(f"{pin['identity']} is not in it as it is pinned")

# Every native library of Package.swift is there in one of its Debian packages.
for name, stem in {"libcurl": "libcurl", "libpq": "libpq", "openssl": "libssl", "hiredis": "libhiredis", "libnghttp2": "libnghttp2",
                   "libseccomp": "libseccomp", "libjpeg": "libjpeg", "vips": "libvips", "zlib": "zlib1g"}.items():
    if not re.search(rf'pkgConfig: "{name}"', (ROOT / "Package.swift").read_text()):
        faults.append(f"Package.swift has no {name} any more: change check-sbom.py")
    if not any(component.startswith(stem) for component in versions):
        faults.append(f"{name} is not in it")

refs = [component["bom-ref"] for component in bill["components"]]
if len(refs) != len(set(refs)):
    faults.append("two components have one bom-ref")
known = set(refs) | {"heliograph"}
for dependency in bill["dependencies"]:
    for ref in [dependency["ref"], *dependency["dependsOn"]]:
        if ref not in known:
            faults.append(f"{ref} is depended on, and is no component")

print("\n".join(faults))
sys.exit(1 if faults else 0)
