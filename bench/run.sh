#!/usr/bin/env bash
# Generates the histories and measures `skew check` on them: CPU seconds (user + system), parsing included, and peak
# memory. Prints the table of RESULTS.md. Needs GNU time.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -q -p skew-cli -p skew-bench
work=${1:-target/bench}
mkdir -p "$work"

generate() { # name, arguments of skew-bench
    local file="$work/$1"
    shift
    [ -s "$file" ] || target/release/skew-bench "$@" >"$file"
}
generate large.txt --transactions 250000 --operations 20 --sessions 100 --keys 100000 --level ser
generate large-cc.txt --transactions 250000 --operations 20 --sessions 100 --keys 100000 --level cc
generate wide-cc.txt --transactions 100000 --operations 10 --sessions 1000 --keys 50000 --level cc
generate small-ser.txt --transactions 10000 --operations 8 --sessions 25 --keys 10000 --level ser
generate small-si.txt --transactions 10000 --operations 8 --sessions 25 --keys 10000 --level si
generate middle-ser.txt --transactions 20000 --operations 20 --sessions 50 --keys 10000 --level ser
generate middle-si.txt --transactions 20000 --operations 20 --sessions 50 --keys 10000 --level si
generate lists.edn --transactions 300000 --operations 4 --sessions 20 --keys 100 --format elle
for thousand in 25 50 100; do
    generate "grow-$thousand.txt" --transactions "${thousand}000" --operations 8 --sessions 50 \
        --keys "${thousand}000" --level ser
done

measure() { # what it is, file, level
    local seconds
    seconds=$(command time -f '%U %S %M' target/release/skew check --level "$3" "$work/$2" 2>&1 >"$work/answer" | tail -1)
    read -r user system memory <<<"$seconds"
    printf '| %s | %s | %s | %.2f s | %d MB |\n' "$1" "$3" "$(sed -n 2p "$work/answer" | awk '{print $2}')" \
        "$(echo "$user + $system" | bc)" "$((memory / 1024))"
}
echo '| history (transactions / operations / sessions) | level | verdict | CPU | peak memory |'
echo '| --- | --- | --- | --- | --- |'
for level in rc ra cc; do measure '250k / 5M / 100' large.txt $level; done
measure '250k / 5M / 100, causal store' large-cc.txt cc
measure '100k / 1M / 1000, causal store' wide-cc.txt cc
measure '10k / 80k / 25' small-ser.txt ser
measure '10k / 80k / 25' small-si.txt si
measure '20k / 400k / 50' middle-ser.txt ser
measure '20k / 400k / 50' middle-si.txt si
measure '300k lists, 1.2M operations, 193 MB' lists.edn ser
for thousand in 25 50 100; do
    for level in mvrc pc psi si ser; do measure "${thousand}k / $((thousand * 8))k / 50" "grow-$thousand.txt" $level; done
done
