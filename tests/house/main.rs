//! The house: its layers, its borders, and the words that cross them.

mod circles;
mod code;
mod declarations;
mod interface;
mod layers;
mod messages;
