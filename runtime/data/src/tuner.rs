//! How many calls to keep under way, found by trying.
//!
//! A tuner looks at the output rate of a stage once a period, and moves one number:
//!
//! ```text
//!  Halving:   max ─► max/2 ─► max/4 ─► …       as long as the rate does not fall: calls that do not help only hold elements
//!  Climbing:  degree ± step                    as long as it rises; a step that does not help is undone, and turned round, then halved
//!  Settled:   degree                           until the rate changes by a fifth: the load is another one, and everything begins anew
//! ```
//!
//! A move after which the rate is much lower costs elements as long as it lasts. If the elements
//! arrive evenly, a part of a period is enough to see that, and the move is undone at once.
//!
//! Tuners of one host take [turns](turns): from the first move until it settles, a tuner is the
//! only one that experiments.
//!
//! A pass has a tuner for each stage. It goes on where that of the last pass has stopped: see
//! [`LearnedNumber`].

mod learned;

mod turns;

use std::sync::Arc;
use std::time::Duration;

pub use learned::LearnedNumber;
pub(crate) use turns::Turns;

use learned::Progress;

/// Returns `true` if `TFRT_DATA_AUTOTUNE=off` is set.
pub(crate) fn is_tuning_off() -> bool {
    std::env::var_os("TFRT_DATA_AUTOTUNE").is_some_and(|value| value == "off")
}

/// How often the number may move.
const PERIOD: Duration = Duration::from_millis(200);

/// A rate that is better or worse by less is the same rate.
const NOISE: f64 = 0.03;

/// A settled tuner begins anew if the rate changes by more.
const LOAD_CHANGE: f64 = 0.2;

/// A move that lowers the rate by more is undone before the period ends.
const CLEAR_LOSS: f64 = 0.2;

/// The part of a period, one of so many, after which a clear loss is looked for.
const MIN_PART: u32 = 4;

/// Elements arrive evenly if the longest time between two is at most this part, one of so many, of
/// the time in which they were counted. Of elements that come in bursts, a part of a period tells
/// nothing.
const EVEN_PART: u32 = 8;

/// Finds how many calls to keep under way, between one and a maximum.
#[derive(Debug)]
pub(crate) struct Tuner {
    max: usize,
    progress: Progress,
    /// Whether the progress is that of another tuner, and nothing was delivered since.
    is_resumed: bool,
    /// Where the next tuner of the stage finds its progress, and the number of this tuner there.
    learned: (LearnedNumber, u64),
    turns: Arc<Turns>,
    /// Its name among the tuners.
    name: u64,
    /// Whether no other tuner experimented when the period began; see [`Turns::calm`].
    calm: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The degree before the last move and its rate, if there was a move.
    Halving(Option<(usize, f64)>),
    Climbing {
        /// The best degree so far, and its rate.
        base: (usize, f64),
        step: usize,
        is_upward: bool,
        has_turned: bool,
    },
    Settled {
        rate: f64,
    },
}

impl Tuner {
    /// Creates a tuner that goes on where the last one of the stage has stopped, if that was in
    /// the same host and had the same maximum.
    pub(crate) fn new(max: usize, turns: Arc<Turns>, learned: &LearnedNumber) -> Self {
        let max = max.max(1);
        let name = turns.join();
        let (number, progress) = learned.begin(max, &turns);
        let progress = progress.unwrap_or(Progress {
            degree: max,
            phase: Phase::Halving(None),
            start: None,
            num_delivered: 0,
            longest_gap: Duration::ZERO,
            last: Duration::ZERO,
        });
        Self {
            max,
            progress,
            is_resumed: true,
            learned: (learned.clone(), number),
            name,
            calm: turns.calm(name),
            turns,
        }
    }

    /// Returns the time on the clock of the tuners.
    pub(crate) fn now(&self) -> Duration {
        self.turns.now()
    }

    /// Returns the number of calls to keep under way.
    pub(crate) fn degree(&self) -> usize {
        self.progress.degree
    }

    /// Counts an element that was delivered at a time.
    pub(crate) fn deliver(&mut self, now: Duration) {
        // Between two passes, nobody may have drawn.
        let gap = now.saturating_sub(self.progress.last);
        if gap > PERIOD && self.is_resumed {
            self.progress.start = None;
        }
        self.is_resumed = false;
        self.progress.last = now;
        let Some(start) = self.progress.start else {
            self.begin_period(now);
            self.progress.num_delivered = 1;
            return;
        };
        self.progress.num_delivered += 1;
        self.progress.longest_gap = self.progress.longest_gap.max(gap);
        let elapsed = now.saturating_sub(start);
        if elapsed < PERIOD / MIN_PART {
            return;
        }
        let rate = self.progress.num_delivered as f64 / elapsed.as_secs_f64();
        if elapsed >= PERIOD || self.is_clear_loss(rate, elapsed) {
            self.end_period(rate, now);
            self.begin_period(now);
            self.publish();
        }
    }

