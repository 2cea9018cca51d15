#!/bin/sh
# Makes certs/accept/leaves and certs/accept/witness again from certs/dumps, certs/live and certs/misread, then certs/reject from certs/accept. Needs the Python standard library and cargo.
set -eu
cd "$(dirname "$0")/../.."
for dump in certs/dumps/*/ certs/live/*/; do
    name=$(basename "$dump")
    case $dump in certs/live/*) name=live_$name ;; esac
    cargo run --release --quiet -- import abcrown "$dump" --onnx "$dump/net.onnx" --property "$dump/property.vnnlib" \
        -o "certs/accept/leaves/$name" >/dev/null
done
python3 certs/make/shared_tree.py certs/accept/leaves/shared_tree
python3 certs/make/small_tanh.py certs/accept/leaves/small_tanh
python3 certs/make/sine.py certs/accept/leaves/sine
python3 certs/make/bounds.py certs/accept/bound
python3 certs/make/nodes.py certs/accept/nodes
python3 certs/make/attention.py certs/accept/leaves/attention
python3 certs/make/domains.py certs/accept/leaves/domains
python3 certs/make/torchlean.py certs/torchlean
torchlean() { cargo run --release --quiet -- import torchlean "$@" >/dev/null 2>&1; }
mkdir -p certs/accept/monotone
torchlean certs/torchlean/query.json -o certs/accept/leaves/torchlean_query
torchlean certs/torchlean/leaves.json --graph certs/torchlean/graph.json --property certs/torchlean/property.json -o certs/accept/leaves/torchlean_leaves
torchlean certs/torchlean/ibp.json --graph certs/torchlean/graph.json -o certs/accept/bound/torchlean_ibp
torchlean certs/torchlean/monotonicity.json -o certs/accept/monotone/torchlean.json
networks=$(mktemp -d)
trap 'rm -r "$networks"' EXIT
for case in certs/misread/*/; do
    cargo run --release --quiet -- import onnx "$case/net.onnx" -o "$networks/$(basename "$case")" >/dev/null
done
python3 certs/make/witnesses.py "$networks" certs/accept/witness
python3 certs/make/digests.py certs/accept/*/*
python3 certs/make/rejects.py
