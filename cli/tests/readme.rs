//! The runs shown in README.md are true: same output, same exit code.

use crate::support::{certkern, root};
use std::fs;

#[test]
fn the_runs_shown_are_true() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut shown = 0;
    for block in blocks {
        let (command, rest) = block.strip_prefix("$ certkern ").unwrap().split_once('\n').unwrap();
        let (output, code) = rest.split_once("$ echo $?\n").unwrap();
        let run = certkern(command.split(' '));
        assert_eq!((run.stdout.as_str(), format!("{}\n", run.code).as_str()), (output, code), "{command}");
        shown += 1;
    }
    assert_eq!(shown, 2);
}
