//! `viem.f90` is made of the header, and a program in Fortran uses it. `.ci/generate` writes it again.

use std::fmt::Write;
use std::process::Command;

use crate::tools::{Program, expect, folder, has, installed, lib};

/// A function of the header; its type and those of its arguments are as C writes them, with one space before stars.
struct Function {
    name: String,
    returns: String,
    arguments: Vec<(String, String)>,
}

/// Arguments that may be left out: the function then gets a null pointer.
const OPTIONAL: [&str; 9] =
    ["command", "distances", "edge_weights", "error", "fixed", "pes", "shares", "vertex_weights", "weights"];

const BEGINNING: &str = "\
! viem: process mapping and graph partitioning. The interface of libviem for Fortran; viem.h documents each function.
!
! Handles are of type(c_ptr); c_null_ptr stands for none. Texts end with c_null_char; viem_text makes a text of Fortran of one of C. Arrays
! and errors that viem.h allows to be null are optional. All indices count from 0.
!
! This file is generated from viem.h.
module viem
  use, intrinsic :: iso_c_binding
  implicit none
  public
";

const END: &str = "
contains

  !> A text of C, such as viem_error_message returns, as one of Fortran; empty for c_null_ptr.
  function viem_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: length, i
    interface
      function strlen(string) bind(C)
        import :: c_ptr, c_size_t
        type(c_ptr), value :: string
        integer(c_size_t) :: strlen
      end function
    end interface
    length = 0
    if (c_associated(pointer)) length = int(strlen(pointer))
    allocate (character(len=length) :: text)
    if (length == 0) return
    call c_f_pointer(pointer, characters, [length])
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function
end module
";

/// The header without comments and lines of the preprocessor.
fn code(header: &str) -> String {
    let mut parts = header.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| code += part.split_once("*/").map_or("", |(_, rest)| rest));
    code.lines()
        .filter(|line| !line.starts_with(['#', '}']) || line.starts_with("} "))
        .fold(String::new(), |code, line| code + line + "\n")
}

/// A declaration such as `const char *path`, as its type and its name.
fn typed(declaration: &str) -> (String, String) {
    let declaration = declaration.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = declaration.rfind([' ', '*']).map_or(0, |at| at + 1);
    (declaration[..at].trim().to_owned(), declaration[at..].to_owned())
}

fn functions(code: &str) -> Vec<Function> {
    let statements = code.split(';').map(|text| text.replace("extern \"C\" {", ""));
    let functions = statements.filter(|text| text.contains('(') && !text.contains("typedef")).map(|text| {
        let (head, arguments) = text.split_once('(').unwrap();
        let (returns, name) = typed(head);
        let arguments = arguments.trim_end().trim_end_matches(')');
        let arguments = arguments.split(',').filter(|text| text.trim() != "void").map(typed).collect();
        Function { name, returns, arguments }
    });
    functions.collect()
}

/// Returns the declaration of an argument in Fortran.
fn declared((of, name): &(String, String)) -> String {
    let (of, dimension) = match (of.as_str(), name.as_str()) {
        ("int64_t" | "uint64_t", _) => ("integer(c_int64_t), value", ""),
        ("int", _) => ("integer(c_int), value", ""),
        ("double", _) => ("real(c_double), value", ""),
        ("uint32_t", _) => ("integer(c_int32_t), value", ""),
        ("const int32_t *" | "const uint32_t *", _) => ("integer(c_int32_t), intent(in)", "(*)"),
        ("const int64_t *", _) => ("integer(c_int64_t), intent(in)", "(*)"),
        ("int32_t *", _) => ("integer(c_int32_t), intent(out)", "(*)"),
        ("int64_t *", "pe_of") => ("integer(c_int64_t), intent(out)", "(*)"),
        ("int64_t *", _) => ("integer(c_int64_t), intent(out)", ""),
        ("const char *", _) => ("character(kind=c_char), intent(in)", "(*)"),
        ("const char *const *", _) => ("type(c_ptr), intent(in)", "(*)"),
        ("viem_report *", _) => ("type(viem_report), intent(out)", ""),
        (of, _) if of.ends_with("**") => ("type(c_ptr), intent(out)", ""),
        (of, _) if of.ends_with('*') => ("type(c_ptr), value", ""),
        (of, _) if of.ends_with("_function") => ("type(c_funptr), value", ""),
        (of, name) => panic!("no type of Fortran for `{of} {name}`"),
    };
    let optional =
        if OPTIONAL.contains(&name.as_str()) && !of.ends_with("value") { ", optional" } else { "" };
    format!("{of}{optional} :: {name}{dimension}")
}

