//! Time that never runs backwards for a decision.
//!
//! Owns the anchor: the latest time that was acted on, with the boot and the suspend-aware clock it was read on, and
//! how "now" follows from it. Refuses to know what time it is: a store reads the clock, [`Reading`] in, [`Now`] out.
//! Start at [`Anchor::advance`].

use crate::id::BootId;
use crate::plant::{Fault, is_planted};
use std::fmt;
use std::time::Duration;

/// A moment in whole seconds since the Unix epoch, UTC.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// A moment this many seconds after the epoch.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since the epoch.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }

    /// The moment `by` later, in whole seconds; the end of time at most.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_secs()).unwrap_or(i64::MAX)))
    }

    /// The moment `by` earlier, in whole seconds.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_secs()).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    /// `2026-11-30 17:06:22 UTC`: the proleptic Gregorian calendar, computed from days as Howard Hinnant describes in
    /// "chrono-Compatible Low-Level Date Algorithms".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.div_euclid(86_400), self.0.rem_euclid(86_400));
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
    }
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Which stretch of unbroken time a lease or a proposal belongs to.
///
/// It grows when time had to start anew; whatever was pending from an older era has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Era(pub u64);

/// What the clocks say: the wall, which boot this is, and the time since boot with sleep included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Milliseconds since the Unix epoch by the wall clock.
    pub wall_ms: i64,
    /// The boot in which it was read.
    pub boot: BootId,
    /// Milliseconds since that boot, time asleep included.
    pub since_boot_ms: i64,
}

/// The latest time that was acted on. Stored with every write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// That time, in milliseconds since the epoch.
    pub latest_ms: i64,
    /// The boot in which it was read.
    pub boot: BootId,
    /// Milliseconds since that boot when it was read.
    pub since_boot_ms: i64,
    /// The era of that time.
    pub era: Era,
}

/// The time for one decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The moment.
    pub at: Timestamp,
    /// Its era.
    pub era: Era,
}

impl Anchor {
    /// The first anchor of a new workspace.
    #[must_use]
    pub const fn new(reading: Reading) -> Self {
        Self {
            latest_ms: reading.wall_ms,
            boot: reading.boot,
            since_boot_ms: reading.since_boot_ms,
            era: Era(0),
        }
    }

    /// The anchor after `reading`.
    ///
    /// In the same boot the time is the later of the wall clock and of the anchor carried on by the suspend-aware
    /// clock, and never before the anchor. After another boot a wall clock before the anchor begins a new era, in
    /// which time goes on from the anchor.
    #[must_use]
    pub fn advance(self, reading: Reading) -> Self {
        let same_boot = self.boot == reading.boot;
        let passed = if same_boot {
            reading.since_boot_ms.saturating_sub(self.since_boot_ms).max(0)
        } else {
            0
        };
        let turned_back = !same_boot && reading.wall_ms < self.latest_ms;
        Self {
            latest_ms: match is_planted(Fault::TimeBack) {
                true => reading.wall_ms,
                false => self.latest_ms.saturating_add(passed).max(reading.wall_ms),
            },
            boot: reading.boot,
            since_boot_ms: if same_boot {
                self.since_boot_ms.max(reading.since_boot_ms)
            } else {
                reading.since_boot_ms
            },
            era: Era(self.era.0.saturating_add(u64::from(turned_back))),
        }
    }

    /// The anchor from which time goes on at `reading`, wherever its wall clock is: the next era, in which whatever was
    /// pending has ended.
    #[must_use]
    pub const fn accept(self, reading: Reading) -> Self {
        Self {
            latest_ms: reading.wall_ms,
            boot: reading.boot,
            since_boot_ms: reading.since_boot_ms,
            era: Era(self.era.0.saturating_add(1)),
        }
    }

    /// This anchor's time, as decisions use it.
    #[must_use]
    pub const fn now(self) -> Now {
        Now { at: Timestamp(self.latest_ms.div_euclid(1000)), era: self.era }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: BootId = BootId::from_bytes([1; 16]);
    const NEXT_BOOT: BootId = BootId::from_bytes([2; 16]);
    const ANCHOR: Anchor =
        Anchor { latest_ms: 1_000_000, boot: BOOT, since_boot_ms: 500, era: Era(3) };

    #[track_caller]
    fn check(wall_ms: i64, boot: BootId, since_boot_ms: i64, latest_ms: i64, era: u64) {
        let next = ANCHOR.advance(Reading { wall_ms, boot, since_boot_ms });
        assert_eq!((next.latest_ms, next.era), (latest_ms, Era(era)));
    }

    // spec: T6
    #[test]
    fn a_wall_clock_that_runs_on_is_followed() {
        check(1_000_700, BOOT, 1200, 1_000_700, 3);
    }

    // spec: T6
    #[test]
    fn a_wall_clock_set_back_does_not_stop_time() {
        check(200, BOOT, 1200, 1_000_700, 3);
    }

    // spec: T6
    #[test]
    fn a_wall_clock_set_ahead_is_believed() {
        check(9_000_000, BOOT, 1200, 9_000_000, 3);
    }

    // spec: T6
    #[test]
    fn a_suspend_aware_clock_that_goes_back_moves_nothing_back() {
        check(200, BOOT, 100, 1_000_000, 3);
    }

    // spec: T6
    #[test]
    fn a_suspend_aware_clock_that_dips_counts_no_time_twice() {
        let dipped = ANCHOR.advance(Reading { wall_ms: 200, boot: BOOT, since_boot_ms: 100 });
        let back = dipped.advance(Reading { wall_ms: 200, boot: BOOT, since_boot_ms: 500 });
        assert_eq!(back.latest_ms, ANCHOR.latest_ms);
    }

    // spec: T6
    #[test]
    fn another_boot_with_a_later_wall_clock_keeps_the_era() {
        check(1_000_001, NEXT_BOOT, 5, 1_000_001, 3);
    }

    // spec: T6
    #[test]
    fn another_boot_with_an_earlier_wall_clock_begins_an_era_and_goes_on_from_the_anchor() {
        check(999_999, NEXT_BOOT, 5, 1_000_000, 4);
    }

    #[test]
    fn a_moment_reads_as_a_date_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_796_058_382, "2026-11-30 17:06:22 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(Timestamp::from_seconds(seconds).to_string(), text);
        }
    }
}
