"""Checks that what describes a deployment agrees with itself and with the code: crosscheck.py KUSTOMIZE PROMTOOL

Prints a line a fault and exits with 1 when there is any. What is compared: docker-compose.yml, deploy/kubernetes,
deploy/prometheus, deploy/grafana, deploy/runbooks and the sources of the services. UPDATE_GOLDEN=1 writes Tests/Golden/database-settings.json.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVICES = sorted(p.name for p in (ROOT / "Services").iterdir())
OVERLAYS = sorted(p.name for p in (ROOT / "deploy/kubernetes/overlays").iterdir())
kustomize, promtool = sys.argv[1:3]
faults = []


def check(condition, fault):
    if not condition:
        faults.append(fault)


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(s|m)", text).groups()
    return int(number) * {"s": 1, "m": 60}[unit]


def sources():
    for folder in ("Services", "Shared", "Tools/heliographctl", "Tools/heliograph-load", "Tools/CommandLineSupport"):
        for path in (ROOT / folder).rglob("*.swift"):
            yield path, path.read_text()


compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
swift = dict(sources())
everything = "\n".join(swift.values())
manifests = {}
for overlay in OVERLAYS:
    out = subprocess.run([kustomize, "build", ROOT / "deploy/kubernetes/overlays" / overlay], check=True, capture_output=True, text=True)
    manifests[overlay] = list(yaml.safe_load_all(out.stdout))


def find(overlay, kind, name):
    return next((m for m in manifests[overlay] if m["kind"] == kind and m["metadata"]["name"] == name), None)


def compose_is_hardened():
    for name, service in compose["services"].items():
        check(service.get("read_only"), f"compose: {name} can write to its root")
        check(service.get("cap_drop") == ["ALL"], f"compose: {name} keeps capabilities")
        check("no-new-privileges:true" in service.get("security_opt", []), f"compose: {name} may gain privileges")
        limits = service.get("deploy", {}).get("resources", {}).get("limits", {})
        check({"memory", "cpus", "pids"} <= set(limits), f"compose: {name} lacks limits")
        check("container_name" not in service, f"compose: {name} has a container_name and cannot be scaled")
        check("ulimits" not in service, f"compose: {name} asks for ulimits that not every machine gives")
        check(service.get("restart") == "no" or "healthcheck" in service, f"compose: {name} has no healthcheck")
        for key in service.get("environment", {}):
            check(not re.search(r"PASSWORD$|SECRET_ACCESS_KEY$|^([A-Z]+_KEYS|SESSION_KEY|MEDIA_LINK_KEY|GEMINI_API_KEY|DATABASE_URL|REDIS_URL)$", key),
                  f"compose: {name} has the secret {key} in its environment, not in a file")


def kubernetes_is_hardened():
    for overlay in OVERLAYS:
        for manifest in manifests[overlay]:
            if manifest["kind"] not in ("Deployment", "StatefulSet", "Job"):
                continue
            name, pod = f"{overlay}: {manifest['metadata']['name']}", manifest["spec"]["template"]["spec"]
            check(pod.get("securityContext", {}).get("runAsNonRoot"), f"kubernetes: {name} may run as root")
            check(pod.get("automountServiceAccountToken") is False, f"kubernetes: {name} gets the cluster's token")
            for container in pod["containers"]:
                context = container.get("securityContext", {})
                check(context.get("readOnlyRootFilesystem"), f"kubernetes: {name} can write to its root")
                check(context.get("capabilities", {}).get("drop") == ["ALL"], f"kubernetes: {name} keeps capabilities")
                resources = container.get("resources", {})
                check(resources.get("limits", {}).get("memory") == resources.get("requests", {}).get("memory", 0),
                      f"kubernetes: {name} does not ask for the memory it may use")


def services_are_apart():
    """Each service has its own way to Postgres and Redis, and reaches in compose what the network policies let it reach."""
    networks = compose["networks"]
    inner = {name for name, network in networks.items() if (network or {}).get("internal")}
    check({"redis", "postgres"} <= inner, "compose: the network of Redis or of Postgres leads to the world")
    members = {name: {s for s, service in compose["services"].items() if name in service.get("networks", [])} for name in networks}
    check(members["redis"] == {*SERVICES, "redis"}, f"compose: on the network redis are {sorted(members['redis'])}")
    check(members["postgres"] == {*SERVICES, "postgres", "migrate", "keys"}, f"compose: on the network postgres are {sorted(members['postgres'])}")
    for name, service in compose["services"].items():
        check(service.get("networks") or service.get("network_mode") == "none", f"compose: {name} is on the default network")
    for name in networks:
        if name.startswith("outward-"):
            check(len(members[name]) == 1, f"compose: the network {name} is shared")
    for name in SERVICES:
        mounted = {s["source"] if isinstance(s, dict) else s for s in compose["services"][name]["secrets"]}
        check({s for s in mounted if re.match("(database|redis)-url", s)} == {f"database-url-{name}", f"redis-url-{name}"},
              f"compose: {name} has another way to Postgres or Redis than its own")
        for overlay in OVERLAYS:
            volumes = find(overlay, "Deployment", name)["spec"]["template"]["spec"]["volumes"]
            urls = {s["secret"]["name"] for v in volumes for s in v.get("projected", {}).get("sources", []) for i in s["secret"]["items"]
                    if i["key"].endswith("-url")}
            check(urls == {f"heliograph-{name}"}, f"overlays/{overlay}: {name} has ways to Postgres or Redis from {sorted(urls)}")
    sources = {name: {s["source"] if isinstance(s, dict) else s for s in service.get("secrets", [])} for name, service in compose["services"].items()}
    for name, service in compose["services"].items():
        environment = service.get("environment", {})
        mounted = {s.get("target", s["source"]) if isinstance(s, dict) else s for s in service.get("secrets", [])}
        named = {value.removeprefix("/run/secrets/") for key, value in environment.items()
                 if key.endswith("_FILE") and str(value).startswith("/run/secrets/")}
        # A service refuses to start when a setting names a file that is not there.
        check(named <= mounted, f"compose: settings of {name} name the secrets {sorted(named - mounted)}, which it does not have")
    with_keys = {name for name, mounted in sources.items() if any(re.fullmatch(r"[a-z]+-keys|session-key|media-link-key", s) for s in mounted)}
    with_aws = {name for name, service in compose["services"].items() if "AWS_REGION" in service.get("environment", {}) or "aws-access-key-id" in sources[name]}
    check(with_keys == with_aws, f"compose: {sorted(with_keys ^ with_aws)} have keys or the credentials of AWS KMS, and not both")
    outward = {s for s in SERVICES if not set(compose["services"][s]["networks"]) <= inner}
    for overlay in OVERLAYS:
        policy = find(overlay, "NetworkPolicy", "outward")
        if policy:
            allowed = {v for e in policy["spec"]["podSelector"]["matchExpressions"] for v in e["values"]}
            check(allowed == outward, f"overlays/{overlay}: {sorted(allowed ^ outward)} reach the world in compose or here, not in both")


def has_pooler(folder):
    """Whether an overlay has components/pooler, by itself or by what it is made of."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    parts = [(folder / part).resolve() for key in ("components", "resources") for part in kustomization.get(key, [])]
    return any(part.name == "pooler" or ((part / "kustomization.yaml").exists() and has_pooler(part)) for part in parts)


