//! Tables for people.
//!
//! Columns stand two spaces apart. On a terminal the last column, which holds what may be long, is cut to the width
//! with `…`; in a pipe nothing is cut, so that a search finds what is there. Own code, since this is all of it: a crate
//! for borders, wrapping and alignment would be three.

use crate::output::HEADING;
use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    heading: [&'static str; N],
    rows: Vec<([String; N], Style)>,
}

impl<const N: usize> Table<N> {
    /// An empty table.
    pub(crate) const fn new(heading: [&'static str; N]) -> Self {
        Self { heading, rows: Vec::new() }
    }

    /// Adds a row; `style` is how its second cell looks, which says how things stand.
    pub(crate) fn row(&mut self, cells: [String; N], style: Style) {
        self.rows.push((cells, style));
    }

    /// The table as text, cut to `width` if there is one.
    pub(crate) fn text(&self, width: Option<usize>) -> String {
        let widths: [usize; N] = std::array::from_fn(|column| {
            let cells = self.rows.iter().map(|(cells, _)| cells[column].width());
            cells.chain([self.heading[column].width()]).max().unwrap_or(0)
        });
        let heading = self.heading.map(str::to_owned);
        let mut text = line(&heading, &widths, width, [HEADING; N]);
        for (cells, style) in &self.rows {
            let styles =
                std::array::from_fn(|column| if column == 1 { *style } else { Style::new() });
            text.push_str(&line(cells, &widths, width, styles));
        }
        text
    }
}

fn line<const N: usize>(
    cells: &[String; N],
    widths: &[usize; N],
    width: Option<usize>,
    styles: [Style; N],
) -> String {
    let before: usize = widths[..N - 1].iter().map(|width| width + 2).sum();
    let mut text = String::new();
    for (column, cell) in cells.iter().enumerate() {
        let (style, last) = (styles[column], column == N - 1);
        let cell = match width {
            Some(width) if last => cut(cell, width.saturating_sub(before).max(8)),
            _ => cell.clone(),
        };
        let pad = if last { 0 } else { widths[column] + 2 - cell.width() };
        text.push_str(&format!("{style}{cell}{style:#}{:pad$}", ""));
    }
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
    text
}

/// The text, or as much of it as fits into `width` columns with an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for grapheme in text.graphemes(true) {
        if kept.width() + grapheme.width() + 1 > width {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: Option<usize>) -> String {
        let mut table = Table::new(["ID", "STATE", "QUERY"]);
        table.row(["1a2b".into(), "stale".into(), "日本語 and a long query".into()], Style::new());
        anstream::adapter::strip_str(&table.text(width)).to_string()
    }

    #[test]
    fn on_a_terminal_a_row_is_one_line() {
        assert_eq!(table(Some(24)), "ID    STATE  QUERY\n1a2b  stale  日本語 and…\n");
    }

    #[test]
    fn in_a_pipe_nothing_is_cut() {
        assert_eq!(table(None), "ID    STATE  QUERY\n1a2b  stale  日本語 and a long query\n");
    }
}
