#!/usr/bin/env bash
# Generates clients for TypeScript and Kotlin from the OpenAPI document, and compiles them.
#   clients.sh [FOLDER]
# The generator, openapi-generator, comes from PyPI, and so does the compiler of Kotlin; that of TypeScript is Debian's. Of OkHttp and Moshi,
# which the client for Kotlin is written against, there are stand-ins to compile against (standins/kotlin). Takes a minute, and 400 MB of
# downloads the first time. Exits with 1 when a client has a warning of the generator or does not compile.
set -euo pipefail
cd "$(dirname -- "$0")/../.."
folder=${1:-.build/clients}
tools=.cache/clients
document=Tests/Golden/openapi.json
[[ ${1:-} != -* ]] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0; }

echo "clients: tools …"
if ! command -v tsc java >/dev/null; then apt-get install -y -q node-typescript default-jre-headless >/dev/null; fi
if [ ! -x $tools/venv/bin/openapi-generator-cli ]; then
    python3 -m venv $tools/venv
    $tools/venv/bin/pip install --quiet 'openapi-generator-cli==7.26.0'
fi
if [ ! -d $tools/kotlin ]; then
    rm -rf $tools/kotlin.new $tools/kotlin_jupyter_kernel-*.whl
    $tools/venv/bin/pip download --quiet --no-deps --dest $tools 'kotlin-jupyter-kernel==0.19.0.944'
    unzip -qoj $tools/kotlin_jupyter_kernel-*.whl 'run_kotlin_kernel/jars/*' -d $tools/kotlin.new
    rm -f $tools/kotlin_jupyter_kernel-*.whl
    mv $tools/kotlin.new $tools/kotlin
fi

rm -rf "$folder"
mkdir -p "$folder"
for language in typescript-fetch kotlin; do
    echo "clients: generating $language …"
    $tools/venv/bin/openapi-generator-cli generate -i $document -g $language -o "$folder/$language" >"$folder/$language.log" 2>&1
    # It says of every document of OpenAPI 3.1 that its support is new, and of files that they have no enumeration.
    if grep -E ' (WARN|ERROR) ' "$folder/$language.log" | grep -vE 'support is still in beta|Could not compute datatypeWithEnum'; then
        echo "clients: the generator warns of $language (log in $folder/$language.log)" >&2
        exit 1
    fi
done

echo "clients: compiling TypeScript …"
tsc --noEmit --target es2020 --lib es2020,dom --moduleResolution node "$folder/typescript-fetch/index.ts"

echo "clients: compiling Kotlin …"
jars=$tools/kotlin
classpath=$(find "$jars" -name 'kotlin-stdlib-*.jar' -o -name 'kotlin-reflect-*.jar' | paste -sd:)
java -Xmx2g -cp "$jars/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -nowarn -no-stdlib -no-reflect -cp "$classpath" \
    -d "$folder/kotlin.jar" deploy/verify/standins/kotlin "$folder/kotlin/src/main/kotlin"
echo "clients: both compile."
