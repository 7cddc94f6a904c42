#!/usr/bin/env bash
# check.sh CMAKE BUILD_FOLDER TORCH_DIR PROJECT [COMPILER LAUNCHER…]: installs the library into a folder of its own,
# builds the project against it, and runs that. What a step says is shown where it fails.
set -euo pipefail
cmake=$1 build=$2 torch=$3 project=$4
shift 4
place=$build/consumer
result() {  # result FAILURES: for ctest, and as a file for the count
  [ -z "${RESULTS:-}" ] || cat >"$RESULTS/consumer.xml" <<XML
<testsuites><testsuite name="consumer" tests="1" failures="$1"><testcase name="outside_project" classname="consumer">$([ "$1" = 0 ] || echo '<failure/>')</testcase></testsuite></testsuites>
XML
  echo "$((1 - $1)) passed, $1 failed"
  exit "$1"
}
step() {
  local said
  said=$("$@" 2>&1) || { echo "$said" && result 1; }
}
rm -rf "$place"
step "$cmake" --install "$build" --component library --prefix "$place/installed"
step "$cmake" -S "$project" -B "$place/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$place/installed" -DTorch_DIR="$torch" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(IFS=';'; echo "$*")"
step "$cmake" --build "$place/build"
step "$place/build/consumer"
result 0
