//! Nothing: a package has a target besides its tests.
