#!/usr/bin/env bash
# Tests of Power, with verdicts, to infer a model from: the cycles of power.edges and of power-ppo.edges, and what
# examples/models/power.cat says of each. Usage: power.sh [FOLDER] [SYNTH]
set -euo pipefail
out=${1:-power}
synth=${2:-synth}
here=$(dirname "$0")

if [ -e "$out" ]; then
    echo "$out exists; remove it first, or name another folder" >&2
    exit 2
fi

mkdir -p "$out"
"$synth" memory --edges "@$here/power.edges" --size 4..6 --model "$here/../models/power.cat" -o "$out/cycles"
"$synth" memory --edges "@$here/power-ppo.edges" --size 4..7 --thread-accesses 4 \
    --model "$here/../models/power.cat" -o "$out/ppo"
