mod mapping;
mod metis;
mod output;
mod parhip;
mod readers;
mod source;
mod traffic;
