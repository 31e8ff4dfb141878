//! What happens in both worlds: folders, requests, edits, drawn from one seed and the same in both.

use crate::seed::Seed;
use work_core::plant::Fault;

/// Where the secret lies, and how it is withdrawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Where the secret lies.
    pub(super) root: &'static str,
    /// Directories below it, with a slash at the end, where its files are.
    pub(super) inside: &'static [&'static str],
    /// Folders that are approved at first, beside [`APART`].
    pub(super) approved: &'static [&'static str],
    /// A file that is open and the same in both worlds.
    pub(super) open: &'static str,
    /// How it is withdrawn.
    pub(super) withdrawal: Withdrawal,
}

/// How access to the secret ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Withdrawal {
    /// These folders are revoked, in this order.
    Revoked(&'static [&'static str]),
    /// It was read through the folder around it; it is approved only to be revoked.
    Hole,
    /// Later rules of the folder exclude this name.
    Excluded(&'static str, &'static str),
}

/// A folder that is never withdrawn.
pub(super) const APART: &str = "/apart";

/// The file in it.
pub(super) const PLAN: &str = "/apart/plan.md";

const HOLE: Layout = Layout {
    root: "/open/inner",
    inside: &[""],
    approved: &["/open"],
    open: "/open/readme.md",
    withdrawal: Withdrawal::Hole,
};

const LAYOUTS: [Layout; 7] = [
    HOLE,
    Layout {
        root: "/shut",
        inside: &[""],
        approved: &["/open", "/shut"],
        open: "/open/readme.md",
        withdrawal: Withdrawal::Revoked(&["/shut"]),
    },
    // A folder inside the withdrawn one is approved on its own, and stays.
    Layout {
        root: "/shut",
        inside: &["", "a/"],
        approved: &["/shut", "/shut/kept"],
        open: "/shut/kept/readme.md",
        withdrawal: Withdrawal::Revoked(&["/shut"]),
    },
    Layout {
        root: "/open/inner",
        inside: &[""],
        approved: &["/open", "/open/inner"],
        open: "/open/readme.md",
        withdrawal: Withdrawal::Revoked(&["/open/inner"]),
    },
    Layout {
        root: "/open/inner",
        inside: &["", "deep/", "deep/er/"],
        approved: &["/open", "/open/inner/deep", "/open/inner"],
        open: "/open/readme.md",
        withdrawal: Withdrawal::Revoked(&["/open/inner", "/open/inner/deep"]),
    },
    // The outer folder is approved last: what was cited through the inner one lies in both.
    Layout {
        root: "/shut/inner",
        inside: &[""],
        approved: &["/shut/inner", "/open", "/shut"],
        open: "/open/readme.md",
        withdrawal: Withdrawal::Revoked(&["/shut/inner", "/shut"]),
    },
    Layout {
        root: "/open/drafts",
        inside: &["", "b/"],
        approved: &["/open"],
        open: "/open/readme.md",
        withdrawal: Withdrawal::Excluded("/open", "drafts"),
    },
];

/// A query, and where it is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) query: &'static str,
    pub(super) scope: Scope,
}

/// Which folders a report searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// [`APART`] alone.
    Apart,
    /// All of them.
    Everywhere,
}

const fn everywhere(query: &'static str) -> Question {
    Question { query, scope: Scope::Everywhere }
}

const fn apart(query: &'static str) -> Question {
    Question { query, scope: Scope::Apart }
}

/// Of what is open: nothing withdrawn is quoted. What was searched is not all open, and one word alone is asked for:
/// the order of several passages on several words depends on how often each word stood in all that was read.
const OPEN: [Question; 3] = [apart("plan"), apart("open plan"), everywhere("plan")];

/// Of the secret, alone or beside the plan, and one without a match.
const OTHERS: [Question; 6] = [
    everywhere("secret"),
    everywhere("plan secret"),
    everywhere("secret cipher"),
    everywhere("cipher"),
    everywhere("plan cipher"),
    everywhere("zeppelin"),
];

/// One step. Results and proposals are named by their turn, counted round.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Makes a report.
    Report(Question),
    /// Queues one and works it off, or cancels it.
    Queue(Question, Ending),
    /// Changes files.
    Files(Change),
    /// Repairs a result.
    Repair(usize),
    /// Prepares a restore of one of its revisions.
    Restore(usize, u64),
    /// Approves a proposal; `None` is the latest.
    Apply(Option<usize>),
    /// Says no to one.
    Dismiss(usize),
    /// Looks at everything that is quoted.
    Refresh,
    /// Lets seconds pass.
    Pass(u64),
}

/// What happens to files.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Open ones are edited.
    EditOpen,
    /// The secret is edited.
    Edit,
    /// Every file of the secret gets another name.
    Rename,
    /// All passages on a topic are taken out of the secret.
    Hush(usize),
}

/// What becomes of a task in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// A worker works it off.
    Worked,
    /// It is cancelled.
    Cancelled,
    /// It waits until later.
    Left,
}

/// A script.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) layout: Layout,
    /// What happens before the secret is withdrawn.
    pub(super) before: Vec<Step>,
    /// What happens while it is withdrawn.
    pub(super) after: Vec<Step>,
}

impl Script {
    /// The script of a seed; where a fault is hunted, in the layout that it harms.
    pub(super) fn new(seed: &mut Seed, hunted: Option<Fault>) -> Self {
        let drawn = *seed.one_of(&LAYOUTS);
        let layout = if hunted == Some(Fault::NestedGrant) { HOLE } else { drawn };
        let mut before = opening(seed);
        for _ in 0..4 + seed.below(12) {
            before.push(step(seed));
        }
        let after = (0..2 + seed.below(6)).map(|_| step(seed)).collect();
        Self { layout, before, after }
    }
}

/// Something of each kind: results that will be hidden and that will not, with revisions and proposals, one with an
/// earlier revision that will be hidden alone.
fn opening(seed: &mut Seed) -> Vec<Step> {
    let mut steps: Vec<Step> = OPEN.map(Step::Report).to_vec();
    steps.extend(OTHERS[..3].iter().map(|question| Step::Report(*question)));
    steps.extend([Change::EditOpen, Change::Edit].map(Step::Files));
    for result in [0, 3, 4] {
        if seed.once_in(2) {
            steps.extend([Step::Repair(result), Step::Apply(None)]);
        }
    }
    if seed.once_in(2) {
        steps.extend([Step::Files(Change::Hush(0)), Step::Repair(4), Step::Apply(None)]);
    }
    steps
}

fn step(seed: &mut Seed) -> Step {
    let which = seed.below(64);
    match seed.below(16) {
        0 => Step::Report(*seed.one_of(&OPEN)),
        1 | 2 => Step::Report(*seed.one_of(&OTHERS)),
        3 => {
            let ending = *seed.one_of(&[Ending::Worked, Ending::Cancelled, Ending::Left]);
            Step::Queue(*seed.one_of(&OTHERS), ending)
        }
        4 => Step::Files(Change::EditOpen),
        5 | 6 => Step::Files(Change::Edit),
        7 => Step::Files(Change::Rename),
        8 => Step::Files(Change::Hush(seed.below(2))),
        9 | 10 => Step::Repair(which),
        11 => Step::Restore(which, 1 + seed.below(3) as u64),
        12 | 13 => Step::Apply(seed.once_in(2).then_some(which)),
        14 if seed.once_in(2) => Step::Dismiss(which),
        14 => Step::Refresh,
        _ => Step::Pass(*seed.one_of(&[5, 61, 1800, 3700])),
    }
}
