//! The library as it is installed, and compilers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

/// The options with which all C and C++ must compile.
pub const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

/// The folder of the C interface.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder of it")
}

/// Returns the folder into which `make install` has put everything, once for all tests.
pub fn installed() -> &'static Path {
    static INSTALLED: LazyLock<TempDir> = LazyLock::new(|| {
        let prefix = tempfile::tempdir().unwrap();
        let mut make = Command::new("make");
        make.arg("-C").arg(folder()).arg("install").arg(format!("PREFIX={}", prefix.path().display()));
        expect(&mut make);
        prefix
    });
    INSTALLED.path()
}

/// Runs a command that must succeed; its standard output.
pub fn expect(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Returns whether a tool is installed. Tests that need it are skipped without it, and fail if `VIEM_REQUIRE_TOOLS` is set.
pub fn has(tool: &str) -> bool {
    let has = Command::new(tool).arg("--version").output().is_ok();
    assert!(has || std::env::var_os("VIEM_REQUIRE_TOOLS").is_none(), "{tool} is not installed");
    if !has {
        eprintln!("skipped: {tool} is not installed");
    }
    has
}

/// A program, compiled against what was installed by `compiler`, and the folder that it is in.
pub struct Program {
    folder: TempDir,
}

impl Program {
    /// Compiles a file below the folder of the C interface, and links it to libviem.
    pub fn compile(compiler: &str, source: &str, options: &[&str]) -> Self {
        Self::link(compiler, source, options, "viem")
    }

    /// Compiles a file below the folder of the C interface, and links it to a library.
    pub fn link(compiler: &str, source: &str, options: &[&str], library: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(compiler);
        command
            .current_dir(folder.path())
            .arg("-o")
            .arg("program")
            .arg(self::folder().join(source))
            .args(options);
        command.arg(format!("-I{}", installed().join("include").display()));
        command.arg(format!("-L{}", lib().display())).arg(format!("-Wl,-rpath,{}", lib().display()));
        expect(command.arg(format!("-l{library}")).args(["-lpthread", "-lm"]));
        Self { folder }
    }

    /// The command that runs it in its folder.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.folder.path().join("program"));
        command.current_dir(self.folder.path());
        command
    }

    /// Runs it; it must succeed.
    pub fn run(&self, arguments: &[&str]) -> String {
        expect(self.command().args(arguments))
    }
}

/// The folder of the libraries.
pub fn lib() -> PathBuf {
    installed().join("lib")
}
