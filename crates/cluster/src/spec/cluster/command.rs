//! Programs that are run for their output, with a time limit.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of a program. `scontrol` itself waits up to ten seconds for an answer.
const LIMIT: Duration = Duration::from_secs(15);

/// The time between two checks of whether a program has ended that has closed its output.
const PAUSE: Duration = Duration::from_millis(2);

/// Bytes that a program may print.
const MOST_OUTPUT: u64 = 1 << 28;

/// Returns the output of a program, or why there is none.
pub(super) fn ask(program: &str, arguments: &[&str]) -> Result<Vec<u8>, String> {
    ask_within(program, arguments, LIMIT)
}

fn ask_within(program: &str, arguments: &[&str], limit: Duration) -> Result<Vec<u8>, String> {
    let end = Instant::now() + limit;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let until_end = || end.saturating_duration_since(Instant::now());
    let output = stdout.recv_timeout(until_end()).ok().zip(stderr.recv_timeout(until_end()).ok());
    let status = output.is_some().then(|| wait(&mut child, end)).flatten();
    let Some(((printed, said), status)) = output.zip(status) else {
        // It may have ended since.
        _ = child.kill();
        _ = child.wait();
        return Err(format!("it did not end within {} seconds", limit.as_secs()));
    };
    match status.success() {
        true => Ok(printed),
        false => {
            let said = String::from_utf8_lossy(&said);
            Err(format!("it ended with {status}: {}", said.lines().next().unwrap_or_default()))
        }
    }
}

/// Sends all that comes from a pipe. A thread that waits for a pipe that others hold open is left behind.
fn read_all(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let is_read = pipe.is_some_and(|pipe| pipe.take(MOST_OUTPUT).read_to_end(&mut bytes).is_ok());
        if is_read {
            // The receiver may be gone.
            _ = sender.send(bytes);
        }
    });
    receiver
}

/// Waits for the end of a program, and returns its status if it ends in time.
fn wait(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait().ok()? {
            Some(status) => return Some(status),
            None if Instant::now() >= end => return None,
            None => thread::sleep(PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_not_waited_for_forever() {
        let shell = |script, limit| ask_within("sh", &["-c", script], Duration::from_millis(limit));
        assert_eq!(shell("echo a; echo b >&2", 60_000), Ok(b"a\n".to_vec()));
        let failure = shell("echo why >&2; exit 3", 60_000).unwrap_err();
        assert!(failure.contains("exit status: 3") && failure.ends_with(": why"), "{failure}");
        for script in ["sleep 100", "exec >&- 2>&-; sleep 100", "sleep 100 & exit 0"] {
            let started = Instant::now();
            let failure = shell(script, 200).unwrap_err();
            assert!(failure.contains("did not end") && started.elapsed().as_secs() < 50, "{script}");
        }
        assert!(ask("there-is-no-such-program", &[]).is_err());
    }
}
