//! Everything that a world is asked, and how its answers are compared with those of the other.

use serde::Serialize;
use std::fmt::Debug;
use work_core::code::Coded;

/// What was asked, and the answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Vec<(String, String)>);

impl Told {
    /// Takes in an answer.
    pub(super) fn add<T: Serialize, E: Coded + Debug>(
        &mut self,
        asked: impl Into<String>,
        answer: Result<T, E>,
    ) {
        self.say(asked, text(answer));
    }

    /// Takes in an answer that is text already.
    pub(super) fn say(&mut self, asked: impl Into<String>, answer: String) {
        self.0.push((asked.into(), answer));
    }

    /// How many answers.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The same with a text in place of others, in each answer.
    pub(super) fn masked(mut self, hidden: &[String], mask: &str) -> Self {
        for (_, answer) in &mut self.0 {
            for text in hidden {
                if answer.contains(text.as_str()) {
                    *answer = answer.replace(text.as_str(), mask);
                }
            }
        }
        self
    }

    /// The same without lines that hold one of these words, and what follows on a line after a time of a look: showing
    /// something again takes another look.
    pub(super) fn without(mut self, words: &[&str]) -> Self {
        for (_, answer) in &mut self.0 {
            let kept = answer.lines().filter(|line| !words.iter().any(|word| line.contains(word)));
            let untimed = kept.map(|line| line.split("Looked at").next().unwrap_or_default());
            *answer = untimed.collect::<Vec<_>>().join("\n");
        }
        self
    }

    /// How many answers differ.
    pub(super) fn differences(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).filter(|(one, other)| one.1 != other.1).count()
    }

    /// The first answer in which two differ, said so that it can be looked for.
    pub(super) fn first_difference(&self, other: &Self) -> Option<String> {
        let differ = self.0.iter().zip(&other.0).find(|(one, other)| one != other);
        if let Some(((asked, one), (also, other))) = differ {
            let mut lines = one.lines().zip(other.lines());
            let (one, other) = lines.find(|(one, other)| one != other).unwrap_or((one, other));
            let asked = if asked == also { asked.clone() } else { format!("{asked} ({also})") };
            return Some(format!("{asked} tells {:?} or {:?}", one.trim(), other.trim()));
        }
        let lengths = (self.len(), other.len());
        (lengths.0 != lengths.1).then(|| format!("{} answers or {}", lengths.0, lengths.1))
    }
}

/// An answer as its document, or as all that its error says.
pub(super) fn text<T: Serialize, E: Coded + Debug>(answer: Result<T, E>) -> String {
    match answer {
        Ok(document) => serde_json::to_string_pretty(&document).expect("a document is JSON"),
        Err(why) => format!("{}: {why}\n{why:?}", why.code().as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(answers: &[(&str, &str)]) -> Told {
        let owned = |(asked, answer): &(&str, &str)| ((*asked).to_owned(), (*answer).to_owned());
        Told(answers.iter().map(owned).collect())
    }

    #[test]
    fn one_line_that_differs_is_found_and_named() {
        let (one, other) = (told(&[("list", "{\n 1\n}")]), told(&[("list", "{\n 2\n}")]));
        assert_eq!(one.first_difference(&other).as_deref(), Some("list tells \"1\" or \"2\""));
        assert_eq!((one.differences(&other), one.first_difference(&one)), (1, None));
    }

    #[test]
    fn an_answer_more_is_a_difference() {
        let (one, other) = (told(&[("a", "b")]), told(&[("a", "b"), ("c", "d")]));
        assert_eq!(one.first_difference(&other).as_deref(), Some("1 answers or 2"));
        let longer = (told(&[("a", "b\nc")]), told(&[("a", "b")]));
        assert!(longer.0.first_difference(&longer.1).is_some(), "a line more is one, too");
    }
}
