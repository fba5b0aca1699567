#!/usr/bin/env bash
# The locks, queues and scans of examples/locks: what a memory model says of the bad outcome that each asks about, what
# progress models say of its waiting, and a drawing of a run that hangs for each that may hang under HSA or OBE, or else
# under weak fairness. Usage: locks.sh [FOLDER] [SYNTH]
set -euo pipefail
out=${1:-locks}
synth=${2:-synth}
examples=$(dirname "$0")/locks

if [ -e "$out" ]; then
    echo "$out exists; remove it first, or name another folder" >&2
    exit 2
fi

progress=(-m hsa -m obe -m lobe -m fair)
"$synth" label "$examples"/[!cv]*.litmus -m ptx-6.0 "${progress[@]}"
"$synth" label "$examples"/cl-*.litmus -m rc11-scoped "${progress[@]}"
"$synth" label "$examples"/vk-*.litmus -m vulkan "${progress[@]}"

mkdir -p "$out"
for test in "$examples"/[!cv]*.litmus; do
    name=$(basename "$test" .litmus)
    for model in fair-weak lobe-weak obe-weak hsa-weak; do
        if "$synth" label "$test" -m "$model" --format csv | grep -q MAY_HANG; then
            "$synth" explain "$test" -m "$model" --svg "$out/$name.$model.svg" | head -1
            break
        fi
    done
done
