#!/usr/bin/env bash
# check_wheel.sh PYTHON TORCH-VERSION WHEEL: installs the wheel into an environment of its own that has torch and nothing
# else of ours, uses it there, and makes sure that no library of the system's packages was loaded.
set -euo pipefail
python=$1 torch=$2 wheel=$(readlink -f "$3")
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/environment"
pip() { "$place/environment/bin/python" -m pip --disable-pip-version-check -q "$@"; }
pip install "torch==$torch" numpy
pip install --no-deps "$wheel"
pip check
cp "$root/examples/layer.py" "$place"
cd "$place"  # not the repository, whose folders could be imported by mistake
env -u LD_LIBRARY_PATH -u PYTHONPATH "$place/environment/bin/python" - <<'PYTHON'
import re
import torch
import synthesizer

assert "site-packages" in synthesizer.__file__, synthesizer.__file__
layer = synthesizer.Attention("R+V", width=32, heads=4, max_length=16, causal=True)
layer(torch.randn(2, 10, 32)).sum().backward()
assert synthesizer.metrics.bleu(["a b c d"], ["a b c d"])["bleu"] > 99.9

loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
ours = re.compile(r"lib(sentencepiece|fmt|hwy|tomlplusplus|protobuf)")
outside = [path for path in loaded if ours.search(path) and "site-packages" not in path]
assert not outside, f"libraries of the system were loaded: {outside}"
PYTHON
env -u LD_LIBRARY_PATH -u PYTHONPATH "$place/environment/bin/python" layer.py
echo "$(basename "$wheel"): installs and works beside torch $torch alone"
