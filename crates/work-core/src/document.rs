//! What leaves the library, and what is kept for good.
//!
//! [`stored`] owns the documents that revisions rest on: written once, hashed as stored, never written again. [`wire`]
//! owns the documents that front ends hand on: fields are only added within a version, and nothing of them is hashed.
//! [`render`] makes text of them for people.

pub mod difference;
pub mod export;
pub mod render;
pub mod stored;
pub mod wire;
