#!/usr/bin/env bash
# The demonstration of `make demo`: from a question to results on this machine. Usage: demo.sh FOLDER [SYNTH]
set -euo pipefail
out=$1
synth=${2:-synth}

step() {
    printf '\n== %s\n' "$1"
    shift
    printf '$ synth %s\n' "$*"
    "$synth" "$@"
}

if [ -e "$out" ]; then
    echo "$out exists; remove it first (make clean does)" >&2
    exit 2
fi

step "Every minimal progress test of two threads with three instructions in all" \
    progress --threads 2 --instrs 3 -o "$out/suite"
step "What is in it" show "$out/suite" --svg "$out/models.svg"
step "What the models say of a mutex" label examples/progress/mutex.axb
step "Why it may hang under weak HSA" \
    explain examples/progress/mutex.axb --model hsa-weak --svg "$out/mutex.svg"
step "The fewest tests that tell the models apart" select "$out/suite" --separate-models -o "$out/handful"
for backend in cuda glsl; do
    step "Code for ${backend^^}" compile "$out/suite" --backend "$backend" --mapping all -o "$out/$backend"
done
for backend in opencl cpp; do
    step "Code for $backend, compiled" compile "$out/handful" --backend "$backend" --mapping all -o "$out/$backend" --check
done
step "The handful on PoCL, OpenCL's CPU device, in three mappings of threads to work-groups" \
    run "$out/handful" --backend opencl --instances 64 --iterations 3 --timeout 2
step "The same with C++ threads" run "$out/handful" --backend cpp --iterations 3 --timeout 2

cat <<EOF

Look at
  $out/suite/          the corpus: manifest.json, tests.jsonl, labels.csv (docs/corpus.md)
  $out/models.svg      how the tests spread over the models
  $out/mutex.svg       the mutex's transition system, with the cycle that starves a thread
  $out/handful/        the tests that tell the models apart, and results.jsonl of their runs
  $out/cuda/ $out/glsl/ $out/opencl/ $out/cpp/    programs to take to a GPU (docs/backends.md)
EOF
