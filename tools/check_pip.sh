#!/usr/bin/env bash
# check_pip.sh PYTHON TORCH-VERSION: installs the package with pip into an environment of its own, as a user of PyTorch
# would, and uses it there. Says how long that took.
set -euo pipefail
python=$1 torch=$2
root=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/environment"
pip() { "$place/environment/bin/python" -m pip --disable-pip-version-check -q "$@"; }
pip install "torch==$torch" numpy
begin=$SECONDS
pip install "$root"
took=$((SECONDS - begin))
cd "$place"  # not the repository, whose folders could be imported by mistake
"$place/environment/bin/python" - <<'PYTHON'
import torch
import synthesizer

assert "site-packages" in synthesizer.__file__, synthesizer.__file__
layer = synthesizer.Attention("R+V", width=32, heads=4, max_length=16, causal=True)
layer(torch.randn(2, 10, 32)).sum().backward()
assert synthesizer.metrics.bleu(["a b c d"], ["a b c d"])["bleu"] > 99.9
PYTHON
echo "pip install . took $((took / 60)) min $((took % 60)) s; the package works"
