//! placeholder until the program stands
fn main() {}
