//! Rules for the whole project: layers, circles, messages of the library, unsafe code, and what documents list.

mod circles;
mod code;
mod documents;
mod features;
mod layers;
mod messages;
mod unsafe_code;
