//! A run that is ended in the search of a secondary objective says so.

use std::sync::atomic::{AtomicBool, Ordering};

use viem::base::observer::Observer;
use viem::base::settings::ConfigError;
use viem::graph::generate;
use viem::mapping::objective::ScoreError;
use viem::solve::{Lowered, Lowering, Secondary};
use viem::{Config, Hierarchy, PreparedMachine, Request};

/// An observer that wants a run to end once the secondary search has begun, and that search.
struct EndsLate {
    has_begun: AtomicBool,
    ends: bool,
}

impl Observer for EndsLate {
    fn should_stop(&self) -> bool {
        self.ends && self.has_begun.load(Ordering::Relaxed)
    }
}

impl Secondary for EndsLate {
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    fn lower(&self, given: &Lowering<'_>) -> Result<Lowered, ScoreError> {
        self.has_begun.store(true, Ordering::Relaxed);
        assert_eq!(given.observer.should_stop(), self.ends);
        Ok(Lowered { mapping: given.mapping.clone(), cost: given.cost, exchanges: 0 })
    }
}

#[test]
fn a_run_that_ends_in_the_secondary_search_is_stopped() {
    let graph = generate::grid(4, 4);
    let tree = Hierarchy::parse("4:4", "1:10").unwrap();
    let machine = PreparedMachine::new(&tree);
    for ends in [false, true] {
        let late = EndsLate { has_begun: AtomicBool::new(false), ends };
        let request = Request::new(&graph, &machine).then_lower(&late as &dyn Secondary).observed(&late);
        assert_eq!(request.solve(&Config::fast()).unwrap().report.stopped, ends);
    }
}
