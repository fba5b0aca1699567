#!/usr/bin/env bash
# The demonstration of `make demo`: from a question to results on this machine. Usage: demo.sh FOLDER [SYNTH]
# What needs a compiler or device that is not here is left out, and named at the end.
set -euo pipefail
out=$1
synth=${2:-synth}

step() {
    printf '\n== %s\n' "$1"
    shift
    printf '$ synth %s\n' "$*"
    "$synth" "$@"
}

# optional WHAT TITLE COMMAND...: a step for which a compiler or device may be lacking; synth then ends with code 2.
left=()
optional() {
    local what=$1 status=0
    shift
    step "$@" 2>"$out/errors" || status=$?
    cat "$out/errors" >&2
    [ "$status" -ne 2 ] || left+=("$what: $(tail -n 1 "$out/errors" | sed 's/^synth: --check //')")
    rm "$out/errors"
    return "$status"
}

if [ -e "$out" ]; then
    echo "$out exists; remove it first (make clean does)" >&2
    exit 2
fi

printf '\n== The compilers and devices of this machine\n$ synth devices\n'
devices=$("$synth" devices)
printf '%s\n' "$devices"
step "Every minimal progress test of two threads with three instructions in all" \
    progress --threads 2 --instrs 3 -o "$out/suite"
step "What is in it" show "$out/suite" --picture "$out/models.svg"
step "What the models say of a mutex" label examples/progress/mutex.axb
step "Why it may hang under weak HSA" \
    explain examples/progress/mutex.axb --model hsa-weak --picture "$out/mutex.svg"
step "The fewest tests that tell the models apart" select "$out/suite" --separate-models -o "$out/handful"
for backend in cuda glsl; do
    step "Code for ${backend^^}" compile "$out/suite" --backend "$backend" --mapping all -o "$out/$backend"
done
handful=(run "$out/handful" --iterations 3)
for backend in opencl cpp; do
    code=(compile "$out/handful" --backend "$backend" --mapping all -o "$out/$backend")
    status=0
    optional "$backend" "Code for $backend, compiled" "${code[@]}" --check || status=$?
    if [ "$status" -eq 2 ]; then
        step "Code for $backend, as nothing here compiles it" "${code[@]}"
    elif [ "$status" -ne 0 ]; then
        exit "$status"
    elif [ "$backend" = opencl ]; then
        step "The handful on an OpenCL device, in three mappings of threads to work-groups" \
            "${handful[@]}" --backend opencl --instances 64
    else
        step "The same with C++ threads" "${handful[@]}" --backend cpp
    fi
done
step "What was seen, and what it says of the models, as a page" report "$out/handful" -o "$out/report.html"

cat <<EOF

Look at
  $out/suite/          the corpus: manifest.json, tests.jsonl, labels.csv (docs/corpus.md)
  $out/models.svg      how the tests spread over the models
  $out/mutex.svg       the mutex's transition system, with the cycle that starves a thread
  $out/report.html     what the runs say of the models, and why: open it in a browser (docs/report.md)
  $out/handful/        the tests that tell the models apart, and results.jsonl of their runs
  $out/cuda/ $out/glsl/ $out/opencl/ $out/cpp/    programs to take to a GPU (docs/elsewhere.md)
EOF
if [ ${#left[@]} -gt 0 ]; then
    printf '\nLeft out, for want of a compiler or device:\n'
    printf '  %s\n' "${left[@]}"
    printf 'What is not here, and how to get it:\n'
    grep '; to install: ' <<<"$devices" | sed 's/^/  /' || true
fi