def database_settings():
    """The settings of Postgres that each service is given, by deployment."""
    def of(names):
        return sorted(name for name in names if name.startswith("DATABASE_"))

    found = {"docker-compose.yml": {name: of(compose["services"][name]["environment"]) for name in SERVICES}}
    for overlay in OVERLAYS:
        shared = next(m["data"] for m in manifests[overlay] if m["kind"] == "ConfigMap" and m["metadata"]["name"].startswith("heliograph"))
        found[f"overlays/{overlay}"] = {
            name: of([e["name"] for e in find(overlay, "Deployment", name)["spec"]["template"]["spec"]["containers"][0]["env"]] + list(shared))
            for name in SERVICES}
    return found


def direct_addresses_are_past_poolers():
    """With DATABASE_DIRECT_URL a service takes DATABASE_URL for a pooler's: it sets no limits there, and prepares no statements."""
    poolers = {"docker-compose.yml": False} | {f"overlays/{o}": has_pooler(ROOT / "deploy/kubernetes/overlays" / o) for o in OVERLAYS}
    found = database_settings()
    for deployment, services in found.items():
        for name, settings in services.items():
            has_direct = any(s.startswith("DATABASE_DIRECT_URL") for s in settings)
            check(has_direct == poolers[deployment],
                  f"{deployment}: {name} {'has' if has_direct else 'lacks'} DATABASE_DIRECT_URL, and {'a' if poolers[deployment] else 'no'} pooler is there")
    golden = ROOT / "Tests/Golden/database-settings.json"
    text = json.dumps(found, indent=2) + "\n"
    if os.environ.get("UPDATE_GOLDEN") == "1":
        golden.write_text(text)
    check(golden.exists() and golden.read_text() == text,
          "Tests/Golden/database-settings.json, by which a test starts clients, is another: UPDATE_GOLDEN=1 deploy/verify/lint.sh writes it")


