//! Memory and time of this process, limited on request: a watch ends it with a verdict of the class `limit`.

use crate::failure::{Failure, USAGE};
use crate::output;
use certkern_seal::Verdict;
use certkern_wire::{Reason, Rejection};
use memory_stats::memory_stats;
use std::process;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the watch looks. What a process can fill in this time is what it can go beyond its budget.
const TICK: Duration = Duration::from_millis(5);

/// What a check may spend.
#[derive(Clone, clap::Args)]
pub(crate) struct Budget {
    /// End with `s LIMIT memory` when this process holds more: bytes, or a number with K, M or G (of 1024)
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,
    /// End with `s LIMIT time` after so long: seconds, or a number with ms, s, m or h
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_time: Option<Duration>,
}

/// Looks at memory and time until it is dropped, so that one verdict is told and no second.
pub(crate) struct Watch {
    shared: Arc<(Mutex<bool>, Condvar)>,
    watcher: Option<JoinHandle<()>>,
}

impl Budget {
    /// Starts to watch. If the budget is exceeded before the watch is dropped, the verdict is told by `tell`, which gives the exit code, and the process ends.
    ///
    /// # Errors
    /// A usage error where the system does not say how much memory a process holds.
    pub(crate) fn watch(
        &self,
        tell: impl FnOnce(Verdict) -> Result<u8, Failure> + Send + 'static,
    ) -> Result<Watch, Failure> {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        if self.max_memory.is_none() && self.max_time.is_none() {
            return Ok(Watch { shared, watcher: None });
        }
        if self.max_memory.is_some() && memory_stats().is_none() {
            return Err(Failure::Usage("--max-memory: this system does not say how much is used".to_owned()));
        }
        let (budget, seen, start) = (self.clone(), Arc::clone(&shared), Instant::now());
        let watch = move || {
            let (ended, wake) = &*seen;
            let mut over = ended.lock().unwrap_or_else(PoisonError::into_inner);
            while !*over {
                if let Some((name, limit)) = budget.exceeded(start) {
                    let verdict = Verdict::Rejected(Rejection::from(Reason::Limit { name, limit }));
                    let code = tell(verdict).unwrap_or_else(|failure| {
                        output::complain(&failure.to_string());
                        USAGE
                    });
                    process::exit(i32::from(code));
                }
                over = wake.wait_timeout(over, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
        };
        Ok(Watch { shared, watcher: Some(thread::spawn(watch)) })
    }

    /// The budget that is exceeded, and how much it is: bytes, or milliseconds.
    fn exceeded(&self, start: Instant) -> Option<(&'static str, u64)> {
        let held = || memory_stats().map_or(0, |stats| stats.physical_mem as u64);
        let memory = self.max_memory.filter(|most| held() > *most).map(|most| ("memory", most));
        let time = self.max_time.filter(|most| start.elapsed() > *most);
        let milliseconds = |most: Duration| u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        memory.or(time.map(|most| ("time", milliseconds(most))))
    }
}

impl Drop for Watch {
    /// From here on no other verdict is told; if one is being told, this does not return.
    fn drop(&mut self) {
        let (ended, wake) = &*self.shared;
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
        if let Some(watcher) = self.watcher.take() {
            // It cannot panic before it ends the process.
            let _ = watcher.join();
        }
    }
}

/// A number and the factor of its unit.
fn scaled(text: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor);
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
    let factor = factor.ok_or_else(|| format!("the unit must be one of {}", names.join(", ")))?;
    let number: f64 = digits.parse().map_err(|_| "not a number".to_owned())?;
    if number > 0.0 && number.is_finite() { Ok(number * factor) } else { Err("must be above zero".to_owned()) }
}

fn size(text: &str) -> Result<u64, String> {
    const K: f64 = 1024.0;
    let bytes = scaled(text, &[("", 1.0), ("K", K), ("M", K * K), ("G", K * K * K)])?;
    Ok(bytes as u64)
}

fn time(text: &str) -> Result<Duration, String> {
    let seconds = scaled(text, &[("", 1.0), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)])?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("1.5G"), Ok(3 << 29));
        assert_eq!(size("64M"), Ok(64 << 20));
        assert_eq!(time("2"), Ok(Duration::from_secs(2)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        for wrong in ["", "G", "-1", "0", "nan", "inf", "1T", "1 G", "1e999"] {
            assert!(size(wrong).is_err(), "{wrong}");
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_budget_is_exceeded_when_more_is_used() {
        let budget = |max_memory, max_time| Budget { max_memory, max_time };
        let start = Instant::now();
        assert_eq!(budget(Some(1 << 50), Some(Duration::from_secs(1000))).exceeded(start), None);
        assert_eq!(budget(Some(1), None).exceeded(start), Some(("memory", 1)));
        thread::sleep(Duration::from_millis(2));
        assert_eq!(budget(None, Some(Duration::from_millis(1))).exceeded(start), Some(("time", 1)));
    }
}
