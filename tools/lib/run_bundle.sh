#!/usr/bin/env bash
# Runs the parts of a bundle on a machine with a GPU and prints one table last. Without names: all parts.
# Output of each part: $OUT (./bundle-output). Exit status: the number of parts that failed. `step` is whole
# mixed-precision steps and norms: host time, numbers, kernels and times beside torch's, and times beside copies and reads.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FUSEWRIGHT_CPU_LIBRARY="$here/lib/libfusewright-cpu.so"
export FUSEWRIGHT_CACHE_DIR="${FUSEWRIGHT_CACHE_DIR:-$here/cache}"
out="${OUT:-$PWD/bundle-output}"
mkdir -p "$out"
lists=(--tensors llama-1.1b --tensors bert-large --tensors resnet-50)
rows=() failed=0

part() { # NAME COMMAND...
  local name=$1 start=$SECONDS status=0
  shift
  "$@" >"$out/$name.txt" 2>&1 || status=$?
  local result="failed ($status)"
  ((status == 0)) && result=ok
  ((status == 77)) && result=skipped
  [[ $result == failed* ]] && failed=$((failed + 1))
  echo "==> $name"
  tail -n 60 "$out/$name.txt"
  rows+=("$(printf '%-12s %5d s  %s' "$name" $((SECONDS - start)) "$result")")
}

sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "skipped: no compute-sanitizer on PATH"; return 0; }
  local tool
  for tool in memcheck racecheck initcheck; do
    FW_GPU_QUICK=1 compute-sanitizer --tool "$tool" --error-exitcode 1 "$here/bin/gpu-suite" --gtest_brief=1 \
      --gtest_filter='Programs/*:Groups*:Pointers*:DeviceScalars*:Reductions*:Stages*:Scalers*:Skips*' || return 1
  done
}

(($# > 0)) || set -- suite host bench step user verify graph digits sanitize
for name in "$@"; do
  case "$name" in
  suite) part suite "$here/bin/gpu-suite" --gtest_brief=1 ;;
  host) part host "$here/bin/bench-gpu-host" --json "$out/host.json" ;;
  bench) part bench "$here/bin/fusewright" bench "${lists[@]}" --plot "$out/bench.svg" ;;
  step)
    part step-host "$here/bin/bench-gpu-host" --json "$out/step-host.json"
    part step-torch "${PYTHON:-python3}" "$here/bench/peers/torch_whole_steps.py" "$here/lib/libfusewright.so.0" \
      --json "$out/step-torch.json"
    part step-bench "$here/bin/fusewright" bench --id P4,P5,P7 "${lists[@]}" --save "$out/step-bench.json" \
      --plot "$out/step-bench.svg"
    ;;
  user) part user "$here/bin/fusewright" bench "$here/ops/rmsprop.fuse" "${lists[@]}" ;;
  verify) part verify "$here/bin/fusewright" verify --device cuda ;;
  graph) part graph "$here/bin/graph" ;;
  digits) part digits "$here/bin/digits" --device cuda --data "$here/ops/digits.csv.gz" --expect 93 ;;
  sanitize) part sanitize sanitize ;;
  *) echo "expected suite, host, bench, step, user, verify, graph, digits or sanitize, got $name" >&2; exit 2 ;;
  esac
done
printf '\n%s\n' "part          time  result"
printf '%s\n' "${rows[@]}"
exit "$failed"
