//! Rules for the whole project: layers, circles, and the messages of the library.

mod circles;
mod code;
mod features;
mod layers;
mod messages;
