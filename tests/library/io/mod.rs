mod mapping;
mod metis;
mod output;
mod readers;
mod source;
mod traffic;
