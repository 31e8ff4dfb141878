# `just` lists these. Each is plain cargo; nothing here is needed to build or test.

# The whole check, as CI runs it.
check:
    bash .ci/run

# All tests.
test:
    cargo test --workspace

# The main job on the sample handbook.
demo:
    cargo run --release -p work-cli -- report --folder examples/handbook "how long are backups kept"

# The numbers that the README promises, each beside a peer.
bench:
    cargo bench --workspace

# Retrieval quality on a folder in the form of the Cranfield collection.
cranfield folder:
    cargo run --release -p work-benches --bin cranfield -- {{folder}}

# States and findings over a real edit history, compared with what the bytes say.
histories folder:
    cargo run --release -p work-benches --bin histories -- {{folder}}

# One fuzz target for a while: `just fuzz query 60`.
fuzz target seconds="60":
    cd fuzz && cargo fuzz run -s none --features fuzzing {{target}} -- -max_total_time={{seconds}}
