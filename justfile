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

# The proofs, as CI runs them: every lane, and each planted fault that it must catch. Evidence: target/evidence.
prove-ci: prove-build
    target/prove/work-prove ci

# The proofs for longer: PROVE_MINUTES (60) over all lanes, from a seed that is said.
prove: prove-build
    target/prove/work-prove long

# One lane, again from a seed: `just prove-lane crash 17`.
prove-lane lane seed="1": prove-build
    target/prove/work-prove {{lane}} --seed {{seed}}

prove-build:
    cargo build --profile prove -p work-cli -p work-prove --features work-cli/plant,work-prove/plant

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