    /// Returns `true` if the last move has lowered the rate so much that it need not be measured
    /// any longer.
    fn is_clear_loss(&self, rate: f64, elapsed: Duration) -> bool {
        let before = match self.progress.phase {
            Phase::Halving(Some((_, before)))
            | Phase::Climbing {
                base: (_, before), ..
            } => before,
            Phase::Halving(None) | Phase::Settled { .. } => return false,
        };
        rate < before * (1.0 - CLEAR_LOSS) && self.progress.longest_gap <= elapsed / EVEN_PART
    }

    /// Tells the next tuner of the stage how far this one came.
    fn publish(&self) {
        let (learned, number) = &self.learned;
        learned.publish(*number, self.max, &self.turns, self.progress);
    }

    fn begin_period(&mut self, now: Duration) {
        self.progress.start = Some(now);
        self.progress.num_delivered = 0;
        self.progress.longest_gap = Duration::ZERO;
        self.calm = self.turns.calm(self.name);
    }

    /// Makes a move if it is this tuner's turn and nobody else's moves changed the rate.
    fn end_period(&mut self, rate: f64, now: Duration) {
        let is_calm = self.calm.is_some() && self.calm == self.turns.calm(self.name);
        if !is_calm {
            // A turn that was lost because elements were rare.
            if !matches!(self.progress.phase, Phase::Settled { .. }) {
                self.progress.degree = self.max;
                self.progress.phase = Phase::Halving(None);
            }
            return;
        }
        if let Phase::Settled { rate: settled } = self.progress.phase
            && (rate / settled - 1.0).abs() <= LOAD_CHANGE
        {
            return;
        }
        if !self.turns.take(self.name, now) {
            return;
        }
        self.make_move(rate);
        if matches!(self.progress.phase, Phase::Settled { .. }) {
            self.turns.give_back(self.name);
        }
    }

    fn make_move(&mut self, rate: f64) {
        self.progress.phase = match self.progress.phase {
            Phase::Halving(before) => self.halve(before, rate),
            Phase::Climbing {
                base,
                step,
                is_upward,
                has_turned,
            } if rate > base.1 * (1.0 + NOISE) => {
                let base = (self.progress.degree, rate);
                self.climb(base, step, is_upward, has_turned)
            }
            Phase::Climbing {
                base,
                step,
                is_upward,
                has_turned: false,
            } => self.climb(base, step, !is_upward, true),
            Phase::Climbing {
                base,
                step,
                is_upward,
                has_turned: true,
            } => match step / 2 {
                0 => self.settle(base),
                step => self.climb(base, step, !is_upward, false),
            },
            Phase::Settled { .. } => {
                self.progress.degree = self.max;
                Phase::Halving(None)
            }
        };
    }

    fn halve(&mut self, before: Option<(usize, f64)>, rate: f64) -> Phase {
        let falls = before.filter(|&(_, last)| rate < last * (1.0 - NOISE));
        match falls {
            Some(before) => {
                let step = (before.0 / 4).max(1);
                // Half of two is one less than two, and was tried just now.
                let was_tried = before.0 - step == self.progress.degree;
                self.climb(before, step, was_tried, was_tried)
            }
            None if self.progress.degree == 1 => self.settle((1, rate)),
            None => {
                // Small losses must not add up.
                let best = before.map_or(rate, |(_, last)| last.max(rate));
                let before = (self.progress.degree, best);
                self.progress.degree /= 2;
                Phase::Halving(Some(before))
            }
        }
    }

    /// Goes a step from the base, if there is room, and otherwise the other way.
    fn climb(
        &mut self,
        base: (usize, f64),
        step: usize,
        is_upward: bool,
        has_turned: bool,
    ) -> Phase {
        let next = match is_upward {
            true => (base.0 + step).min(self.max),
            false => base.0.saturating_sub(step).max(1),
        };
        if next == base.0 {
            return match (has_turned, step / 2) {
                (false, _) => self.climb(base, step, !is_upward, true),
                (true, 0) => self.settle(base),
                (true, step) => self.climb(base, step, !is_upward, false),
            };
        }
        self.progress.degree = next;
        Phase::Climbing {
            base,
            step,
            is_upward,
            has_turned,
        }
    }

