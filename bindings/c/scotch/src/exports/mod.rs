//! The functions that programs call, with the names and arguments of Scotch 7.
//!
//! | member | purpose |
//! |---|---|
//! | `maps` | mappings and partitions, which viem computes |
//! | `archs`, `graphs`, `strategies` | what they are made of: Scotch itself makes it if it is there |
//! | `common` | numbers at random, messages, memory, versions |
//! | `others` | what only Scotch itself does |

pub(crate) mod archs;
pub(crate) mod common;
pub(crate) mod graphs;
pub(crate) mod maps;
mod others;
pub(crate) mod strategies;

/// Declares functions that Scotch itself executes if it is there, and this library if not.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Structures, arrays, texts and files are as Scotch documents them.
        #[unsafe(export_name = suffixed!($name))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            match $crate::real::real!($name($($type),*) -> $result) {
                // SAFETY: the caller's promise is the same.
                Some(real) => unsafe { real($($argument),*) },
                None => $crate::real::own(suffixed!($name), || -> Result<$result, String> { $body }),
            }
        }
    )*};
}
use functions;
