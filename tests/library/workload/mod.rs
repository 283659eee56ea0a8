mod assign;
mod shares;
mod simulate;
