//! What the bytes of a file say as text.
