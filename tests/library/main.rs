//! The engine as its users call it: one folder or file for each of its modules.

/// The solution of a graph on a machine that is prepared for it alone, with these settings and constraints.
macro_rules! solved {
    ($graph:expr, $machine:expr, $config:expr $(, $constraint:ident $value:tt)*) => {
        viem::solve::Request::new($graph, &viem::solve::PreparedMachine::new($machine))
            $(.$constraint $value)*
            .solve($config)
            .unwrap()
    };
}

#[path = "../common/mod.rs"]
mod common;

mod graph;
mod machine;
mod mapping;
mod partition;
mod qap;
mod settings;
mod solve;
