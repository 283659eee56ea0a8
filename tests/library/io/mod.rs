mod mapping;
mod metis;
mod output;
mod source;
mod traffic;
