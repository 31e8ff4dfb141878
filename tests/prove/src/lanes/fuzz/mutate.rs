//! Inputs near to known ones: bits turned, pieces cut, doubled, exchanged, words put in.

use crate::seed::Seed;

/// The longest input.
const LONGEST: usize = 16 * 1024;

/// Words that mean something to any of the targets.
const WORDS: &[&[u8]] = &[
    b"\0",
    b"\"",
    b"-",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"-1",
    b"0",
    b"1e999",
    b"4294967296",
    b"18446744073709551615",
    b"\\u0000",
    b"\\ud800",
    b"\r\n",
    b"\n\n",
    b"\n",
    b"\t",
    b"# ",
    b"```\n",
    b"| a | b |\n",
    b"- ",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xff",
    b"\xc3",
    b"\xe2\x80\xae",
    b"\xe2\x80\x8b",
    "\u{301}".as_bytes(),
    "é".as_bytes(),
    "İ".as_bytes(),
    "ß".as_bytes(),
    "日本語".as_bytes(),
    "ไทย".as_bytes(),
    "👩\u{200d}👩".as_bytes(),
    b"backups kept days",
    b"backups",
    b"work.export/1",
    b"work.body/1",
    b"utf-16le",
];

/// An input near to one of these.
pub(super) fn near(seed: &mut Seed, known: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seed.one_of(known).clone();
    for _ in 0..1_usize << seed.below(5) {
        change(seed, &mut input, known);
    }
    input.truncate(LONGEST);
    input
}

/// Any bytes.
pub(super) fn any(seed: &mut Seed) -> Vec<u8> {
    let most = 4 << seed.below(9);
    let length = seed.below(most);
    (0..length).map(|_| byte(seed)).collect()
}

fn byte(seed: &mut Seed) -> u8 {
    seed.next_u64().to_be_bytes()[0]
}

/// One change.
fn change(seed: &mut Seed, input: &mut Vec<u8>, known: &[Vec<u8>]) {
    let at = seed.below(input.len() + 1);
    let most = 2 << seed.below(8);
    let end = (at + seed.below(most)).min(input.len());
    match seed.below(8) {
        0 if at < input.len() => input[at] ^= 1 << seed.below(8),
        1 if at < input.len() => input[at] = byte(seed),
        0 | 1 => input.push(byte(seed)),
        2 => drop(input.drain(at..end)),
        3 => {
            let piece = input[at..end].to_vec();
            let to = seed.below(input.len() + 1);
            input.splice(to..to, piece);
        }
        4 => {
            let other = seed.one_of(known);
            let from = seed.below(other.len() + 1);
            input.splice(at..end, other[from..].iter().take(512).copied());
        }
        5 | 6 => {
            let word = *seed.one_of(WORDS);
            let over = if seed.once_in(2) { at } else { end };
            input.splice(at..over, word.iter().copied());
        }
        _ => input.truncate(end.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_input_and_another_seed_another() {
        let known = [b"backups are kept for 35 days".to_vec(), b"{\"n\":1}".to_vec()];
        let inputs = |from: u64| -> Vec<_> {
            (from..from + 50).map(|seed| near(&mut Seed::new(seed), &known)).collect()
        };
        assert_eq!(inputs(1), inputs(1));
        let distinct: std::collections::BTreeSet<_> = inputs(1).into_iter().collect();
        assert!(distinct.len() > 40, "{}", distinct.len());
    }
}
