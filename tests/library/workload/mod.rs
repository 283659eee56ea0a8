mod assign;
mod simulate;
