#!/usr/bin/env bash
# The locks, queues and scans of examples/locks: what a memory model says of the bad outcome that each asks about, and
# what progress models say of its waiting; and for each that may hang a drawing of a run that does, under the fairest
# model that allows one. Usage: locks.sh [FOLDER] [SYNTH]
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
fairest_first=(-m fair-weak -m lobe-weak -m obe-weak -m hsa-weak)
"$synth" label "$examples"/*.litmus "${fairest_first[@]}" --format csv | grep MAY_HANG | sort -s -u -t, -k1,1 |
    while IFS=, read -r test model _; do
        picture=$out/$(basename "$test" .litmus).$model.svg
        "$synth" explain "$test" -m "$model" --svg "$picture" > "${picture%.svg}.txt"
        echo "$picture"
    done
