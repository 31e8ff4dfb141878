//! Directories and files exchanged with links and with what lies outside, while they are read.

use super::support::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A thread that exchanges pairs of paths until it is dropped.
struct Exchange(Arc<AtomicBool>, Option<std::thread::JoinHandle<u64>>);

impl Exchange {
    fn of(pairs: Vec<[PathBuf; 2]>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut done = 0;
            while !stopped.load(Ordering::Relaxed) {
                for [one, other] in &pairs {
                    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
                        .expect("an exchange");
                    done += 1;
                }
            }
            done
        });
        Self(stop, Some(thread))
    }

    fn stop(mut self) -> u64 {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().expect("a thread").join().expect("no panic")
    }
}

// spec: G2
#[test]
fn nothing_outside_is_read_while_directories_and_files_are_exchanged_with_links() {
    for (door, rounds) in doors().zip([400, 400, 200, 200]) {
        let tree = Tree::new();
        for n in 0..5 {
            tree.file(format!("m/sub/{n}.md"), "inside");
            tree.file(format!("outside/{n}.md"), "outside");
        }
        tree.file("m/file.md", "inside");
        tree.link(tree.at("outside"), "m/.link");
        tree.link(tree.at("outside/0.md"), "m/.file-link");
        let exchange = Exchange::of(vec![
            [tree.at("m/sub"), tree.at("m/.link")],
            [tree.at("m/file.md"), tree.at("m/.file-link")],
        ]);
        let grants = [grant(1, &tree.at("m"))];
        let mut read = 0;
        for _ in 0..rounds {
            let (_, reads) = scan(&door, &grants);
            for ((_, path), (bytes, _)) in reads.0.lock().expect("no panic").iter() {
                assert_eq!(bytes, b"inside", "{path} {door:?}");
                read += 1;
            }
            let (seen, _) = look_at(&door, &grants, "sub/0.md");
            assert_ne!(seen, bytes_of(b"outside"), "{door:?}");
        }
        assert!(exchange.stop() > 0 && read > 0, "the race took place: {read}");
    }
}

// spec: I5, G2
#[test]
fn nothing_of_a_revoked_folder_is_read_while_it_is_exchanged_with_another() {
    for (door, rounds) in doors().zip([300, 300, 100, 100]) {
        let tree = Tree::new();
        tree.file("m/open/deep/a.md", "open");
        tree.file("m/shut/deep/a.md", "shut");
        let grants = [grant(1, &tree.at("m")), revoked(grant(2, &tree.at("m/shut")))];
        let exchange = Exchange::of(vec![[tree.at("m/open"), tree.at("m/shut")]]);
        for _ in 0..rounds {
            let (_, reads) = scan(&door, &grants);
            let reads = reads.0.lock().expect("no panic");
            assert!(reads.values().all(|(bytes, _)| bytes == b"open"), "{door:?}");
            for name in ["open/deep/a.md", "shut/deep/a.md"] {
                assert_ne!(look_at(&door, &grants, name).0, bytes_of(b"shut"), "{door:?}");
            }
        }
        exchange.stop();
    }
}
