//! The house: its layers, its borders, and the words that cross them.

mod circles;
mod code;
mod layers;
mod messages;
