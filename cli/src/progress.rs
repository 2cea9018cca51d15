//! A bar on standard error for checks that take longer than a second.

use certkern_claims::Observer;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// How long a check runs before a bar is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows leaves done and to do, if standard error is a terminal.
pub(crate) struct Progress {
    start: Instant,
    terminal: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), terminal: io::stderr().is_terminal(), bar: None }
    }
}

impl Observer for Progress {
    fn leaves(&mut self, done: usize, total: usize) {
        if !self.terminal || self.start.elapsed() < PATIENCE {
            return;
        }
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:40} {pos}/{len} leaves, {eta} left");
            ProgressBar::new(count(total)).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_position(count(done));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
