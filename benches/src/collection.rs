//! Collections of judged questions, in the form in which the Cranfield collection is handed on.
//!
//! A folder with `cran.all.1400` (documents in SMART format), `cran.qry` (questions) and `qrels.trec` (question, 0,
//! document, grade; grades 1 to 4 count as relevant). A question's number is its position.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Documents, questions, and which documents answer which question.
#[derive(Debug)]
pub struct Collection {
    /// Number, title and text of each document.
    pub documents: Vec<(u32, String, String)>,
    /// The questions in order; the first has number 1.
    pub questions: Vec<String>,
    /// By question: the relevant documents.
    pub relevant: BTreeMap<u32, BTreeSet<u32>>,
}

impl Collection {
    /// Reads the three files of a collection.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let text = |name: &str| {
            std::fs::read(folder.join(name))
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let documents = records(&text("cran.all.1400")?);
        let documents = documents
            .into_iter()
            .map(|record| (record.number, record.field("T"), record.field("W")));
        let questions = records(&text("cran.qry")?)
            .iter()
            .map(|record| record.field("W").replace('\n', " "))
            .collect();
        Ok(Self {
            documents: documents.collect(),
            questions,
            relevant: judgements(&text("qrels.trec")?),
        })
    }
}

/// How well reports answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quality {
    /// Questions with a relevant document among the passages.
    pub answered: u32,
    /// Questions asked that have a relevant document.
    pub asked: u32,
    /// Relevant distinct files over all questions.
    pub relevant: u32,
}

impl Quality {
    /// Counts one question: the distinct documents that its report quotes.
    pub fn count(&mut self, quoted: &BTreeSet<u32>, relevant: &BTreeSet<u32>) {
        let found = u32::try_from(quoted.intersection(relevant).count()).unwrap_or(u32::MAX);
        self.asked += 1;
        self.answered += u32::from(found > 0);
        self.relevant += found;
    }

    /// The share of questions with a relevant document among the passages.
    #[must_use]
    pub fn success(&self) -> f64 {
        f64::from(self.answered) / f64::from(self.asked)
    }

    /// Relevant distinct files by six places of each report.
    #[must_use]
    pub fn precision_at_6(&self) -> f64 {
        f64::from(self.relevant) / (6.0 * f64::from(self.asked))
    }
}

/// One record in SMART format.
struct Record {
    number: u32,
    fields: BTreeMap<String, String>,
}

impl Record {
    fn field(&self, name: &str) -> String {
        self.fields.get(name).map(|text| text.trim().to_owned()).unwrap_or_default()
    }
}

fn records(text: &str) -> Vec<Record> {
    let mut all: Vec<Record> = Vec::new();
    let mut field = String::new();
    for line in text.lines() {
        if let Some(number) = line.strip_prefix(".I ") {
            all.push(Record {
                number: number.trim().parse().unwrap_or(0),
                fields: BTreeMap::new(),
            });
        } else if let (Some(name), true) = (line.strip_prefix('.'), line.len() == 2) {
            field = name.to_owned();
        } else if let Some(record) = all.last_mut() {
            let text = record.fields.entry(field.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    all
}

fn judgements(text: &str) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut relevant: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for line in text.lines() {
        let numbers: Vec<i64> =
            line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        if let [question, _, document, 1..=4] = numbers[..]
            && let (Ok(question), Ok(document)) = (u32::try_from(question), u32::try_from(document))
        {
            relevant.entry(question).or_default().insert(document);
        }
    }
    relevant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_fields() {
        let all = records(".I 7\n.T\na title\n.W\nsome\ntext .\n.I 8\n.W\nmore\n");
        assert_eq!((all[0].number, all[0].field("T").as_str()), (7, "a title"));
        assert_eq!(
            (all[0].field("W").as_str(), all[1].field("W").as_str()),
            ("some\ntext .", "more")
        );
    }

    #[test]
    fn only_grades_one_to_four_count_as_relevant() {
        let relevant = judgements("1 0 184 3\n1 0 29 5\n1 0 31 -1\n2 0 12 1\n");
        assert_eq!(
            relevant,
            BTreeMap::from([(1, BTreeSet::from([184])), (2, BTreeSet::from([12]))])
        );
    }

    #[test]
    fn quality_counts_distinct_relevant_documents() {
        let mut quality = Quality::default();
        quality.count(&BTreeSet::from([1, 2, 3]), &BTreeSet::from([2, 3, 9]));
        quality.count(&BTreeSet::from([4]), &BTreeSet::from([5]));
        assert!((quality.success() - 0.5).abs() < 1e-9);
        assert!((quality.precision_at_6() - 2.0 / 12.0).abs() < 1e-9);
    }
}
