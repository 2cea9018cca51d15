//! `seeds TARGET FIRST COUNT`: a target that makes up its own inputs, on the bytes of numbers in a row; without libFuzzer, so at full speed.

use certkern_fuzz::{TARGETS, line};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, first, count] = arguments.as_slice() else { panic!("seeds TARGET FIRST COUNT") };
    let target = TARGETS.iter().find(|target| target.generates && target.name == name);
    let target = target.unwrap_or_else(|| panic!("no target {name} that makes up its own inputs"));
    let number = |text: &String| text.parse::<u64>().unwrap_or_else(|_| panic!("{text} is no number"));
    let (first, count) = (number(first), number(count));
    for seed in first..first + count {
        target.seed(seed);
        if (seed + 1 - first).is_multiple_of(100_000) {
            eprintln!("to seed {seed}: {}", line(target.name));
        }
    }
    println!("{count} seeds from {first}: {}", line(target.name));
}
