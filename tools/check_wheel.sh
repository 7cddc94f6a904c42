#!/usr/bin/env bash
# check_wheel.sh PYTHON TORCH-VERSION WHEEL: installs the wheel into an environment of its own that has torch and nothing
# else of ours, uses a layer and a run there, and makes sure that no library of the system's packages was loaded, and
# that the licences of the libraries in it are there. The run is a model of tests/interop, imported by the built synth.
set -euo pipefail
python=$1 torch=$2 wheel=$(readlink -f "$3")
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" - "$wheel" <<'PYTHON'
import sys
import zipfile

names = zipfile.ZipFile(sys.argv[1]).namelist()
libraries = [name for name in names if "/libraries/" in name]
licences = [name for name in names if "/licenses/" in name]
assert libraries and licences, f"{len(libraries)} libraries and {len(licences)} licences are in the wheel"
PYTHON
"$python" -m venv "$place/environment"
pip() { "$place/environment/bin/python" -m pip --disable-pip-version-check -q "$@"; }
pip install "torch==$torch" numpy
pip install --no-deps "$wheel"
pip check
cp "$root/examples/layer.py" "$place"
"$root/build/release/bin/synth" import "$root/tests/interop/references/marian" --run "$place/run" --quiet
cd "$place"  # not the repository, whose folders could be imported by mistake
env -u LD_LIBRARY_PATH -u PYTHONPATH "$place/environment/bin/python" - <<'PYTHON'
import re
import torch


def libraries():
    return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}


before = libraries()
import synthesizer

assert "site-packages" in synthesizer.__file__, synthesizer.__file__
layer = synthesizer.Attention("R+V", width=32, heads=4, max_length=16, causal=True)
layer(torch.randn(2, 10, 32)).sum().backward()
assert synthesizer.metrics.bleu(["a b c d"], ["a b c d"])["bleu"] > 99.9

run = synthesizer.load("run")
assert len(run.translate(["A man rides a horse.", "Two dogs."], beam=2)) == 2

# Every Python has the first kind; the second belongs to modules of Python itself.
known = re.compile(r"/(lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+)|ld-linux.*)\.so|lib-dynload/|/lib(ffi|z|bz2|lzma|crypto|ssl)\.")
outside = [path for path in libraries() - before if "site-packages" not in path and not known.search(path)]
assert not outside, f"libraries of the system were loaded: {outside}"
PYTHON
env -u LD_LIBRARY_PATH -u PYTHONPATH "$place/environment/bin/python" layer.py
echo "$(basename "$wheel"): installs and works beside torch $torch alone"
