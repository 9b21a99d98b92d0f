#!/bin/sh
# Assembles the PTX of all functions and forms of the tests with NVIDIA's `ptxas`, for sm_70 to
# sm_100, and records the result in `ptxas.txt`. The assembler comes from PyPI. Where it cannot be
# installed, the script prints `skipped: …` and ends without an error.
#
#     kernels/device/tests/ptxas.sh [FOLDER-OF-PTXAS]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The last version of CUDA that knows sm_70.
package=nvidia-cuda-nvcc-cu12==12.9.86

if [ $# -ge 1 ]; then
    ptxas=$1/ptxas
else
    if ! { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet "$package"; } \
        >"$work/install.log" 2>&1; then
        echo "skipped: $package cannot be installed: $(tail -n 1 "$work/install.log")"
        exit 0
    fi
    ptxas=$(find "$work/venv" -name ptxas -type f | head -n 1)
fi
if ! "$ptxas" --version >/dev/null 2>&1; then
    echo "skipped: \`$ptxas\` cannot be run"
    exit 0
fi

mkdir "$work/ptx"
(cd "$here/.." && TFRT_PTX_FOLDER="$work/ptx" cargo test --quiet --test same_bits --test forms \
    --test random_trees)
(cd "$here/../../gpu" && TFRT_PTX_FOLDER="$work/ptx" cargo test --quiet --test device_functions \
    grid_kernels_are_ptx_of_every_architecture)

failed=0
for arch in 70 75 80 86 90 100; do
    count=0
    for file in "$work"/ptx/*.sm_$arch.ptx; do
        count=$((count + 1))
        if ! "$ptxas" -arch=sm_$arch -o /dev/null "$file" 2>"$work/error"; then
            failed=$((failed + 1))
            echo "sm_$arch: $(basename "$file"): $(head -n 1 "$work/error")"
        fi
    done
    echo "sm_$arch: $count modules" >>"$work/result"
done
if [ $failed -ne 0 ]; then
    echo "$failed modules were refused"
    exit 1
fi
{
    echo "Accepted by ptxas of $package:"
    cat "$work/result"
} | tee "$here/ptxas.txt"
