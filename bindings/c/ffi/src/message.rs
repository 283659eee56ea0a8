//! The message of the last call of a thread, for interfaces whose functions return no text.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// The message that was kept last on this thread; empty without one. Valid until the next is kept.
pub fn kept_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// Keeps a message; none where a call succeeds.
pub fn keep_message(message: String) {
    MESSAGE.with_borrow_mut(|kept| *kept = CString::new(message).unwrap_or_default());
}
