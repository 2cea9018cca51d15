"""ONNX models to graphs, written from docs/onnx.md alone on the `onnx` package; untrusted, and independent of the
importer in Rust, whose digests it must give.

    python -m certkern_oracles.onnx_import MODEL.onnx -o FOLDER [--freeze NAME=TENSOR.pb]..."""
