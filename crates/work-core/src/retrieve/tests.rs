//! Whole searches: bytes of files in, passages out.

use super::*;
use proptest::prelude::*;

fn searcher(query: &str) -> Searcher {
    Searcher::new(&Query::parse(query).unwrap(), Bounds::default())
}

/// The passages of a report, each with the number of its file.
fn report(query: &str, format: Format, files: &[&str]) -> Vec<(usize, Passage)> {
    let searcher = searcher(query);
    let examined: Vec<Examined> =
        files.iter().map(|file| searcher.examine(file.as_bytes(), false, format)).collect();
    let picks = searcher.rank(&examined);
    let mut given = vec![0; files.len()];
    picks
        .iter()
        .map(|pick| {
            let keys: Vec<PassageKey> = picks
                .iter()
                .filter(|other| other.file == pick.file)
                .map(|other| other.key.clone())
                .collect();
            let quoted = searcher.quote(files[pick.file].as_bytes(), false, format, &keys);
            assert_eq!(quoted.len(), keys.len());
            let passage = quoted[given[pick.file]].clone();
            given[pick.file] += 1;
            (pick.file, passage)
        })
        .collect()
}

fn texts(query: &str, format: Format, files: &[&str]) -> Vec<String> {
    report(query, format, files).into_iter().map(|(_, passage)| passage.text).collect()
}

#[track_caller]
fn check(query: &str, text: &str, expected: &[&str]) {
    assert_eq!(texts(query, Format::Markdown, &[text]), expected, "{query} in {text:?}");
}

#[track_caller]
fn check_files(query: &str, files: &[&str], expected: &[usize]) {
    let found = report(query, Format::Plain, files);
    let found: Vec<usize> = found.into_iter().map(|(file, _)| file).collect();
    assert_eq!(found, expected, "{query}");
}

#[track_caller]
fn check_matches(query: &str, text: &str, expected: bool) {
    let found = searcher(query).examine(text.as_bytes(), false, Format::Plain);
    assert_eq!(found.matches().is_some(), expected, "{query} in {text:?}");
}

// spec: Q1
#[test]
fn words_match_by_their_stem() {
    for text in ["keeps", "Keeping it", "we keep.", "KEEP", "a (keep) b", "a_keep_b"] {
        check_matches("keep", text, true);
    }
    for text in ["keeper", "upkeep", "kee", "keep2", ""] {
        check_matches("keep", text, false);
    }
    check_matches("flying fly", "flies fly", true);
    check_matches("happiness", "so happy", true);
}

// spec: Q1
#[test]
fn words_match_without_case_and_accents() {
    for text in ["café", "CAFE\u{301}", "cafe", "le Café."] {
        check_matches("cafe", text, true);
        check_matches("CAFÉ", text, true);
    }
    check_matches("strasse", "Straße", true);
    check_matches("σοφός", "ΣΟΦΟΣ", true);
    check_matches("Ёлка", "елки елка", true);
    check_matches("محمد", "مُحَمَّد", true);
    check_matches("محمد", "محـــمد", true);
    check_matches("cafe", "cafexé", false);
    check_matches("cafe", "éxcafe", false);
    check_matches("cafe", "\u{201C}cafe\u{201D}", true);
}

// spec: Q1
#[test]
fn function_words_never_match_alone() {
    check_matches("the lamp", "the oil", false);
    check_matches("use", "us", false);
}

// spec: Q1
#[test]
fn scripts_without_spaces_match_by_pairs() {
    check_matches("東京", "私は東京都に住む", true);
    check_matches("東京", "東の京", false);
    check_matches("猫", "黒猫だ", true);
    check_matches("ガス", "ｶﾞｽ", true);
    check_matches("ข้าว", "กินข้าวแล้ว", true);
    check_matches("用 iPhone", "iPhone用", true);
}

