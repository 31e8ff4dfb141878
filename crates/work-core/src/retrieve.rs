//! Text in, passages out.
