//! Rules for the whole project: layers, circles, messages of the library, unsafe code, systems, and what documents list.

mod circles;
mod code;
mod documents;
mod features;
mod layers;
mod messages;
mod systems;
mod unsafe_code;
