//! The kernel of local search: neighbourhood x evaluator x acceptance.
//!
//! *Problem.* Lower the value of a state, such as J of a mapping, by moves that each change little of it, such as exchanges of two processes.
//!
//! *Algorithm.* The neighbourhood proposes moves, one after the other. The evaluator computes the change of the value by each. If the acceptance
//! agrees, the evaluator makes the move, and the next proposal sees the new state.
//!
//! | factor | what it is | members |
//! |---|---|---|
//! | neighbourhood | a closure: the next move, or `None` at the end and once the run is to stop | one per search |
//! | evaluator | [`Evaluator`] | one per value |
//! | acceptance | a closure, or what runs the search | [`below`] a bound, which may be lexicographic; [`at_temperature`] (Metropolis); [`best`] of the neighbourhood |
//!
//! A descent repeats [`sweep`] or [`best`] until no move is made. Annealing is one sweep after another at falling temperatures.
//!
//! *Cost.* What the closures and the evaluator take. All of it is compiled into one loop, as if it were written out. No memory.
//!
//! The searches for J that are tuned to one machine or data structure have loops of their own (`mapping::search`, `mapping::annealing`).

use super::metropolis::accepts;
use super::rng::Rng;

/// A state whose value changes by moves.
///
/// A test of each evaluator compares what it computes with the value from scratch before and after the move.
pub trait Evaluator {
    /// A move.
    type Move;
    /// The measure that acceptance compares: the change of the value, or the value after the move.
    type Change;

    /// Computes the change of the value by a move. What it leaves in the state is cleared by `make` or `leave`, one of which follows.
    fn change(&mut self, by: &Self::Move) -> Self::Change;

    /// Makes the move that has just been evaluated.
    fn make(&mut self, by: Self::Move, change: Self::Change);

    /// Clears what the evaluation of a move has left, since it is not made.
    fn leave(&mut self, _by: &Self::Move) {}
}

/// How many moves were evaluated and made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Moves evaluated.
    pub tried: u64,
    /// Moves made.
    pub made: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        *self = Self { tried: self.tried + other.tried, made: self.made + other.made };
    }
}

/// Accepts changes below a bound: improvements, if it is zero. Changes in several parts are compared lexicographically if they are tuples.
#[inline(always)]
pub fn below<E: Evaluator>(bound: E::Change) -> impl Fn(&mut E, &E::Change) -> bool
where
    E::Change: PartialOrd,
{
    move |_, change| *change < bound
}

/// Returns whether a change is accepted at a temperature: always if it is no worsening, else by the rule of Metropolis et al. (1953). At
/// temperature 0 no worsening is accepted, and nothing is divided by it: programs may trap that.
#[inline(always)]
pub fn at_temperature(change: f64, temperature: f64, rng: &mut Rng) -> bool {
    let in_temperatures = || if temperature > 0.0 { change / temperature } else { f64::INFINITY };
    let is_refused = change > 0.0 && !accepts(in_temperatures(), rng);
    !is_refused
}

/// Makes each proposed move that is accepted, until there are no more proposals.
#[inline(always)]
pub fn sweep<E: Evaluator>(
    state: &mut E,
    mut propose: impl FnMut(&mut E) -> Option<E::Move>,
    mut accepts: impl FnMut(&mut E, &E::Change) -> bool,
) -> Counts {
    let mut counts = Counts::default();
    while let Some(by) = propose(state) {
        counts.tried += 1;
        let change = state.change(&by);
        if accepts(state, &change) {
            counts.made += 1;
            state.make(by, change);
        } else {
            state.leave(&by);
        }
    }
    counts
}

/// Makes the proposed move with the least change, of several the first, if that is below a bound. It is evaluated again before.
#[inline(always)]
pub fn best<E: Evaluator>(
    state: &mut E,
    mut propose: impl FnMut(&mut E) -> Option<E::Move>,
    bound: E::Change,
) -> Counts
where
    E::Change: PartialOrd,
{
    let (mut tried, mut least, mut found) = (0, bound, None);
    while let Some(by) = propose(state) {
        tried += 1;
        let change = state.change(&by);
        state.leave(&by);
        if change < least {
            (least, found) = (change, Some(by));
        }
    }
    let made = u64::from(found.is_some());
    if let Some(by) = found {
        let change = state.change(&by);
        state.make(by, change);
    }
    Counts { tried, made }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number, and the steps that were made.
    #[derive(Default)]
    struct Walk {
        value: i64,
        steps: Vec<i64>,
        is_evaluating: bool,
    }

    impl Evaluator for Walk {
        type Move = i64;
        type Change = i64;

        fn change(&mut self, by: &i64) -> i64 {
            assert!(!std::mem::replace(&mut self.is_evaluating, true));
            *by
        }

        fn make(&mut self, by: i64, change: i64) {
            (self.value, self.is_evaluating) = (self.value + change, false);
            self.steps.push(by);
        }

        fn leave(&mut self, _: &i64) {
            assert!(std::mem::take(&mut self.is_evaluating));
        }
    }

    #[test]
    fn a_sweep_makes_what_is_accepted_and_ends_where_its_neighbourhood_does() {
        let mut walk = Walk::default();
        let mut steps = [3, -2, 0, -1, 5, -4].into_iter();
        let counts = sweep(&mut walk, |walk| steps.next().filter(|_| walk.value > -3), below(0));
        assert_eq!((counts, walk.value, walk.steps), (Counts { tried: 4, made: 2 }, -3, vec![-2, -1]));
    }

    #[test]
    fn the_best_move_is_the_first_of_the_least_below_the_bound() {
        let mut walk = Walk::default();
        let mut best_of = |steps: &[i64]| {
            let mut steps = steps.iter().copied();
            best(&mut walk, |_| steps.next(), 0)
        };
        assert_eq!(best_of(&[1, -2, -5, 4, -5]), Counts { tried: 5, made: 1 });
        assert_eq!(best_of(&[7, 0]), Counts { tried: 2, made: 0 });
        assert_eq!(best_of(&[]), Counts::default());
        assert_eq!((walk.value, walk.steps, walk.is_evaluating), (-5, vec![-5], false));
    }

    #[test]
    fn worsenings_are_made_as_often_as_the_temperature_says() {
        for temperature in [0.0, 0.5, f64::INFINITY] {
            let (mut walk, mut rng, mut left) = (Walk::default(), Rng::new(1), 0..20_000);
            let by_chance =
                |_: &mut Walk, &change: &i64| at_temperature(change as f64, temperature, &mut rng);
            let counts = sweep(&mut walk, |_| left.next().map(|_| 1), by_chance);
            assert_eq!((counts.tried, counts.made), (20_000, walk.steps.len() as u64));
            let expected = 20_000.0 * (-1.0 / temperature).exp();
            assert!(
                (counts.made as f64 - expected).abs() <= 4.0 * expected.sqrt(),
                "{temperature}: {counts:?}"
            );
            // Neither improvements nor what changes nothing ask the random stream.
            let next = rng.clone().next_u64();
            assert!(
                at_temperature(0.0, temperature, &mut rng) && at_temperature(-1.0, temperature, &mut rng)
            );
            assert_eq!(rng.next_u64(), next);
        }
    }
}
