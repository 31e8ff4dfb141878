//! What one world holds where the other holds something else: files by other names, with other words, of other sizes,
//! and another number of them.

use crate::seed::Seed;
use work_core::memory::MemoryDoor;
use work_core::path::HostPath;

/// What is searched for in the secret. Each world has files on both, and on each at least one.
pub(super) const TOPICS: [&str; 2] = ["secret", "cipher"];

/// Files on one topic, at most; with [`PASSAGES`] each, no report is full, so that each of them is quoted.
const FILES: usize = 5;

/// Passages of one file on one topic, at most.
const PASSAGES: usize = 3;

/// Words of one world. The other has none of them, and nothing open either.
const WORDS: [[&str; 20]; 2] = [
    [
        "quincunx",
        "marmalade",
        "gherkin",
        "xylophone",
        "ombu",
        "tortoise",
        "honeycomb",
        "pantry",
        "brine",
        "cellar",
        "walrus",
        "thimble",
        "juniper",
        "lantern",
        "mackerel",
        "nutmeg",
        "oatmeal",
        "parsnip",
        "radish",
        "saffron",
    ],
    [
        "zircon",
        "feldspar",
        "gneiss",
        "basalt",
        "quartz",
        "mica",
        "obsidian",
        "pumice",
        "slate",
        "chalk",
        "granite",
        "dolomite",
        "gypsum",
        "jasper",
        "kyanite",
        "lapis",
        "malachite",
        "nickel",
        "onyx",
        "pyrite",
    ],
];

/// Where files stand: in memory, or on a disk.
pub(super) trait Shelf {
    /// Writes a file, and makes the folders above it.
    fn put(&self, path: &str, text: String);
    /// Removes a file.
    fn remove(&self, path: &str);
    /// Moves a file.
    fn rename(&self, from: &str, to: &str);
}

impl Shelf for MemoryDoor {
    fn put(&self, path: &str, text: String) {
        self.put(path, text);
    }

    fn remove(&self, path: &str) {
        self.remove(path);
    }

    fn rename(&self, from: &str, to: &str) {
        self.rename(from, to);
    }
}

/// What one world holds in the folders that are withdrawn later.
#[derive(Debug)]
pub(super) struct Secret {
    seed: Seed,
    words: &'static [&'static str],
    root: &'static str,
    /// Directories below the root, with a slash at the end, in which files may lie.
    inside: &'static [&'static str],
    files: Vec<Held>,
    /// Files that nothing quotes.
    others: Vec<Vec<u8>>,
    turn: u32,
    named: u32,
    /// Of which topics nothing is said now.
    hushed: [bool; 2],
}

/// One file on some topics.
#[derive(Debug)]
struct Held {
    name: Vec<u8>,
    topics: [bool; 2],
}