// spec: Q1
#[test]
fn a_phrase_must_appear_whatever_its_white_space() {
    check_matches("\"state of the art\"", "a State of\r\n  the Art lamp", true);
    check_matches("\"state of the art\"", "the art of the state", false);
    check_matches("\"of the\"", "art of\nthe state", true);
    check_matches("\"to be or not to be\"", "to be\tor not to\u{A0}be?", true);
    check_matches("\"keeps\"", "keep", false);
    check_matches("lamp \"oil wick", "lamp", false);
    check_matches("\"café au lait\"", "CAFE\u{301} au lait", true);
}

// spec: Q1
#[test]
fn an_excluded_word_must_not_appear_in_the_passage() {
    check("lamp -oil", "lamp one\n\nlamp with oils\n\nlamp two", &["lamp one", "lamp two"]);
    check("lamp -\"with oil\"", "lamp with\noil\n\noil lamp with", &["oil lamp with"]);
    check_matches("lamp -café", "lamp CAFES", false);
    check_matches("lamp -東京", "lamp 東京都", false);
}

// spec: Q3
#[test]
fn a_passage_is_a_paragraph() {
    check("lamp", "one\n\nthe lamp\nis lit\n\nthree", &["the lamp\nis lit"]);
    check("lamp", "\n\n  the lamp  \n\n", &["  the lamp  "]);
}

// spec: Q3
#[test]
fn a_passage_is_a_whole_list() {
    let list = "- one\n- the lamp\n  goes on\n\n  still\n- three";
    check("lamp", &format!("Intro:\n{list}\n\nOutro"), &[list]);
    let numbered = "1. one\n2) lamp";
    check("lamp", &format!("{numbered}\n\nOutro"), &[numbered]);
}

// spec: Q3
#[test]
fn a_passage_is_a_whole_table() {
    let table = "| a | b |\n|---|---|\n| lamp | 2 |";
    check("lamp", &format!("Intro\n{table}\nOutro"), &[table]);
}

// spec: Q3
#[test]
fn a_passage_is_a_whole_code_block() {
    let code = "```sh\nlight\n\n# no heading\nlamp\n```";
    check("lamp", &format!("Intro\n{code}\nOutro"), &[code]);
    check("lamp", "~~~\n```\nlamp\n\n~~~\nOutro", &["~~~\n```\nlamp\n\n~~~"]);
    check("lamp", "```\n\nlamp\n\nopen", &["```\n\nlamp\n\nopen"]);
    check("lamp", "a ``` b\n\nlamp\n\n```x` y", &["lamp"]);
}

// spec: Q3
#[test]
fn front_matter_is_a_block_of_its_own() {
    let matter = "---\ntitle: lamp\n\nx: 1\n---";
    check("lamp", &format!("{matter}\nText"), &[matter]);
    check("lamp", "---\n\nlamp\n", &["lamp"]);
}

// spec: Q3
#[test]
fn a_heading_that_matches_leads_to_the_block_below_it() {
    check("lamp", "# A\n\n## Lamps\n\nLit.\n\nMore", &["Lit."]);
    check("lamp", "Lamps\n=====\n\nLit.", &["Lit."]);
    let found = report("lamp", Format::Markdown, &["# A\n\n## B\n\n## Lamps\n\nLit."]);
    assert_eq!(found[0].1.heading, ["A", "Lamps"]);
}

// spec: Q3
#[test]
fn a_heading_with_nothing_below_it_is_quoted_itself() {
    check("lamp", "# Lamps\n## Oil\n\nLit.", &["# Lamps"]);
    check("lamp", "Text\n\n# Lamps\n", &["# Lamps"]);
    let long = format!("# Lamps\n\n{}", "other words ".repeat(200));
    check("lamp", &long, &["# Lamps"]);
}

// spec: Q1
#[test]
fn a_phrase_or_an_excluded_word_in_the_heading_right_above_counts() {
    check("\"oil lamps\"", "# Oil lamps\n\nLit.", &["Lit."]);
    check("oil -lamps", "# Oil lamps\n\nLit.", &[""; 0]);
}

