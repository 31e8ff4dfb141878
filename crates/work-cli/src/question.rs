//! Questions to a person: what is to become of a proposal, or of time.
//!
//! Owns that nothing is the answer unless it was said: an empty line, another word, and the end of the input are all
//! taken for what changes nothing.

use std::io::{self, BufRead, Read as _, Write};

/// What a person wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Do what was asked: make it the accepted revision, or set time back.
    Apply,
    /// End it.
    Dismiss,
    /// Leave it as it is.
    Leave,
}

/// A question with the words that answer it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    text: &'static str,
    answers: &'static [(&'static str, Choice)],
}

/// Bytes of an answer that are read.
const LONGEST: u64 = 1024;

impl Question {
    /// Whether what was shown is to be applied.
    pub(crate) const APPLY: Self =
        Self { text: "Apply this? [y/N] ", answers: &[("yes", Choice::Apply)] };
    /// Whether time is to be set back.
    pub(crate) const CLOCK: Self =
        Self { text: "Set time back? [y/N] ", answers: &[("yes", Choice::Apply)] };
    /// What is to become of what was shown.
    pub(crate) const REVIEW: Self = Self {
        text: "apply, dismiss, or leave? [a/d/L] ",
        answers: &[("apply", Choice::Apply), ("dismiss", Choice::Dismiss)],
    };
    /// The same of what cannot be applied.
    pub(crate) const KEEP: Self =
        Self { text: "dismiss, or leave? [d/L] ", answers: &[("dismiss", Choice::Dismiss)] };

    /// Asks the person at the terminal. Where nothing can be read, nothing was said.
    pub(crate) fn ask(self) -> Choice {
        self.ask_of(&mut io::stdin().lock(), &mut io::stderr().lock()).unwrap_or(Choice::Leave)
    }

    /// Asks on `to` and reads one line of `from`. An answer is a word or its first letter, in any case.
    fn ask_of(self, from: &mut dyn BufRead, to: &mut dyn Write) -> io::Result<Choice> {
        to.write_all(self.text.as_bytes())?;
        to.flush()?;
        let mut line = Vec::new();
        from.take(LONGEST).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            writeln!(to)?;
        }
        let said = String::from_utf8_lossy(&line).trim().to_lowercase();
        let is = |word: &str| said == word || said == word[..1];
        let found = self.answers.iter().find(|(word, _)| is(word));
        Ok(found.map_or(Choice::Leave, |(_, choice)| *choice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(question: Question, said: &str, expected: Choice) {
        let mut asked = Vec::new();
        let answer = question.ask_of(&mut said.as_bytes(), &mut asked).expect("it is read");
        assert_eq!(answer, expected, "{} {said:?}", question.text);
        assert!(asked.starts_with(question.text.as_bytes()));
        let ended = asked.len() > question.text.len();
        assert_eq!(ended, !said.ends_with('\n'), "the next line begins at its start: {said:?}");
    }

    // spec: C6
    #[test]
    fn only_a_yes_applies() {
        for said in ["y\n", "Y\n", "yes\n", " Yes \n", "y"] {
            check(Question::APPLY, said, Choice::Apply);
        }
        for said in ["", "\n", "n\n", "no\n", "ye\n", "yy\n", "a\n", "apply\n", "\u{fffd}\n"] {
            check(Question::APPLY, said, Choice::Leave);
        }
    }

    // spec: C6
    #[test]
    fn a_review_leaves_what_nothing_is_said_of() {
        for (said, expected) in [
            ("a\n", Choice::Apply),
            ("apply\n", Choice::Apply),
            ("D\n", Choice::Dismiss),
            ("dismiss\n", Choice::Dismiss),
            ("l\n", Choice::Leave),
            ("leave\n", Choice::Leave),
            ("y\n", Choice::Leave),
            ("yes\n", Choice::Leave),
            ("\n", Choice::Leave),
            ("", Choice::Leave),
        ] {
            check(Question::REVIEW, said, expected);
        }
    }

    // spec: C6
    #[test]
    fn what_cannot_be_applied_is_not_offered() {
        check(Question::KEEP, "a\n", Choice::Leave);
        check(Question::KEEP, "apply\n", Choice::Leave);
        check(Question::KEEP, "d\n", Choice::Dismiss);
    }

    #[test]
    fn an_answer_without_end_is_no_answer() {
        check(Question::APPLY, &"y".repeat(5_000), Choice::Leave);
    }
}