fn write_function(out: &mut String, function: &Function) {
    let Function { name, returns, arguments } = function;
    let (kind, result) = match returns.as_str() {
        "void" => ("subroutine", None),
        "viem_status" => ("function", Some("integer(c_int)")),
        "int64_t" => ("function", Some("integer(c_int64_t)")),
        of if of.ends_with('*') => ("function", Some("type(c_ptr)")),
        of => panic!("no type of Fortran for {of}"),
    };
    let names: Vec<&str> = arguments.iter().map(|(_, name)| name.as_str()).collect();
    let separator = ", &\n        ";
    writeln!(
        out,
        "\n    {kind} {name}( &\n        {}) &\n        bind(C, name=\"{name}\")",
        names.join(separator)
    )
    .unwrap();
    writeln!(out, "      import").unwrap();
    arguments.iter().for_each(|argument| writeln!(out, "      {}", declared(argument)).unwrap());
    result.iter().for_each(|of| writeln!(out, "      {of} :: {name}").unwrap());
    writeln!(out, "    end {kind}").unwrap();
}

/// The structures of the header whose fields Fortran reads, each after those inside it.
const STRUCTURES: [&str; 3] = ["viem_loads", "viem_migration", "viem_report"];

fn write_structure(out: &mut String, code: &str, name: &str) {
    let fields = code.split_once(&format!("}} {name};")).unwrap().0.rsplit_once('{').unwrap().1;
    writeln!(out, "\n  type, bind(C) :: {name}").unwrap();
    for (of, name) in fields.split(';').filter(|field| !field.trim().is_empty()).map(typed) {
        let of = match of.as_str() {
            "int64_t" => "integer(c_int64_t)".to_owned(),
            "int32_t" => "integer(c_int32_t)".to_owned(),
            "double" => "real(c_double)".to_owned(),
            of if STRUCTURES.contains(&of) => format!("type({of})"),
            of => panic!("no type of Fortran for {of}"),
        };
        writeln!(out, "    {of} :: {name}").unwrap();
    }
    writeln!(out, "  end type").unwrap();
}

fn generated(header: &str) -> String {
    let code = code(header);
    let mut out = BEGINNING.to_owned();
    let enumerators = code.lines().map(str::trim).filter(|line| line.starts_with("VIEM_"));
    let enumerators = enumerators.map(|line| line.trim_end_matches(',').split_once(" = ").unwrap());
    let defined = header.lines().filter_map(|line| line.strip_prefix("#define VIEM_VERSION"));
    let defined = defined
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, value)| (format!("VIEM_VERSION{name}"), value));
    writeln!(out).unwrap();
    for (name, value) in enumerators.map(|(name, value)| (name.to_owned(), value)).chain(defined) {
        writeln!(out, "  integer(c_int), parameter :: {name} = {value}").unwrap();
    }
    writeln!(out, "  integer(c_int64_t), parameter :: VIEM_UNKNOWN = -huge(0_c_int64_t) - 1").unwrap();
    STRUCTURES.iter().for_each(|name| write_structure(&mut out, &code, name));
    writeln!(out, "\n  interface").unwrap();
    functions(&code).iter().for_each(|function| write_function(&mut out, function));
    out.replace("( &\n        ) &", "() &") + "  end interface\n" + END
}

#[test]
fn the_module_is_that_of_the_header() {
    let path = folder().join("fortran/viem.f90");
    let module = generated(&std::fs::read_to_string(folder().join("include/viem.h")).unwrap());
    if std::env::var_os("VIEM_REWRITE_DOCS").is_some() {
        std::fs::write(&path, &module).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == module, "{} differs from the header; run .ci/generate", path.display());
}

#[test]
fn the_example_in_fortran_maps() {
    if !has("gfortran") {
        return;
    }
    let strict = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-std=f2018"];
    let output =
        Program::compile("gfortran", "examples/map.f90", &[&strict[..], &["-lviem_fortran"]].concat())
            .run(&[]);
    assert!(output.contains("J = 4640"), "{output}");
    assert!(output.contains("at least one block"), "{output}");
    // The module as it is installed compiles anywhere.
    let other = tempfile::tempdir().unwrap();
    let mut compiler = Command::new("gfortran");
    compiler.current_dir(other.path()).args(strict).arg("-c").arg(installed().join("include/viem.f90"));
    expect(&mut compiler);
    assert!(lib().join("libviem_fortran.a").exists() && installed().join("include/viem.mod").exists());
}
