# What the project stands on, and how it gets there. Sourced by ./run; needs $root.

debian_packages=(
  g++ cmake ninja-build ccache mold git python3 python3-venv python3-dev
  pkg-config libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libxxhash-dev
  libsentencepiece-dev zlib1g-dev wordnet-base libcairo2-dev fonts-dejavu-core libjs-vega
  libgtest-dev libgmock-dev librapidcheck-dev
  clang-format clang-tidy
)
# What the tests of the report's page need beside that. Whoever only builds or looks does without a browser.
browser_packages=(chromium chromium-driver fonts-dejavu-core)
torch_version=2.13.0
test_tools=(numpy pytest ruff safetensors selenium)
bench_tools=(matplotlib safetensors ctranslate2==4.8.4)

venv_python() { echo "$root/.venv/bin/python"; }

missing_packages() {  # missing_packages NAME…
  local package
  for package in "$@"; do
    # A tool that is there by other means (another python, a newer cmake) counts too.
    case $package in
      python3 | python3-venv | python3-dev) python3 -c 'import venv, sysconfig, os; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null && continue ;;
      ninja-build) command -v ninja >/dev/null && continue ;;
      g++ | cmake | ccache | mold | git | pkg-config | clang-format | clang-tidy) command -v "$package" >/dev/null && continue ;;
    esac
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

install_packages() {  # install_packages NAME…
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "setup: installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "run: error: these Debian packages are missing: ${missing[*]}" >&2
    echo "run: install them (sudo apt-get install ${missing[*]}) and try again" >&2
    exit 1
  fi
}

# A .venv in the repository. It borrows the torch of the python on PATH where there is one of the right version,
# and has its own otherwise (the CPU build: plain `torch` would bring gigabytes of CUDA packages).
make_venv() {
  local python stamp=$root/.venv/ready wanted="torch $torch_version ${test_tools[*]}"
  [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return 0
  python=$(venv_python)
  if ! "$python" -c "import torch; assert torch.__version__.split('+')[0] == '$torch_version'" 2>/dev/null; then
    local options=()
    if python3 -c "import torch; assert torch.__version__.split('+')[0] == '$torch_version'" 2>/dev/null; then
      options=(--system-site-packages)
    fi
    echo "setup: making .venv"
    rm -rf "$root/.venv"
    python3 -m venv "${options[@]}" "$root/.venv"
    "$python" -c 'import torch' 2>/dev/null || "$python" -m pip install -q "torch==$torch_version"
  fi
  "$python" -m pip install -q "${test_tools[@]}"
  echo "$wanted" >"$stamp"
}

setup() {
  install_packages "${debian_packages[@]}"
  make_venv
}

setup_tests() { install_packages "${browser_packages[@]}"; }

setup_bench() { "$(venv_python)" -c 'import matplotlib, safetensors, ctranslate2' 2>/dev/null || "$(venv_python)" -m pip install -q "${bench_tools[@]}"; }

sources() { git ls-files --cached --others --exclude-standard "$@"; }

format() {
  sources '*.cpp' '*.h' '*.js' | xargs clang-format -i
  "$root/.venv/bin/ruff" format -q python tests bench tools
}

lint() {
  local status=0
  sources '*.cpp' '*.h' '*.js' | xargs clang-format --dry-run --Werror || status=1
  "$root/.venv/bin/ruff" check -q python tests bench tools || status=1
  sources 'src/*.cpp' | xargs clang-tidy -p build/release --quiet 2>/dev/null || status=1
  [ $status = 0 ] && echo "lint: clean"
  return $status
}
