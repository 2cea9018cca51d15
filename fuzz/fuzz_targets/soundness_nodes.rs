#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| certkern_fuzz::run("soundness_nodes", data));
