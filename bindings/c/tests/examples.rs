//! The examples run, and print what they should.

use crate::tools::{Program, STRICT};

#[test]
fn the_example_in_c_partitions() {
    let options = [&STRICT[..], &["-std=c99"]].concat();
    let output = Program::compile("cc", "examples/partition.c", &options).run(&[]);
    assert!(output.contains("4 blocks of 256 vertices"), "{output}");
}

#[test]
fn the_example_in_cpp_maps() {
    let options = [&STRICT[..], &["-std=c++11"]].concat();
    let output = Program::compile("c++", "examples/map.cpp", &options).run(&[]);
    assert!(output.contains("J = 4640"), "{output}");
}
