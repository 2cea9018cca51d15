//! A tool as a process group: started, watched, and in the end always killed and reaped.

use crate::error::{Failure, Fault};
use crate::pipes::Pipes;
use crate::tail::Tail;
use crate::tool::{Budget, Output, Tool};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often it is asked whether the tool has ended, the time is over, or the run is given up.
const TICK: Duration = Duration::from_millis(10);
/// How long the pipes may stay open after the whole group is dead.
const GRACE: Duration = Duration::from_secs(1);

/// A tool under way, the leader of its process group. Dropping it kills the group and reaps the leader.
struct Running {
    child: Child,
    leader: Pid,
    reaped: bool,
}

/// Runs a tool; see [`Tool::ask`].
pub(crate) fn ask(tool: &Tool, query: &[u8], budget: &Budget, stop: &dyn Fn() -> bool) -> Result<Output, Failure> {
    let mut running = Running::start(tool).map_err(|error| tool.failed(Fault::Start(error), Tail::default()))?;
    let pipes = Pipes::of(&mut running.child, query, budget.output);
    let mut pipes = pipes.map_err(|error| tool.failed(Fault::Pipe(error), Tail::default()))?;
    let talked = running.talk(&mut pipes, budget, stop);
    let status = running.end();
    let judged = talked.and_then(|()| match status.map_err(Fault::Pipe)? {
        status if !status.success() => Err(Fault::Status(status)),
        _ if !pipes.is_answered() => Err(Fault::Held),
        _ => Ok(()),
    });
    match judged {
        Ok(()) => Ok(Output { stdout: pipes.answer, stderr: pipes.said }),
        Err(fault) => Err(tool.failed(fault, pipes.said)),
    }
}

impl Running {
    fn start(tool: &Tool) -> io::Result<Self> {
        let mut command = Command::new(&tool.program);
        command.args(&tool.arguments).process_group(0);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let leader = Pid::from_child(&child);
        Ok(Self { child, leader, reaped: false })
    }

    /// Moves bytes until the tool has ended and all that its group wrote has come, or a moment has passed since.
    fn talk(&self, pipes: &mut Pipes<'_>, budget: &Budget, stop: &dyn Fn() -> bool) -> Result<(), Fault> {
        let start = Instant::now();
        while !self.has_ended().map_err(Fault::Pipe)? {
            if stop() {
                return Err(Fault::Interrupted);
            }
            if start.elapsed() >= budget.time {
                return Err(Fault::Time { limit: budget.time });
            }
            pipes.step(TICK)?;
        }
        self.kill();
        let end = Instant::now();
        while !pipes.are_done() && end.elapsed() < GRACE {
            pipes.step(TICK)?;
        }
        Ok(())
    }

    /// Whether the leader has ended. It is not reaped, so its number, which is that of the group, is nobody else's yet.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.leader), options)?.is_some())
    }

    /// Kills what is left of the group. That there is nothing left is no error; and of a leader that has ended the status stays.
    fn kill(&self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// Kills the group and reaps the leader.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.reaped {
            self.kill();
        }
        let status = self.child.wait()?;
        self.reaped = true;
        Ok(status)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.end();
    }
}
