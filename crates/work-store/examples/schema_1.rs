//! Writes a database of schema 1, as trial versions wrote it, to try what opening one does.
//!
//! `cargo run -p work-store --example schema_1 -- FILE`

#[path = "../tests/support/schema_1.rs"]
mod schema_1;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a file that is not there yet")?;
    schema_1::write(std::path::Path::new(&path))?;
    Ok(())
}
