"""Lists the images of others that deployments name by tag only, one a line; a digest is better, because a tag can be moved.

Exits with 1 for an image that has neither a tag nor a digest, or the tag `latest`. Our own images are named when they are deployed.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
files = subprocess.run(
    ["git", "ls-files", "docker-compose.yml", "deploy/docker", "deploy/kubernetes"], capture_output=True, text=True, check=True,
    cwd=ROOT).stdout.split()
images = {}
for name in files:
    for line in (ROOT / name).read_text().splitlines():
        found = re.match(r"\s*(?:- )?image: [\"']?([^\s\"'#]+)", line) or re.match(r"ARG [A-Z]+_IMAGE=(\S+)", line)
        if found and not found[1].startswith("heliograph/"):
            images.setdefault(found[1], name)
faults = 0
for image, name in sorted(images.items()):
    reference = image.rsplit("/", 1)[-1]
    if "@sha256:" in image:
        continue
    if ":" not in reference or reference.endswith(":latest"):
        print(f"{image} ({name}) has no tag that stays")
        faults += 1
    else:
        print(f"{image} ({name}) is named by tag")
if not images:
    print("no image was found")
sys.exit(1 if faults or not images else 0)