def services_are_everywhere():
    alerts = (ROOT / "deploy/prometheus/rules/product.yml").read_text()
    targets = (ROOT / "deploy/prometheus/prometheus.yml").read_text()
    shown = "\n".join(p.read_text() for p in (ROOT / "deploy/grafana/dashboards").glob("*.json"))
    for name in SERVICES:
        check(name in compose["services"], f"{name} is not in docker-compose.yml")
        check(f"names: [{name}]" in targets, f"{name} is not scraped by deploy/prometheus/prometheus.yml")
        check(f'service="{name}"' in alerts, f"nobody is told when {name} is down")
        own = {m for path, text in swift.items() if path.is_relative_to(ROOT / "Services" / name) for m in metrics_of(text)}
        check(any(metric in shown for metric in own), f"no dashboard shows a figure of {name}")
        grace = seconds(compose["services"].get(name, {}).get("stop_grace_period", "0s"))
        for overlay in OVERLAYS:
            deployment = find(overlay, "Deployment", name)
            if deployment is None:
                check(False, f"{name} has no Deployment in overlays/{overlay}")
                continue
            pod = deployment["spec"]["template"]["spec"]
            check(pod["terminationGracePeriodSeconds"] == grace, f"{name} has {grace} s to end in compose and another time in overlays/{overlay}")
            check(find(overlay, "PodDisruptionBudget", name), f"{name} has no PodDisruptionBudget in overlays/{overlay}")
            probes = pod["containers"][0]
            check("/readyz" in str(probes.get("readinessProbe")) and "/livez" in str(probes.get("livenessProbe")), f"{name} lacks a probe")


def settings_exist():
    known = set(re.findall(r'"([A-Z][A-Z0-9_]{3,})"', everything))
    foreign = re.compile(r"^(POSTGRES_|PGDATA|GF_|SWIFT_BACKTRACE|INBOX_URL|API_PAGE_URL|GRAFANA_|IDENTITY_API_URL|FCM_URL|MEDIA_CONNECT_TO|REDIS_ADDRESS|REDIS_SENTINEL_MASTER)")

    def look(names, where):
        for name in names:
            check(foreign.match(name) or name in known or name.removesuffix("_FILE") in known, f"{where} sets {name}, which nobody reads")

    for name, service in compose["services"].items():
        look(service.get("environment", {}), f"compose: {name}")
    for overlay in OVERLAYS:
        for manifest in manifests[overlay]:
            if manifest["kind"] == "ConfigMap":
                look(manifest["data"], f"overlays/{overlay}: the ConfigMap")
            if manifest["kind"] in ("Deployment", "Job"):
                for container in manifest["spec"]["template"]["spec"]["containers"]:
                    look([e["name"] for e in container.get("env", [])], f"overlays/{overlay}: {container['name']}")