    fn settle(&mut self, base: (usize, f64)) -> Phase {
        self.progress.degree = base.0;
        Phase::Settled { rate: base.1 }
    }
}

impl Drop for Tuner {
    fn drop(&mut self) {
        self.publish();
        self.turns.give_back(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuner(max: usize) -> Tuner {
        Tuner::new(max, Arc::new(Turns::new()), &LearnedNumber::default())
    }

    /// Simulates a stage of known cost for a number of periods: it delivers `rate(degree)` elements
    /// a second.
    fn run(tuner: &mut Tuner, now: &mut Duration, num_periods: u32, rate: impl Fn(usize) -> f64) {
        let end = *now + PERIOD * num_periods;
        while *now < end {
            tuner.deliver(*now);
            *now += Duration::from_secs_f64(1.0 / rate(tuner.degree()));
        }
    }

    /// What five seconds are.
    const NUM_PERIODS: u32 = 25;

    #[test]
    fn the_degree_comes_close_to_the_best_within_five_seconds() {
        // As many as there are cores help; more do nothing, or harm.
        for max in [1, 2, 3, 8, 16, 64] {
            for num_cores in [1, 2, 5, 8, 12, 64] {
                for harm in [0.0, 0.02, 0.3] {
                    let rate = |degree: usize| {
                        let useful = degree.min(num_cores) as f64;
                        let excess = degree.saturating_sub(num_cores) as f64;
                        1000.0 * useful / (1.0 + harm * excess)
                    };
                    let best = (1..=max).map(rate).fold(0.0, f64::max);
                    let (mut tuner, mut now) = (tuner(max), Duration::ZERO);
                    run(&mut tuner, &mut now, NUM_PERIODS, rate);
                    let found = rate(tuner.degree());
                    assert!(
                        found >= 0.9 * best,
                        "max {max}, {num_cores} cores, harm {harm}: {tuner:?}, {found} of {best}"
                    );
                    // Nothing moves any more.
                    let degree = tuner.degree();
                    run(&mut tuner, &mut now, NUM_PERIODS, rate);
                    assert_eq!(tuner.degree(), degree, "max {max}, {num_cores} cores");
                }
            }
        }
    }

    #[test]
    fn calls_that_do_not_help_are_given_up() {
        let (mut tuner, mut now) = (tuner(64), Duration::ZERO);
        run(&mut tuner, &mut now, NUM_PERIODS, |_| 1000.0);
        assert_eq!(tuner.degree(), 1);
    }

    /// Delivers at the rates of a stage to which calls help up to `num_cores`. Returns the number
    /// of elements.
    fn count(tuner: &mut Tuner, num_periods: u32, num_cores: usize) -> f64 {
        let mut now = Duration::ZERO;
        let mut num_delivered = 0.0;
        while now < PERIOD * num_periods {
            tuner.deliver(now);
            num_delivered += 1.0;
            now += Duration::from_secs_f64(0.001 / tuner.degree().min(num_cores) as f64);
        }
        num_delivered
    }

    #[test]
    fn calls_that_are_missed_are_missed_for_a_short_time() {
        // A short pass: it takes a second.
        for max in [2, 4, 8] {
            let found = count(&mut tuner(max), 5, max);
            let best = 200.0 * 5.0 * max as f64;
            assert!(found >= 0.93 * best, "max {max}: {found} of {best}");
        }
    }

    #[test]
    fn elements_that_come_in_bursts_are_counted_for_a_whole_period() {
        let (mut tuner, mut now) = (tuner(16), Duration::ZERO);
        while now < PERIOD * NUM_PERIODS {
            for (num_elements, pause) in [(8, 60), (56, 140)] {
                for _ in 0..num_elements {
                    tuner.deliver(now);
                }
                now += Duration::from_millis(pause);
            }
        }
        // The few in front do not look like a loss.
        assert_eq!(tuner.degree(), 1);
    }

    #[test]
    fn another_load_begins_anew() {
        let (mut tuner, mut now) = (tuner(16), Duration::ZERO);
        run(&mut tuner, &mut now, NUM_PERIODS, |_| 1000.0);
        assert_eq!(tuner.degree(), 1);
        // Now it is the calls that take long.
        run(&mut tuner, &mut now, NUM_PERIODS, |degree| {
            100.0 * degree as f64
        });
        assert!(tuner.degree() >= 15, "{tuner:?}");
    }

    /// Simulates two stages of one pipeline, each of known cost: the slower one determines the rate
    /// of both.
    fn run_both(tuners: &mut [Tuner; 2], now: &mut Duration, num_periods: u32, costs: [f64; 2]) {
        let end = *now + PERIOD * num_periods;
        while *now < end {
            let rate = |tuner: &Tuner, cost: f64| tuner.degree() as f64 / cost;
            let both = rate(&tuners[0], costs[0]).min(rate(&tuners[1], costs[1]));
            *now += Duration::from_secs_f64(1.0 / both);
            for tuner in &mut *tuners {
                let before = tuner.degree();
                tuner.deliver(*now);
                let has_moved = tuner.degree() != before;
                assert!(!has_moved || tuner.turns.calm(tuner.name).is_some());
            }
        }
    }

    #[test]
    fn stages_of_one_pipeline_are_tuned_one_after_the_other() {
        let turns = Arc::new(Turns::new());
        let mut tuners =
            [0, 1].map(|_| Tuner::new(16, Arc::clone(&turns), &LearnedNumber::default()));
        let mut now = Duration::ZERO;
        // The first stage takes four times as long as the second.
        run_both(&mut tuners, &mut now, 3 * NUM_PERIODS, [0.004, 0.001]);
        assert!(tuners[0].degree() >= 15, "{tuners:?}");
        assert!((4..=8).contains(&tuners[1].degree()), "{tuners:?}");
    }

    #[test]
    fn a_dropped_tuner_leaves_its_turn_to_others() {
        let turns = Arc::new(Turns::new());
        let [mut first, mut second] =
            [0, 1].map(|_| Tuner::new(16, Arc::clone(&turns), &LearnedNumber::default()));
        let mut now = Duration::ZERO;
        run(&mut first, &mut now, 3, |_| 1000.0);
        assert!(first.degree() < 16);
        run(&mut second, &mut now, 3, |_| 1000.0);
        assert_eq!(second.degree(), 16, "it is the turn of the first");
        drop(first);
        run(&mut second, &mut now, NUM_PERIODS, |_| 1000.0);
        assert_eq!(second.degree(), 1);
    }

    #[test]
    fn the_next_pass_begins_with_what_the_last_one_has_found() {
        let (turns, learned) = (Arc::new(Turns::new()), LearnedNumber::default());
        let next = |max: usize| Tuner::new(max, Arc::clone(&turns), &learned);
        let (mut first, mut now) = (next(16), Duration::ZERO);
        run(&mut first, &mut now, NUM_PERIODS, |_| 1000.0);
        assert_eq!(first.degree(), 1);
        drop(first);
        // A long time without a pass counts for nothing.
        now += 100 * PERIOD;
        let mut second = next(16);
        assert_eq!(second.degree(), 1);
        run(&mut second, &mut now, NUM_PERIODS, |degree| {
            assert_eq!(degree, 1, "it has settled");
            1000.0
        });
        drop(second);
        assert_eq!(next(8).degree(), 8, "another maximum");
        let elsewhere = Tuner::new(16, Arc::new(Turns::new()), &learned);
        assert_eq!(elsewhere.degree(), 16, "another host");
    }

    #[test]
    fn passes_that_are_shorter_than_a_period_are_tuned_together() {
        let (turns, learned) = (Arc::new(Turns::new()), LearnedNumber::default());
        let mut now = Duration::ZERO;
        let mut degree = 16;
        while now < PERIOD * NUM_PERIODS {
            let mut tuner = Tuner::new(16, Arc::clone(&turns), &learned);
            assert_eq!(tuner.degree(), degree);
            let end = now + PERIOD / 4;
            while now < end {
                tuner.deliver(now);
                now += Duration::from_millis(1);
            }
            degree = tuner.degree();
        }
        assert_eq!(degree, 1);
    }

    #[test]
    fn an_iterator_that_lives_on_does_not_change_what_a_later_one_has_found() {
        let (turns, learned) = (Arc::new(Turns::new()), LearnedNumber::default());
        let next = || Tuner::new(16, Arc::clone(&turns), &learned);
        let (old, mut new, mut now) = (next(), next(), Duration::ZERO);
        run(&mut new, &mut now, NUM_PERIODS, |_| 1000.0);
        drop(new);
        drop(old);
        assert_eq!(next().degree(), 1);
    }
}
