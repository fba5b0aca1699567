#!/usr/bin/env bash
# A scheduler and workers as processes of this machine, as they would be on several (docs/scale.md).
#   cluster.sh WORKERS COMMAND..    runs a command of synth with --jobs and their address; they end with it
#   cluster.sh WORKERS              tells the address, and waits for Ctrl-C
# PYTHON is the interpreter that has synth with its extra `cluster`.
set -euo pipefail
workers=${1:?usage: cluster.sh WORKERS [COMMAND..]}
shift
python=${PYTHON:-python3}
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
export DASK_DISTRIBUTED__WORKER__DAEMON=False # for `synth label`, whose workers have processes of their own

start() {
    # All on the loopback, the pages for browsers too: whoever reaches these ports can run what he likes.
    (cd "$folder" && exec "$python" -m dask "$@" --scheduler-file "$folder/scheduler.json" --host 127.0.0.1 \
        --no-dashboard --dashboard-address 127.0.0.1:0) 2>>"$folder/log" &
}

start scheduler --port 0
for _ in $(seq "$workers"); do
    start worker --nthreads 1
done
until [ -s "$folder/scheduler.json" ]; do
    jobs -r -p | grep -q . || { cat "$folder/log" >&2; exit 2; }
    sleep 0.1
done
address=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$folder/scheduler.json")
if [ $# -gt 0 ]; then
    "$@" --jobs "$address"
else
    echo "$address"
    wait
fi