def scaling_follows_streams():
    streams = set(re.findall(r'EventType\(rawValue: "([a-z.]+)"\)', everything)) | {f"notification.addressed.{lane}" for lane in ("urgent", "normal", "bulk")}
    streams |= {"ekyc.requested.known", "ekyc.requested.bulk", "image.requested.bulk"}
    schema = json.loads((ROOT / "deploy/kubernetes/schemas/keda.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for overlay in OVERLAYS:
        settings = next(m["data"] for m in manifests[overlay] if m["kind"] == "ConfigMap")
        for manifest in manifests[overlay]:
            if not manifest["apiVersion"].startswith("keda.sh/"):
                continue
            name = manifest["metadata"]["name"]
            where = f"overlays/{overlay}: keda: {name}"
            for error in validator.iter_errors(manifest):
                check(False, f"{where}: {error.json_path}: {error.message}")
            triggers = manifest["spec"].get("triggers", [])
            check(len({t["type"] for t in triggers}) < 2, f"{where} asks Redis in two ways")
            for trigger in triggers:
                metadata = trigger["metadata"]
                stream = re.sub(r"^heliograph:\{(.*)\}$", r"\1", metadata["stream"])
                check(stream in streams, f"{where} looks at {stream}, which no event goes through")
                check(metadata["consumerGroup"] == name, f"{where} looks at the group {metadata['consumerGroup']}")
                for key in metadata:
                    check(not key.endswith("FromEnv") or metadata[key] in settings, f"{where} reads {metadata[key]}, which the ConfigMap lacks")


def metrics_of(text):
    """The names of metrics that a source makes, as they are scraped."""
    found = set()
    for kind, name in re.findall(r'(Counter|Gauge|Timer|Recorder|Meter)\(\s*label: "([a-z_]+)"', text):
        found.add(name if kind != "Counter" or name.endswith("_total") else name + "_total")
    found |= set(re.findall(r'(?:counter|gauge|add)\("([a-z_]+)"', text))
    return found


def metrics_exist():
    known = metrics_of(everything) | {"up"}
    expressions = []
    for path in (ROOT / "deploy/grafana/dashboards").glob("*.json"):
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel.get("targets", []):
                expressions.append((f"{path.name}: {panel['title']}", target["expr"].replace("$__rate_interval", "1m")))
    for path in (ROOT / "deploy/prometheus/rules").glob("*.yml"):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                expressions.append((f"{path.name}: {rule['alert']}", rule["expr"]))
    for where, expression in expressions:
        bare = re.sub(r'"[^"]*"|\{\{.*?\}\}|\[[^\]]*\]|\{[^}]*\}|\b(by|without|on)\s*\([^)]*\)', " ", expression)
        for name in re.findall(r"\b([a-z]+_[a-z_]+|up)\b(?!\s*\()", bare):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            check(name in known or base in known, f"{where} asks for {name}, which nobody exports")
    rules = [{"record": f"dashboard:expression{i}", "expr": e} for i, (_, e) in enumerate(expressions)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump({"groups": [{"name": "expressions", "rules": rules}]}, file)
        file.flush()
        out = subprocess.run([promtool, "check", "rules", file.name], capture_output=True, text=True)
        check(out.returncode == 0, f"an expression cannot be read: {out.stderr.strip()}")


def alerts_are_explained():
    tests = "\n".join(p.read_text() for p in (ROOT / "deploy/prometheus/tests").glob("*.yml"))
    pages = {p.stem for p in (ROOT / "deploy/runbooks").glob("*.md")}
    used = set()
    for path in (ROOT / "deploy/prometheus/rules").glob("*.yml"):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                page = pathlib.Path(rule["annotations"]["runbook"]).stem
                used.add(page)
                check(page in pages, f"the alert {rule['alert']} has no page {page}")
                check(re.search(rf"alertname: {rule['alert']}\n\s+exp_alerts", tests), f"no test sees the alert {rule['alert']} fire")
    for page in pages - used:
        check(False, f"the page {page} belongs to no alert")


def readiness_checks_are_explained():
    page = (ROOT / "deploy/runbooks/NotReady.md").read_text()
    names = set(re.findall(r'\.register(?:Liveness)?\("([a-z_-]+)"\) ?\{', everything)) | {"lifecycle"}
    check(len(names) > 8, f"only the checks {sorted(names)} were found in the code")
    for name in sorted(names):
        check(f"`{name}`" in page, f"deploy/runbooks/NotReady.md lacks the check {name}")


# The ages that an instance measures on itself; all others are measured by all instances on the same table or group.
OWN_AGES = {"bus_read_loop_silence_seconds", "push_queue_oldest_seconds"}


def shared_ages_are_the_least():
    """An age grows by the clock on an instance that cannot read its source: by max, one isolated instance would alert for all."""
    ages = set(re.findall(r'(?:Gauge\(\s*label: |gauge\()"([a-z_]+_seconds)"', everything))
    check(OWN_AGES < ages, f"the ages {sorted(OWN_AGES - ages)} are not in the code")
    texts = {path.name: path.read_text() for path in (ROOT / "deploy/prometheus/rules").glob("*.yml")}
    texts |= {path.name: path.read_text() for path in (ROOT / "deploy/grafana/dashboards").glob("*.json")}
    for name, text in texts.items():
        for operator, age in re.findall(r"([a-z_]+)(?: by \([^)]*\))? ?\(([a-z_]+_seconds)\b", text):
            check(age not in ages - OWN_AGES or operator in ("min", "min_over_time"), f"{name} takes the {operator} of {age}, which all instances measure")


def grafana_is_provisioned():
    provisioning = ROOT / "deploy/grafana/provisioning"
    grafana = compose["services"]["grafana"]
    mounts = dict(volume.split(":")[:2] for volume in grafana["volumes"])
    check(mounts.get("./deploy/grafana/provisioning") == "/etc/grafana/provisioning", "grafana: its provisioning is not mounted")
    folder = mounts.get("./deploy/grafana/dashboards")
    sources = {s["uid"]: s for p in provisioning.glob("datasources/*.y*ml") for s in yaml.safe_load(p.read_text())["datasources"]}
    for path in provisioning.glob("dashboards/*.y*ml"):
        for provider in yaml.safe_load(path.read_text())["providers"]:
            check(provider["options"]["path"] == folder, f"grafana: {path.name} looks for dashboards where none are mounted")
    for source in sources.values():
        host, port = re.fullmatch(r"http://([a-z]+):(\d+)", source["url"]).groups()
        ports = str(compose["services"].get(host, {}).get("ports", []))
        check(f":{port}'" in ports, f"grafana: {source['name']} is at {source['url']}, which nobody serves")
    uids = set()
    for path in (ROOT / "deploy/grafana/dashboards").glob("*.json"):
        dashboard = json.loads(path.read_text())
        check(dashboard["uid"] not in uids, f"grafana: two dashboards are called {dashboard['uid']}")
        uids.add(dashboard["uid"])
        kinds = {"${%s}" % v["name"]: v["query"] for v in dashboard["templating"]["list"] if v["type"] == "datasource"}
        for panel in dashboard["panels"]:
            asked = panel.get("datasource", {}).get("uid")
            found = asked is None or asked in sources or kinds.get(asked) in {s["type"] for s in sources.values()}
            check(found, f"grafana: {path.name}: {panel['title']} asks the source {asked}, which there is not")
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    check(home.startswith(f"{folder}/") and (ROOT / "deploy/grafana/dashboards" / pathlib.Path(home).name).exists(), "grafana: its home page is not there")


for step in (compose_is_hardened, kubernetes_is_hardened, services_are_apart, direct_addresses_are_past_poolers, services_are_everywhere, settings_exist, scaling_follows_streams, metrics_exist, alerts_are_explained,
             readiness_checks_are_explained, shared_ages_are_the_least, grafana_is_provisioned):
    step()
for fault in faults:
    print(fault)
sys.exit(bool(faults))