// spec: Q3
#[test]
fn a_passage_has_the_trail_of_its_headings() {
    let text = "---\ntitle: x\n---\n# One ##\n## Gone\n\ntext\n\nTwo\nlines\n---\n```\n# code\n```\n### Three\nlamp";
    let found = report("lamp", Format::Markdown, &[text]);
    assert_eq!(found[0].1.heading, ["One", "Two lines", "Three"]);
    assert_eq!(found[0].1.lines, (16, 16));
    assert_eq!(report("lamp", Format::Plain, &["# One\n\nlamp"])[0].1.heading, [""; 0]);
}

// spec: Q3
#[test]
fn a_long_block_is_cut_at_line_ends() {
    let line = "some words of no interest here\n";
    let text = format!("{}the lamp\n{}", line.repeat(100), line.repeat(100));
    let found = texts("lamp", Format::Plain, &[&text]);
    assert_eq!(found.len(), 1);
    assert!(found[0].len() <= 1_200 && found[0].len() > 1_100, "{}", found[0].len());
    assert!(found[0].contains("\nthe lamp\n"));
    assert!(found[0].starts_with("some words") && found[0].ends_with("interest here"));
}

// spec: Q3
#[test]
fn a_long_line_is_cut_between_words_around_its_best() {
    let text = format!("{}lamp oil {}", "word ".repeat(1_000), "wick ".repeat(1_000));
    let found = texts("lamp oil", Format::Plain, &[&text]);
    assert!(found[0].len() <= 1_200 && found[0].len() > 1_100, "{}", found[0].len());
    assert!(found[0].starts_with("word word") && found[0].ends_with("wick wick"));
    assert!(found[0].contains(" lamp oil "));
}

// spec: Q3
#[test]
fn a_long_line_without_spaces_is_cut_between_graphemes() {
    let text = format!("{}東京{}", "か\u{3099}".repeat(2_000), "か\u{3099}".repeat(2_000));
    let found = texts("東京", Format::Plain, &[&text]);
    assert!(found[0].chars().count() <= 1_200 && found[0].chars().count() > 1_190);
    assert!(found[0].starts_with("か\u{3099}") && found[0].ends_with("か\u{3099}"));
}

// spec: Q3
#[test]
fn the_best_passage_comes_first() {
    let many = "lamp and oil\n\nlamp\n\noil is dear and lamps are cheap, as everybody knows";
    check_files("lamp oil", &["lamp", many, "nothing", "oil oil"], &[1, 3, 0, 1, 1]);
    assert_eq!(texts("lamp oil", Format::Plain, &[many])[0], "lamp and oil");
}

// spec: Q3
#[test]
fn rare_words_weigh_more() {
    check_files("lamp zebra", &["lamp", "lamp", "zebra", "lamp", "lamp"], &[2, 0, 1, 3, 4]);
}

// spec: Q3
#[test]
fn words_near_each_other_weigh_more() {
    let far = "lamp and then many other things before any oil";
    let near = "oil lamp and then many other things before any";
    check_files("lamp oil", &[far, near], &[1, 0]);
}

// spec: Q3
#[test]
fn a_word_in_a_heading_weighs_more() {
    let under = "# Lamps\n\nOne\n\nOthers.\n\nTwo oil lamps";
    let after = "# Lamps\n\nOne\n\n# Other\n\nTwo oil lamps";
    let found = report("oil", Format::Markdown, &[after, under]);
    assert_eq!(found.iter().map(|(file, _)| *file).collect::<Vec<_>>(), [0, 1]);
    let found = report("lamp oil", Format::Markdown, &[after, under]);
    assert_eq!(found.iter().map(|(file, _)| *file).collect::<Vec<_>>()[..2], [1, 0]);
}

