//! Names the shared library as its users link it, with the major version of its interface.

fn main() {
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").unwrap_or_default();
    let width = if std::env::var_os("CARGO_FEATURE_IDX64").is_some() { "64" } else { "" };
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libviem_kahip{width}.so.{major}");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
