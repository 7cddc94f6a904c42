#!/usr/bin/env bash
# check.sh CMAKE BUILD_FOLDER TORCH_DIR PROJECT [COMPILER LAUNCHER…]: installs the library into a folder of its own,
# builds the project against it, and runs that.
set -euo pipefail
cmake=$1 build=$2 torch=$3 project=$4
shift 4
place=$build/consumer
rm -rf "$place"
"$cmake" --install "$build" --component library --prefix "$place/installed" >/dev/null
"$cmake" -S "$project" -B "$place/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$place/installed" -DTorch_DIR="$torch" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(IFS=';'; echo "$*")" >/dev/null
"$cmake" --build "$place/build" >/dev/null
if "$place/build/consumer"; then passed=1 failed=0; else passed=0 failed=1; fi
[ -z "${RESULTS:-}" ] || cat >"$RESULTS/consumer.xml" <<XML
<testsuites><testsuite name="consumer" tests="1" failures="$failed"><testcase name="outside_project" classname="consumer">$([ $failed = 0 ] || echo '<failure/>')</testcase></testsuite></testsuites>
XML
echo "$passed passed, $failed failed"
[ $failed = 0 ]