// spec: Q3
#[test]
fn every_file_gives_a_passage_before_one_gives_a_second() {
    let many = "lamp\n\nlamp\n\nlamp\n\nlamp";
    check_files("lamp", &[many, "lamp", "lamp"], &[0, 1, 2, 0, 0]);
}

// spec: Q3
#[test]
fn a_second_passage_worth_twice_as_much_comes_first() {
    let two = "lamp oil wick flame\n\nlamp oil wick flame";
    let poor = format!("lamp {}", "of other things ".repeat(60));
    check_files("lamp oil wick flame", &[&poor, two, "none", "none"], &[1, 1, 0]);
}

// spec: Q3
#[test]
fn at_most_six_passages_come_from_six_files() {
    check_files("lamp", &["lamp"; 9], &[0, 1, 2, 3, 4, 5]);
}

// spec: Q3
#[test]
fn lines_end_with_lf_or_crlf() {
    let unix = "# One\n\ntext\n\nthe lamp\nis lit\n\nend";
    let dos = unix.replace('\n', "\r\n");
    let (unix, dos) =
        (report("lamp", Format::Markdown, &[unix]), report("lamp", Format::Markdown, &[&dos]));
    assert_eq!(unix[0].1.lines, (5, 6));
    assert_eq!(dos[0].1.lines, unix[0].1.lines);
    assert_eq!(dos[0].1.heading, unix[0].1.heading);
    assert_eq!(dos[0].1.text, "the lamp\r\nis lit");
}

// spec: Q4
#[test]
fn a_passage_has_up_to_32_characters_of_what_stands_around_it() {
    let found = report("lamp", Format::Plain, &["a\n\nlamp\n\nb"]);
    assert_eq!((&*found[0].1.before, &*found[0].1.after), ("a\n\n", "\n\nb"));
    let text = format!("{}\r\n\r\nlamp\n\n{}", "é".repeat(40), "e\u{301}".repeat(40));
    let found = report("lamp", Format::Plain, &[&text]);
    assert_eq!(found[0].1.before, format!("{}\r\n\r\n", "é".repeat(28)));
    assert_eq!(found[0].1.after, format!("\n\n{}", "e\u{301}".repeat(15)));
}

// spec: Q4
#[test]
fn other_bytes_give_the_best_passages_they_have() {
    let searcher = searcher("lamp oil");
    let examine = |text: &str| searcher.examine(text.as_bytes(), false, Format::Plain);
    let picks = searcher.rank(&[examine("lamp oil")]);
    let keys = [picks[0].key.clone()];
    let quote = |text: &str| searcher.quote(text.as_bytes(), false, Format::Plain, &keys);
    assert_eq!(quote("new\n\nlamp\n\noil lamp")[0].text, "oil lamp");
    assert_eq!(quote("nothing"), []);
    assert_eq!(quote("\0"), []);
}

// spec: G5
#[test]
fn bytes_that_are_no_text_are_told() {
    assert_eq!(searcher("lamp").examine(b"lamp\0", false, Format::Plain), Examined::NotText);
    assert_eq!(searcher("lamp").examine(b"lamp\xFF", false, Format::Plain), Examined::NotText);
}

#[test]
fn the_format_is_told_by_the_extension() {
    for name in ["a.md", "B.MARKDOWN", "x.y.mdx"] {
        assert_eq!(Format::of_name(name.as_bytes()), Format::Markdown, "{name}");
    }
    for name in ["a.txt", "md", "a.md.txt", "", "a.rst"] {
        assert_eq!(Format::of_name(name.as_bytes()), Format::Plain, "{name}");
    }
}

