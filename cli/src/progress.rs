//! What is under way, on standard error, for anything that takes longer than a second.

use certkern_claims::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long work goes on before something is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(120);

/// Shows what is done, and for checks the leaves done and to do, if standard error is a terminal.
pub(crate) struct Progress {
    shown: Option<Shown>,
}

/// A bar, hidden until the patience of the thread beside it is over.
struct Shown {
    bar: ProgressBar,
    done: Sender<()>,
    waiting: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to show `what`, such as `checking`, until the value is dropped.
    pub(crate) fn start(what: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self { shown: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {msg}, {elapsed}"));
        bar.set_message(what);
        let (done, wait) = mpsc::channel();
        let later = bar.clone();
        let waiting = thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                later.set_draw_target(ProgressDrawTarget::stderr());
                later.enable_steady_tick(TICK);
            }
        });
        Self { shown: Some(Shown { bar, done, waiting: Some(waiting) }) }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress {
    /// Tells how many entries there are to close.
    pub(crate) fn expect(&self, entries: usize) {
        if let Some(shown) = &self.shown {
            shown.bar.set_style(style("{spinner} {msg} {bar:40} {pos}/{len} leaves, {elapsed}"));
            shown.bar.set_length(number(entries));
        }
    }
}

fn number(entries: usize) -> u64 {
    u64::try_from(entries).unwrap_or(u64::MAX)
}

impl Observer for Progress {
    fn closed(&self, entries: usize) {
        if let Some(shown) = &self.shown {
            shown.bar.inc(number(entries));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(shown) = &mut self.shown {
            // The thread may be gone already, and then there is nobody to tell.
            let _ = shown.done.send(());
            if let Some(waiting) = shown.waiting.take() {
                let _ = waiting.join();
            }
            shown.bar.finish_and_clear();
        }
    }
}
