//! Resident memory of this process in KiB, as reported by Linux.

fn status(key: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Resets the peak; returns the current memory.
pub fn restart_peak() -> Option<usize> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

/// The peak since the last reset.
pub fn peak() -> Option<usize> {
    status("VmHWM:")
}
