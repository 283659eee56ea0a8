//! The schedule of temperatures, and the loop over them.

use super::Improved;
use crate::base::types::{Cost, PeId};

/// A temperature that falls geometrically (Kirkpatrick, Gelatt and Vecchi 1983) from its initial value in the
/// first sweep to its final value in the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    initial: f64,
    /// The final temperature as a share of the initial one.
    ratio: f64,
    num_sweeps: usize,
}

impl Schedule {
    pub(super) fn new(initial: f64, ratio: f64, num_sweeps: usize) -> Self {
        Self { initial, ratio, num_sweeps }
    }

    fn temperature(&self, sweep: usize) -> f64 {
        let cooled = sweep as f64 / (self.num_sweeps.max(2) - 1) as f64;
        self.initial * self.ratio.powf(cooled)
    }
}

/// A mapping under annealing.
///
/// The loop over sweeps takes it as `dyn`: only the proposals inside a sweep are worth compiling for each
/// type.
pub(super) trait State {
    /// Makes the proposals of one temperature; returns false if the observer asked to stop.
    fn sweep(&mut self, temperature: f32) -> bool;
    /// Change of J/2 since the start.
    fn change(&self) -> Cost;
    /// The place of each process.
    fn place_of(&self) -> &[PeId];
    /// Returns to an earlier mapping; `change` is its change of J/2.
    fn restore(&mut self, place_of: &[PeId], change: Cost);
    /// Exchanges evaluated, and exchanges made.
    fn counts(&self) -> [u64; 2];
}

/// Runs all sweeps of a schedule, or fewer if the observer asks to stop, then restores the best mapping seen
/// after any sweep.
pub(super) fn cool(state: &mut dyn State, schedule: &Schedule) {
    let (mut least, mut best) = (state.change(), state.place_of().to_vec());
    for sweep in 0..schedule.num_sweeps {
        if !state.sweep(schedule.temperature(sweep) as f32) {
            break;
        }
        if state.change() < least {
            least = state.change();
            best.copy_from_slice(state.place_of());
        }
    }
    if least < state.change() {
        state.restore(&best, least);
    }
}

/// The result of annealing.
pub(super) fn improved(state: &dyn State) -> Improved {
    let [tried, made] = state.counts();
    Improved { place_of: state.place_of().to_vec(), gain: -2 * state.change(), tried, made }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes by the given amounts, one per sweep.
    struct Script {
        changes: Vec<Cost>,
        temperatures: Vec<f32>,
        place_of: Vec<PeId>,
        change: Cost,
        ends_after: usize,
    }

    impl State for Script {
        fn sweep(&mut self, temperature: f32) -> bool {
            let number = self.temperatures.len();
            self.temperatures.push(temperature);
            self.change += self.changes[number];
            self.place_of[0] += 1;
            number < self.ends_after
        }

        fn change(&self) -> Cost {
            self.change
        }

        fn place_of(&self) -> &[PeId] {
            &self.place_of
        }

        fn restore(&mut self, place_of: &[PeId], change: Cost) {
            (self.place_of, self.change) = (place_of.to_vec(), change);
        }

        fn counts(&self) -> [u64; 2] {
            [self.temperatures.len() as u64, 0]
        }
    }

    fn cooled(changes: &[Cost], ends_after: usize) -> Script {
        let changes = changes.to_vec();
        let schedule = Schedule::new(8.0, 0.25, changes.len());
        let mut script =
            Script { changes, temperatures: Vec::new(), place_of: vec![0], change: 0, ends_after };
        cool(&mut script, &schedule);
        script
    }

    #[test]
    fn the_best_mapping_is_kept_and_both_ends_of_the_schedule_are_met() {
        let script = cooled(&[5, -9, 3], usize::MAX);
        assert_eq!((script.change, &script.place_of[..]), (-4, &[2][..]));
        assert_eq!(script.temperatures, [8.0, 4.0, 2.0]);
        assert_eq!(improved(&script).gain, 8);
        let script = cooled(&[5], usize::MAX);
        assert_eq!((script.change, script.place_of[0], &script.temperatures[..]), (0, 0, &[8.0][..]));
    }

    #[test]
    fn a_sweep_that_was_ended_early_is_not_compared() {
        let script = cooled(&[-1, 7, -9], 1);
        assert_eq!((script.change, script.place_of[0], script.temperatures.len()), (-1, 1, 2));
    }
}