// spec: Q3
#[test]
fn little_is_kept_of_a_file_full_of_matches() {
    let words = ["lamp", "oil", "wick", "flame", "glass", "shade", "light"];
    let paragraph = |n: usize| format!("{} {}\n\n", words[n % 7], words[n / 7 % 7]);
    let text: String = (0..20_000).map(paragraph).collect();
    let examined = searcher(&words.join(" ")).examine(text.as_bytes(), true, Format::Plain);
    let found = examined.matches().unwrap();
    assert!(found.candidates.len() <= 24, "{}", found.candidates.len());
    let kept: usize = found.candidates.iter().map(|kept| found.occurrences(kept).len()).sum();
    assert!(kept <= 512, "{kept}");
}

// spec: Q3
#[test]
fn a_rare_word_is_kept_among_many_better_passages() {
    let text = format!("{}zebra\n\n{}", "lamp oil\n\n".repeat(500), "lamp oil\n\n".repeat(500));
    let common = ["lamp oil"; 20];
    let files: Vec<&str> = std::iter::once(&*text).chain(common).collect();
    assert_eq!(texts("lamp oil zebra", Format::Plain, &files)[0], "zebra");
}

// spec: Q1
#[test]
fn many_words_are_found_as_few_are() {
    let words: Vec<String> = (0..60)
        .map(|n| format!("w{}x", char::from(b'a' + n % 26).to_string().repeat(1 + n as usize / 26)))
        .collect();
    for word in &words {
        check_matches(&words.join(" "), &format!("some {word} here"), true);
    }
    check_matches(&words.join(" "), "some wq here", false);
}

/// Pieces of documents, among them the awkward ones.
fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "lamp",
        "lamps ",
        "Lämp",
        "oil",
        " oil lamp ",
        "OIL",
        "wick",
        "\n",
        "\n\n",
        "\r\n",
        "\r\n\r\n",
        "\r",
        " ",
        "# ",
        "## lamp\n",
        "```\n",
        "~~~\n",
        "- ",
        "1. ",
        "| ",
        "> ",
        "---\n",
        "===\n",
        "  ",
        "\t",
        "e\u{301}",
        "\u{600}",
        "\u{1F1E6}\u{1F1E7}",
        "\u{1F469}\u{200D}\u{1F680}",
        "東京",
        "都",
        "ข้าว",
        "か\u{3099}",
        "no ",
        "said by ",
        "\u{AD}",
        "'",
        "\u{2019}s",
    ];
    prop_oneof![
        6 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => "[a-z ]{0,30}",
        1 => (prop::sample::select(vec!["word ", "x", "か\u{3099}", "line\n", "e\u{301}"]), 100_usize..1_500)
            .prop_map(|(word, times)| word.repeat(times)),
    ]
}

fn document() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

fn any_query() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "lamp",
        "lamp oil",
        "lamp -oil",
        "\"oil lamp\"",
        "lamp -\"oil lamp\"",
        "東京 lamp",
        "都",
        "\"said by\" lamp",
        "lamp -東京",
        "ข้าว",
    ])
}

fn format() -> impl Strategy<Value = Format> {
    prop::sample::select(vec![Format::Markdown, Format::Plain])
}

