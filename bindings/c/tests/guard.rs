//! Panics come back as messages, and nothing is printed.

#[path = "../ffi/src/guard.rs"]
mod of_ffi;

use std::thread;

use of_ffi::guarded;

#[test]
fn panics_are_messages() {
    let hook = std::panic::take_hook();
    assert_eq!(guarded(|| 7), Ok(7));
    assert_eq!(guarded(|| panic!("a mistake")), Err::<(), _>("a mistake".to_owned()));
    let number = 3;
    assert_eq!(guarded(|| panic!("mistake {number}")), Err::<(), _>("mistake 3".to_owned()));
    assert!(guarded(|| std::panic::panic_any(number)).unwrap_err().contains("without a message"));
    // A thread of a run hands its panic on.
    let in_thread = || thread::scope(|scope| scope.spawn(|| panic!("elsewhere")).join());
    let handed_on = guarded(|| in_thread().unwrap_or_else(|payload| std::panic::resume_unwind(payload)));
    assert_eq!(handed_on, Err::<(), _>("elsewhere".to_owned()));
    std::panic::set_hook(hook);
}
