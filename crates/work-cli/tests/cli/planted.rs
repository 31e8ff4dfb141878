//! The program holds no planted fault.

use work_core::plant::Fault;

#[test]
fn a_build_without_the_feature_holds_no_planted_fault_and_no_way_to_choose_one() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_work")).expect("the program");
    let binary = String::from_utf8_lossy(&binary);
    let holds = |text: &str| binary.contains(text);
    assert!(holds("Nothing has changed yet"), "texts of the program can be found in it");
    // Names of one word are words of the program too.
    let names = Fault::ALL.iter().map(|fault| fault.name()).filter(|name| name.contains('-'));
    let left = names.filter(|name| holds(name));
    assert_eq!(left.collect::<Vec<_>>(), [""; 0]);
    assert!(!holds("WORK_PLANT"), "the variable that chooses one");
}
