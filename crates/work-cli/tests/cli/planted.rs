//! The program holds no planted fault.

use work_core::plant::{Fault, is_planted};

#[test]
fn a_build_without_the_feature_holds_no_planted_fault_and_no_way_to_choose_one() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_work")).expect("the program");
    let binary = String::from_utf8_lossy(&binary);
    assert!(binary.contains("Nothing has changed yet"), "texts of the program can be found in it");
    for text in ["WORK_PLANT", "no fault is called", Fault::FencingNumber.name()] {
        assert!(!binary.contains(text), "{text}");
    }
    // And the question is answered before anybody asks.
    const NEVER: bool = is_planted(Fault::FencingNumber);
    const { assert!(!NEVER) };
}