/// The same text as a file in each encoding.
fn encoded(text: &str) -> [Vec<u8>; 4] {
    let utf16 = |mark: u16, to_bytes: fn(u16) -> [u8; 2]| {
        std::iter::once(mark).chain(text.encode_utf16()).flat_map(to_bytes).collect()
    };
    [
        text.as_bytes().to_vec(),
        [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        utf16(0xFEFF, u16::to_le_bytes),
        utf16(0xFEFF, u16::to_be_bytes),
    ]
}

fn graphemes(text: &str) -> Vec<usize> {
    use unicode_segmentation::UnicodeSegmentation;
    text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // spec: Q3, Q4
    #[test]
    fn a_passage_is_exact_bounded_and_whole(text in document(), query in any_query(), format in format()) {
        let edges = graphemes(&text);
        for (_, passage) in report(query, format, &[&text]) {
            let range = passage.range.start as usize..passage.range.end as usize;
            prop_assert_eq!(&text[range.clone()], &passage.text);
            prop_assert!(passage.text.chars().count() <= 1_200);
            prop_assert!(edges.contains(&range.start) && edges.contains(&range.end), "{:?}", passage);
            prop_assert!(!passage.text.lines().next().unwrap().trim().is_empty(), "{:?}", passage);
            prop_assert!(!passage.text.ends_with('\n'), "{:?}", passage);
            prop_assert!(text[..range.start].ends_with(&passage.before));
            prop_assert!(text[range.end..].starts_with(&passage.after));
            let first = 1 + text[..range.start].matches('\n').count() as u32;
            prop_assert_eq!(passage.lines, (first, first + passage.text.matches('\n').count() as u32));
        }
    }

    // spec: Q1
    #[test]
    fn a_passage_answers_the_query_with_the_heading_above_it(text in document(), query in any_query(), format in format()) {
        for (_, passage) in report(query, format, &[&text]) {
            let answers = |text: &str| searcher(query).examine(text.as_bytes(), false, format).matches().is_some();
            let heading = passage.heading.last().map(|heading| format!("# {heading}\n\n")).unwrap_or_default();
            // Of an underlined heading that runs over many lines, the trail keeps the beginning alone.
            let cut = heading.chars().count() > 200;
            let both = format!("{heading}{}", passage.text);
            prop_assert!(cut || answers(&passage.text) || answers(&both), "{passage:?}");
        }
    }

    // spec: Q3
    #[test]
    fn passages_of_a_file_do_not_overlap(text in document(), query in any_query(), format in format()) {
        let mut ranges: Vec<Range<u64>> = report(query, format, &[&text]).into_iter().map(|(_, passage)| passage.range).collect();
        ranges.sort_by_key(|range| range.start);
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
    }

    // spec: G5
    #[test]
    fn every_encoding_gives_the_same_passages(text in document(), query in any_query(), format in format()) {
        let searcher = searcher(query);
        let quoted = encoded(&text).map(|bytes| {
            let picks = searcher.rank(&[searcher.examine(&bytes, false, format)]);
            let keys: Vec<PassageKey> = picks.into_iter().map(|pick| pick.key).collect();
            let passages = searcher.quote(&bytes, false, format, &keys);
            assert_eq!(passages.len(), keys.len());
            for passage in &passages {
                let whole = Text::decode(&bytes, false).unwrap();
                let range = whole.text_range(passage.range.clone()).unwrap();
                assert_eq!(&whole.as_str()[range], passage.text);
            }
            passages.into_iter().map(|passage| (passage.lines, passage.heading, passage.text)).collect::<Vec<_>>()
        });
        prop_assert!(quoted.windows(2).all(|pair| pair[0] == pair[1]));
    }

    // spec: Q3
    #[test]
    fn crlf_gives_the_same_lines_as_lf(text in document(), query in any_query(), format in format()) {
        let unix = text.replace('\r', "");
        prop_assume!(unix.chars().count() < 1_000);
        let lines = |text: &str| report(query, format, &[text]).into_iter().map(|(_, passage)| passage.lines).collect::<Vec<_>>();
        let (mut unix, mut dos) = (lines(&unix), lines(&unix.replace('\n', "\r\n")));
        unix.sort_unstable();
        dos.sort_unstable();
        prop_assert_eq!(unix, dos);
    }

    // spec: Q3
    #[test]
    fn ascii_and_other_text_are_searched_alike(text in "[a-zA-Z0-9 .\n_-]{0,200}", query in "[a-z]{1,4}( [a-z]{1,3}){0,7}") {
        let Ok(query) = Query::parse(&query) else { return Ok(()) };
        let searcher = Searcher::new(&query, Bounds::default());
        let finder = |content| searcher.finder.hits(content);
        let plain = Content::plain(text.as_bytes()).unwrap();
        prop_assert_eq!(finder(plain), finder(Content::of(&text)));
    }
}
