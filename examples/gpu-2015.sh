#!/usr/bin/env bash
# A family of GPU tests in the manner of Alglave et al. 2015: every test of gpu-2015.edges with 3 to 6 edges, what sc,
# rmo and ptx-rmo say of each, and the counts. Usage: gpu-2015.sh [FOLDER] [SYNTH]
set -euo pipefail
out=${1:-gpu-2015}
synth=${2:-synth}

if [ -e "$out" ]; then
    echo "$out exists; remove it first, or name another folder" >&2
    exit 2
fi

"$synth" memory --edges "@$(dirname "$0")/gpu-2015.edges" --size 3..6 --scopes cta --regions global,shared \
    --model sc --model rmo --model ptx-rmo -o "$out"
echo
"$synth" show "$out"
