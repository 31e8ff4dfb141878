//! What each fuzz target does with an input. Tests replay the corpus through the same functions.
//!
//! Run one with `cargo fuzz run -s none --features fuzzing TARGET`; put an input that failed into `corpus/TARGET`.

pub mod targets;

#[cfg(test)]
mod tests {
    use std::path::Path;

    fn replay(target: &str, run: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        let mut inputs: Vec<_> = std::fs::read_dir(folder)
            .expect("a corpus")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        inputs.sort();
        assert!(!inputs.is_empty(), "an empty corpus proves nothing");
        for input in inputs {
            run(&std::fs::read(&input).expect("an input"));
        }
    }

    #[test]
    fn the_corpus_of_queries_parses_and_prints() {
        replay("query", super::targets::query);
    }

    #[test]
    fn the_corpus_of_files_is_quoted_exactly() {
        replay("retrieve", super::targets::retrieve);
    }

    #[test]
    fn the_corpus_of_changed_files_gives_true_findings() {
        replay("finding", super::targets::finding);
    }

    #[test]
    fn the_corpus_of_fields_is_told_apart() {
        replay("canonical", super::targets::canonical);
    }

    #[test]
    fn the_corpus_of_exports_is_read_or_refused() {
        replay("export", super::targets::export);
    }

    #[test]
    fn the_corpus_of_stored_documents_is_read_or_refused() {
        replay("stored", super::targets::stored);
    }
}
