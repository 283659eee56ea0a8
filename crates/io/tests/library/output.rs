//! Outputs are written completely or not at all, whatever the destination.

use std::fs;
use std::io;
use std::path::Path;

use crate::files::names;
use tempfile::TempDir;
use viem_io::{Outputs, WriteError};

fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    let mut outputs = Outputs::new();
    let output = outputs.add(path, &[])?;
    outputs.write(&[(Some(output), &|out| out.write_all(text.as_bytes()))])
}

/// Writes the first output correctly, and half of the second.
fn fail_halfway(first: &Path, second: &Path) -> WriteError {
    let mut outputs = Outputs::new();
    let [first, second] = [first, second].map(|path| Some(outputs.add(path, &[]).unwrap()));
    let result = outputs.write(&[
        (first, &|out| out.write_all(b"all of it")),
        (second, &|out| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::Error::other("halfway"))
        }),
    ]);
    result.unwrap_err()
}

#[test]
fn files_are_created_and_replaced() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out");
    write(&path, "first").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "first");
    write(&path, "2nd").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "2nd");
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn a_failure_leaves_no_trace() {
    let folder = TempDir::new().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    assert!(matches!(fail_halfway(&first, &second), WriteError::WriteFailed { .. }));
    assert!(names(folder.path()).is_empty());
    write(&first, "old").unwrap();
    write(&second, "old").unwrap();
    assert!(matches!(fail_halfway(&first, &second), WriteError::WriteFailed { .. }));
    assert_eq!(fs::read_to_string(&first).unwrap(), "old");
    assert_eq!(fs::read_to_string(&second).unwrap(), "old");
    assert_eq!(names(folder.path()), ["first", "second"]);
}

#[test]
fn impossible_outputs_are_rejected_before_any_work() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    write(&file, "").unwrap();
    for path in
        [folder.path().to_owned(), folder.path().join("no/out"), file.join("out"), "".into(), "/".into()]
    {
        let message = Outputs::new().add(&path, &[]).unwrap_err();
        assert!(matches!(message, WriteError::CannotCreate { .. }), "{path:?}: {message}");
        assert!(matches!(write(&path, "x"), Err(WriteError::CannotCreate { .. })), "{path:?}");
    }
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn output_is_kept_if_a_file_cannot_be_put_in_place() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out");
    let mut outputs = Outputs::new();
    let output = outputs.add(&path, &[]).unwrap();
    let contents: [viem_io::output::Content<'_>; 1] = [(Some(output), &|out| out.write_all(b"precious"))];
    let staged = outputs.stage(&contents).unwrap();
    assert_eq!(fs::read_to_string(staged.path(output).unwrap()).unwrap(), "precious");
    // In the meantime, somebody has created a folder with this name.
    fs::create_dir(&path).unwrap();
    let error = staged.publish().unwrap_err();
    let WriteError::Kept { kept, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().contains(kept));
    assert_eq!(fs::read_to_string(kept).unwrap(), "precious");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn permissions_of_a_replaced_file_are_kept() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("out");
        write(&path, "old").unwrap();
        let fresh = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let plain = folder.path().join("plain");
        fs::File::create(&plain).unwrap();
        assert_eq!(fresh, fs::metadata(&plain).unwrap().permissions().mode() & 0o777);
        for mode in [0o600, 0o754, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            write(&path, "new").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[test]
    fn links_stay_and_their_targets_are_written() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("target");
        let link = folder.path().join("link");
        symlink("target", &link).unwrap();
        for text in ["created", "replaced"] {
            write(&link, text).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(matches!(write(&circle, "x"), Err(WriteError::CannotCreate { .. })));
        assert_eq!(names(folder.path()), ["circle", "link", "target"]);
    }

    #[test]
    fn pipes_are_written_and_stay_pipes() {
        let folder = TempDir::new().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        write(&pipe, "through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert_eq!(names(folder.path()), ["pipe"]);
    }

    #[test]
    fn devices_are_written_as_they_are() {
        write(Path::new("/dev/null"), "gone").unwrap();
        assert_eq!(fs::metadata("/dev/null").unwrap().size(), 0);
        if Path::new("/dev/full").exists() {
            let error = write(Path::new("/dev/full"), "x").unwrap_err();
            assert!(matches!(error, WriteError::WriteFailed { .. }), "{error}");
        }
    }

    #[test]
    fn outputs_without_permission_are_rejected() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("out");
        write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        // The superuser may write anywhere, so nothing is rejected.
        let is_superuser = fs::OpenOptions::new().append(true).open(&path).is_ok();
        if !is_superuser {
            assert!(matches!(write(&path, "new"), Err(WriteError::CannotCreate { .. })));
            assert_eq!(fs::read_to_string(&path).unwrap(), "old");
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
            let other = folder.path().join("other");
            assert!(matches!(write(&other, "new"), Err(WriteError::CannotCreate { .. })));
            // A writable file in a folder that may not be changed is written in place.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            write(&path, "new").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "new");
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        }
        assert_eq!(names(folder.path()), ["out"]);
    }
}
