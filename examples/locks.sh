#!/usr/bin/env bash
# The locks, queues and scans of examples/locks: what a memory model says of the bad outcome that each asks about, and
# what progress models say of its waiting. Every MAY_HANG is drawn, a run that hangs, and told as text beside;
# FOLDER/README.md has the tables, and for each MAY_HANG who waits for ever, with a link to the drawing.
# Usage: locks.sh [FOLDER] [SYNTH]
set -euo pipefail
out=${1:-locks}
synth=${2:-synth}
examples=$(dirname "$0")/locks

if [ -e "$out" ]; then
    echo "$out exists; remove it first, or name another folder" >&2
    exit 2
fi
mkdir -p "$out"
progress=(-m hsa -m obe -m lobe -m fair)

tables() {
    echo "Is the bad outcome possible that a test asks about? Consistency models: ptx-6.0, rc11-scoped, vulkan."
    echo "Does each run end? Progress models, by what they promise:"
    echo "  hsa   the thread with the lowest number that has not ended is run"
    echo "  obe   who has started is run on"
    echo "  lobe  who has started is run on, and so is everybody with a lower number"
    echo "  fair  everybody is run"
    echo "weak: who is promised it takes steps for ever; strong: and each step that comes up again and again."
    "$synth" label "$examples"/[!cv]*.litmus -m ptx-6.0 "${progress[@]}"
    "$synth" label "$examples"/cl-*.litmus -m rc11-scoped "${progress[@]}"
    "$synth" label "$examples"/vk-*.litmus -m vulkan "${progress[@]}"
}
tables | tee "$out/tables.txt"

draw() { # SYNTH FOLDER TEST,MODEL,MAY_HANG,
    IFS=, read -r test model _ <<< "$3"
    picture=$2/$(basename "$test" .litmus).$model.svg
    "$1" explain "$test" -m "$model" --picture "$picture" > "${picture%.svg}.txt"
}
export -f draw
"$synth" label "$examples"/*.litmus "${progress[@]}" --format csv | grep MAY_HANG > "$out/hangs.csv"
tr '\n' '\0' < "$out/hangs.csv" |
    xargs -0 -P "$(getconf _NPROCESSORS_ONLN)" -I '{}' bash -c 'draw "$@"' draw "$synth" "$out" '{}'

{
    echo '# Locks, queues and scans'
    printf '\n```\n%s\n```\n' "$(< "$out/tables.txt")"
    printf '\n| test | model | a run that hangs |\n|---|---|---|\n'
    while IFS=, read -r test model _; do
        name=$(basename "$test" .litmus)
        why=$(sed -n 's/.*<title>.*MAY_HANG, \(.*\)<\/title>.*/\1/p' "$out/$name.$model.svg" | head -1)
        echo "| $name | $model | [$why]($name.$model.svg), [step by step]($name.$model.txt) |"
    done < "$out/hangs.csv"
} > "$out/README.md"
rm "$out/tables.txt" "$out/hangs.csv"
echo "$(find "$out" -name '*.svg' | wc -l) runs that hang are drawn; $out/README.md leads to them"
