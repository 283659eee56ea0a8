//! Resident memory of this process in KiB, as Linux tells it.

fn status(key: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Forgets the peak so far; the memory at hand.
pub fn restart_peak() -> Option<usize> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

/// The most memory since.
pub fn peak() -> Option<usize> {
    status("VmHWM:")
}
