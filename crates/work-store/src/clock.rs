//! The clocks of this host.

use crate::ids::random;
use std::time::{SystemTime, UNIX_EPOCH};
use work_core::id::BootId;
use work_core::port::Clock;
use work_core::time::Reading;

/// Wall clock, boot and suspend-aware clock of this host.
///
/// Linux names each boot. Elsewhere each process counts as a boot of its own, whose clock may stand still while the
/// machine sleeps: whenever the wall clock is behind the time that was last acted on, everything pending ends. Safe,
/// tiresome, and rare.
#[derive(Clone, Copy, Debug)]
pub struct HostClock {
    boot: BootId,
    since: Since,
}

/// What milliseconds are counted from.
#[derive(Clone, Copy, Debug)]
enum Since {
    /// The machine's start, time asleep included.
    #[cfg(target_os = "linux")]
    Boot,
    /// The start of this clock.
    Start(std::time::Instant),
}

impl HostClock {
    /// The clock of this host, in its present boot.
    #[must_use]
    pub fn new() -> Self {
        #[cfg(target_os = "linux")]
        if let Some(boot) = linux_boot() {
            return Self { boot, since: Since::Boot };
        }
        Self { boot: BootId::from_bytes(random()), since: Since::Start(std::time::Instant::now()) }
    }
}

impl Default for HostClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for HostClock {
    fn reading(&self) -> Reading {
        Reading { wall_ms: wall_ms(), boot: self.boot, since_boot_ms: self.since.ms() }
    }
}

impl Since {
    /// Milliseconds since then.
    fn ms(self) -> i64 {
        match self {
            #[cfg(target_os = "linux")]
            Self::Boot => {
                let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
                now.tv_sec.saturating_mul(1000).saturating_add(now.tv_nsec / 1_000_000)
            }
            Self::Start(start) => i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX),
        }
    }
}

/// Milliseconds since the epoch; before it, less than nothing.
fn wall_ms() -> i64 {
    let ms = |since: std::time::Duration| i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => ms(since),
        Err(before) => -ms(before.duration()),
    }
}

/// The kernel's name for this boot, 32 hexadecimal digits in groups.
#[cfg(target_os = "linux")]
fn linux_boot() -> Option<BootId> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    text.trim().replace('-', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: T6
    #[test]
    fn two_clocks_of_one_host_agree_on_the_boot_and_never_go_back() {
        let (one, other) = (HostClock::new(), HostClock::new());
        let (first, second) = (one.reading(), other.reading());
        if cfg!(target_os = "linux") {
            assert_eq!(first.boot, second.boot);
        }
        assert!(one.reading().since_boot_ms >= first.since_boot_ms);
        assert!(second.wall_ms > 1_700_000_000_000, "this was written later than that");
    }
}
