//! Names the shared library as its users link it, with the major version of its interface; and passes the suffix of the names of its functions.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    let width = if std::env::var_os("CARGO_FEATURE_NUM64").is_some() { "64" } else { "" };
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libviem_scotch{width}.so.{major}");
    }
    // As Scotch has it with SCOTCH_NAME_SUFFIX.
    println!(
        "cargo::rustc-env=VIEM_SCOTCH_SUFFIX={}",
        std::env::var("VIEM_SCOTCH_SUFFIX").unwrap_or_default()
    );
    println!("cargo::rerun-if-env-changed=VIEM_SCOTCH_SUFFIX");
    println!("cargo::rerun-if-changed=build.rs");
}
