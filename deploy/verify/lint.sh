#!/usr/bin/env bash
# Checks everything that describes a deployment without starting anything; `make test` does, in seconds.
# One line a step: PASS, FAIL with what is wrong, or SKIP with the reason. Exits with 1 when a step fails.
set -uo pipefail
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root" || exit 1
tools=$root/.cache/verify
python=$tools/python/bin
bin=$tools/root/usr/bin
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# step NAME COMMAND…: its output is shown when it fails.
step() {
    local name=$1
    shift
    if "$@" >"$scratch/output" 2>&1; then
        printf 'PASS  %s\n' "$name"
    else
        printf 'FAIL  %s\n' "$name"
        sed 's/^/      /' "$scratch/output"
        failed=1
    fi
}

if ! "$root/deploy/verify/tools.sh" lint >"$scratch/tools" 2>&1; then
    printf 'SKIP  all checks of deployments: their tools cannot be fetched\n'
    sed 's/^/      /' "$scratch/tools"
    exit 0
fi

# manifests OVERLAY: as one file, checked against the schemas of Kubernetes.
# shellcheck disable=SC2329
manifests() {
    "$bin/kustomize" build "deploy/kubernetes/overlays/$1" >"$scratch/$1.yaml" || return 1
    if ! "$python/kubernetes-validate" -k 1.32 --strict "$scratch/$1.yaml" >"$scratch/$1.log" 2>&1; then
        cat "$scratch/$1.log"
        return 1
    fi
    # Kinds of operators have no schema there: crosscheck.py checks KEDA's against our own.
    ! grep WARN "$scratch/$1.log" | grep -vE 'kind (ScaledObject|TriggerAuthentication|PodMonitor) '
}

# With the executables that there are: `make dist` writes the whole one.
# shellcheck disable=SC2329
bill_of_materials() {
    local binaries=.build/debug
    [ ! -d .build-release/release ] || binaries=.build-release/release
    python3 deploy/docker/sbom.py --partial "$binaries" >"$scratch/bill.json" || return 1
    "$python/python" deploy/verify/check-sbom.py "$scratch/bill.json"
}

mapfile -t scripts < <(git ls-files '*.sh' .ci/run; git ls-files --others --exclude-standard '*.sh')
mapfile -t yaml < <(git ls-files 'docker-compose.yml' 'deploy/*.yml' 'deploy/*.yaml'; git ls-files --others --exclude-standard 'deploy/*.yml' 'deploy/*.yaml')

step "Dockerfile (hadolint)" "$python/hadolint" --ignore DL3008 deploy/docker/Dockerfile
step "shell scripts (shellcheck)" "$python/shellcheck" --severity warning "${scripts[@]}"
step "YAML (yamllint)" "$python/yamllint" -s -c deploy/verify/yamllint.yml "${yaml[@]}"
step "compose (schema)" "$python/check-jsonschema" --builtin-schema vendor.compose-spec docker-compose.yml deploy/docker/prebuilt.compose.yml
for overlay in local production production-sentinel; do step "Kubernetes, overlay $overlay (kustomize, schemas)" manifests "$overlay"; done
step "Prometheus' rules (promtool)" "$bin/promtool" check rules deploy/prometheus/rules/*.yml
step "alerts fire when they should (promtool)" "$bin/promtool" test rules deploy/prometheus/tests/*.yml
step "Alertmanager (amtool)" "$bin/amtool" check-config deploy/prometheus/alertmanager.yml
step "dashboards are what their source says" python3 deploy/grafana/make-dashboards.py --check
step "compose, Kubernetes, Prometheus, Grafana and code agree" "$python/python" deploy/verify/crosscheck.py "$bin/kustomize" "$bin/promtool"
if [ -e Package.resolved ]; then
    step "bill of materials (CycloneDX 1.5)" bill_of_materials
else
    printf 'SKIP  bill of materials: Package.resolved is there after a build\n'
fi
step "images have tags or digests" python3 deploy/verify/images.py
# A digest can be named only after a registry was asked for it: this is advice, and fails nothing.
python3 deploy/verify/images.py | sed 's/^/WARN  /'
exit $failed
