//! Rules for the whole project: layers, circles, messages of the library, and the book.

mod book;
mod circles;
mod code;
mod features;
mod layers;
mod messages;
