//! A clock that is ahead, so that a lease has ended without anybody waiting for it.

use work_core::port::Clock;
use work_core::time::Reading;
use work_store::clock::HostClock;

pub(crate) struct Ahead {
    host: HostClock,
    by_ms: i64,
}

impl Ahead {
    pub(crate) fn seconds(by: i64) -> Self {
        Self { host: HostClock::new(), by_ms: by * 1000 }
    }
}

impl Clock for Ahead {
    fn reading(&self) -> Reading {
        let now = self.host.reading();
        Reading {
            wall_ms: now.wall_ms + self.by_ms,
            since_boot_ms: now.since_boot_ms + self.by_ms,
            ..now
        }
    }
}
