use std::thread;
use std::time::{Duration, Instant};

const FIRST_SLEEP: Duration = Duration::from_millis(1);
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// Waiting for a lock by asking again and again, less and less often, until time is up.
///
/// The kernel could wait for us, but not for a limited time.
#[derive(Debug)]
pub(super) struct Patience {
    start: Instant,
    limit: Duration,
    sleep: Duration,
}

impl Patience {
    pub(super) fn new(limit: Duration) -> Self {
        Self { start: Instant::now(), limit, sleep: FIRST_SLEEP }
    }

    /// Sleeps a little; `false`, at once, where the time is up.
    pub(super) fn wait(&mut self) -> bool {
        let left = self.limit.saturating_sub(self.start.elapsed());
        if left.is_zero() {
            return false;
        }
        thread::sleep(self.sleep.min(left));
        self.sleep = (self.sleep * 2).min(LONGEST_SLEEP);
        true
    }

    /// How long has been waited.
    pub(super) fn waited(&self) -> Duration {
        self.start.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_when_the_time_is_up_and_not_long_before_or_after() {
        let mut patience = Patience::new(Duration::from_millis(30));
        let mut rounds = 0;
        while patience.wait() {
            rounds += 1;
        }
        assert!(
            (1..=5).contains(&rounds),
            "1 + 2 + 4 + 8 + 15 ms, slept longer on a busy machine: {rounds}"
        );
        assert!(patience.waited() >= Duration::from_millis(30));
    }

    #[test]
    fn without_any_there_is_no_wait() {
        assert!(!Patience::new(Duration::ZERO).wait());
    }

    #[test]
    fn any_limit_can_be_told() {
        assert!(Patience::new(Duration::MAX).wait());
    }
}