impl Secret {
    /// The secret of a world, under `root`.
    pub(super) fn new(
        world: usize,
        seed: Seed,
        root: &'static str,
        inside: &'static [&'static str],
    ) -> Self {
        let files = Vec::new();
        let (turn, named, hushed) = (0, 0, [false; 2]);
        let words = &WORDS[world];
        let others = Vec::new();
        Self { seed, words, root, inside, files, others, turn, named, hushed }
    }

    /// Writes the first files.
    pub(super) fn settle(&mut self, shelf: &dyn Shelf) {
        self.add([true, false]);
        self.add([false, true]);
        for _ in 0..self.seed.below(3) {
            self.add_some();
        }
        (0..self.files.len()).for_each(|at| self.write(shelf, at));
        for _ in 0..self.seed.below(6) {
            self.litter(shelf);
        }
    }

    /// Other texts from now on, in one file at least of each topic; perhaps a file more, or one less that nothing quotes.
    pub(super) fn edit(&mut self, shelf: &dyn Shelf) {
        self.turn += 1;
        let was_hushed = std::mem::take(&mut self.hushed).contains(&true);
        let told = [0, 1].map(|topic| self.files.iter().position(|file| file.topics[topic]));
        let known = self.files.len();
        if self.seed.once_in(3) {
            self.add_some();
        }
        for at in 0..self.files.len() {
            if was_hushed || at >= known || told.contains(&Some(at)) || self.seed.once_in(2) {
                self.write(shelf, at);
            }
        }
        if self.seed.once_in(2) {
            self.litter(shelf);
        } else if let Some(name) = self.others.pop() {
            shelf.remove(&self.at(&name));
        }
    }

    /// Other names from now on, for every file that anything quotes.
    pub(super) fn rename(&mut self, shelf: &dyn Shelf) {
        for at in 0..self.files.len() {
            let name = self.name("md");
            let old = std::mem::replace(&mut self.files[at].name, name);
            shelf.rename(&self.at(&old), &self.at(&self.files[at].name));
        }
    }

    /// Nothing on a topic from now on, until the next edit. Every file changes: one on both topics, which one world may
    /// have and the other not, would change what rests on the other topic in one of them alone.
    pub(super) fn hush(&mut self, topic: usize, shelf: &dyn Shelf) {
        self.turn += 1;
        self.hushed[topic] = true;
        (0..self.files.len()).for_each(|at| self.write(shelf, at));
    }

    fn add_some(&mut self) {
        let topics = *self.seed.one_of(&[[true, false], [false, true], [true, true]]);
        let most = |topic: usize| self.files.iter().filter(|file| file.topics[topic]).count();
        if most(0).max(most(1)) < FILES {
            self.add(topics);
        }
    }

    fn add(&mut self, topics: [bool; 2]) {
        let name = self.name("md");
        self.files.push(Held { name, topics });
    }

    /// A name that this world has not used yet.
    fn name(&mut self, extension: &str) -> Vec<u8> {
        self.named += 1;
        let inside = *self.seed.one_of(self.inside);
        let above: String =
            (0..self.seed.below(3)).map(|_| format!("{}/", self.seed.one_of(self.words))).collect();
        let last = format!("{}{}", self.seed.one_of(self.words), self.named);
        format!("{inside}{above}{last}.{extension}").into_bytes()
    }

    /// A file that no report quotes: on nothing, or one that is not read at all.
    fn litter(&mut self, shelf: &dyn Shelf) {
        let extension = *self.seed.one_of(&["md", "txt", "png", "html"]);
        let name = self.name(extension);
        let long = self.seed.once_in(40);
        let words = if long { 40_000 } else { 1 + self.seed.below(30) };
        let text = self.sentence(words);
        shelf.put(&self.at(&name), text);
        self.others.push(name);
    }

    fn write(&mut self, shelf: &dyn Shelf, at: usize) {
        let topics = self.files[at].topics;
        let mut text = String::new();
        let said = [0, 1].map(|topic| topics[topic] && !self.hushed[topic]);
        for topic in [0, 1].into_iter().filter(|&topic| said[topic]) {
            for _ in 0..=self.seed.below(PASSAGES) {
                let (before, after) = (self.seed.below(8), self.seed.below(12));
                let [before, after] = [before, after].map(|words| self.sentence(words));
                let turn = self.turn;
                text += &format!("{before} {} in turn {turn} {after}.\n\n", TOPICS[topic]);
            }
            text += &self.filling();
        }
        text += &format!("Written in turn {}.\n", self.turn);
        let line_ends = if self.seed.once_in(4) { "\r\n" } else { "\n" };
        shelf.put(&self.at(&self.files[at].name), text.replace('\n', line_ends));
    }

    /// Perhaps a heading, and paragraphs on nothing.
    fn filling(&mut self) -> String {
        let mut text = String::new();
        if self.seed.once_in(2) {
            text += &format!("# {}\n\n", self.sentence(2));
        }
        for _ in 0..self.seed.below(3) {
            let words = 1 + self.seed.below(10);
            text += &format!("{}.\n\n", self.sentence(words));
        }
        text
    }

    fn sentence(&mut self, words: usize) -> String {
        let words: Vec<&str> = (0..words).map(|_| *self.seed.one_of(self.words)).collect();
        words.join(" ")
    }

    fn at(&self, name: &[u8]) -> String {
        format!("{}/{}", self.root, String::from_utf8_lossy(name))
    }

    /// Words that stand in nothing that is open.
    pub(super) const fn words(&self) -> &'static [&'static str] {
        self.words
    }

    /// Files that a request could name: one that is quoted and one that is not.
    pub(super) fn paths(&self) -> Vec<HostPath> {
        let names =
            self.files.first().map(|file| &file.name).into_iter().chain(self.others.first());
        names.map(|name| HostPath::from_bytes(self.at(name))).collect()
    }
}
