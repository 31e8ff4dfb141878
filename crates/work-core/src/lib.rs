//! The rules of maintained work.

pub mod retrieve;
pub mod text;
