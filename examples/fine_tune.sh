#!/usr/bin/env bash
# An imported translation model with R+V in place of V, trained further on a text of one's own.
#
#   examples/fine_tune.sh MODEL-FOLDER TRAIN.SOURCE TRAIN.TARGET OUT [SETTING…]
#
# MODEL-FOLDER: a MarianMT or T5 of Hugging Face. SETTING: keys of the recipe, such as train.steps=2000.
# Three runs are left in OUT: imported, mixed (which translates exactly like imported), and tuned.
set -euo pipefail
[ $# -ge 4 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for file in "$2" "$3"; do  # before anything is made
  [ -f "$file" ] && [ -r "$file" ] || { echo "$file cannot be read: it is to be a text, one sentence a line" >&2; exit 2; }
done
model=$1 source=$(readlink -f "$2") target=$(readlink -f "$3") out=$4
shift 4
if [ -n "${SYNTH:-}" ]; then synth=("$SYNTH"); else synth=("$(dirname "$0")/../run" synth); fi
settings=()
for setting in "$@"; do settings+=(--set "$setting"); done
"${synth[@]}" import "$model" --run "$out/imported"
"${synth[@]}" convert "$out/imported" --attention R+V --run "$out/mixed"
"${synth[@]}" train --init-from "$out/mixed" --run "$out/tuned" --set "data.train=[\"$source\", \"$target\"]" \
  --set train.learning_rate=1e-4 --set train.logit_learning_rate=10.0 --set train.warmup=0 "${settings[@]}"
"${synth[@]}" eval "$out/tuned" --data "$source" --data "$target"
