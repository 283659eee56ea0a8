//! Rules for the whole project: layers, circles, and the messages of the library.

mod circles;
mod code;
mod declarations;
mod interface;
mod layers;
mod messages;
