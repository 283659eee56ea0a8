mod families;
mod own;
mod pointers;
mod recognise;
