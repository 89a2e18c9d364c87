use std::{
    env, fs,
    panic::catch_unwind,
    path::Path,
    time::{Duration, Instant},
};

#[path = "../../fuzz/targets.rs"]
mod targets;

/// No input of some kilobytes may take longer, in a build without optimisation on a busy machine.
const SLOWEST: Duration = Duration::from_secs(10);

/// Pieces that mean something to a reader.
const WORDS: [&str; 32] = [
    "$ref",
    "#/",
    "{",
    "}",
    "[",
    "]",
    ": ",
    "\n  - ",
    "\n",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "type",
    "allOf",
    "anyOf",
    "properties",
    "required",
    "in",
    "path",
    "body",
    "\u{feff}",
    "\u{202e}",
    "'",
    "\"",
    "${A}",
    "*",
];

/// A small generator; the seed is all there is to know.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }

    /// A part of `bytes`, by its ends.
    fn part(&mut self, bytes: &[u8]) -> (usize, usize) {
        let start = self.next(bytes.len());
        (start, (start + 1 + self.next(64)).min(bytes.len()))
    }
}

fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = corpus[random.next(corpus.len())].clone();
    for _ in 0..=random.next(6) {
        let (start, end) = random.part(&bytes);
        let at = random.next(bytes.len() + 1);
        match random.next(7) {
            0 => drop(bytes.drain(start..end)),
            1 => {
                let part = bytes[start..end].to_vec();
                drop(bytes.splice(at..at, part));
            }
            2 => {
                let word = WORDS[random.next(WORDS.len())].bytes();
                drop(bytes.splice(at..at, word));
            }
            3 => {
                let word = WORDS[random.next(WORDS.len())].bytes();
                drop(bytes.splice(start..end, word));
            }
            4 => {
                let other = &corpus[random.next(corpus.len())];
                let (start, end) = random.part(other);
                drop(bytes.splice(at..at, other[start..end].iter().copied()));
            }
            5 => bytes.truncate(at),
            _ => {
                bytes.iter_mut().skip(start).take(1).for_each(|byte| *byte = random.next(256) as u8)
            }
        }
        if bytes.is_empty() {
            bytes.push(b'a');
        }
    }
    bytes
}

/// Replays the corpus; with `TOOLGATE_FUZZ_SECONDS`, goes on with mutations of it. What ends badly is
/// written to the folder for temporary files, for the corpus.
fn check(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    let corpus: Vec<_> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    corpus.iter().for_each(|bytes| target(bytes));
    let seconds = env::var("TOOLGATE_FUZZ_SECONDS").map_or(0, |text| text.parse().unwrap());
    let seed =
        env::var("TOOLGATE_FUZZ_SEED").map_or(0x9e37_79b9_7f4a_7c15, |text| text.parse().unwrap());
    let (mut random, started, mut n, mut slowest) =
        (Random(seed), Instant::now(), 0, Duration::ZERO);
    while started.elapsed() < Duration::from_secs(seconds) {
        let bytes = mutated(&corpus, &mut random);
        let begun = Instant::now();
        let went_well = catch_unwind(|| target(&bytes)).is_ok();
        slowest = slowest.max(begun.elapsed());
        if !went_well || begun.elapsed() > SLOWEST {
            let path = env::temp_dir().join(format!("toolgate-fuzz-{name}-{n}"));
            fs::write(&path, &bytes).unwrap();
            panic!("{name}: input {n} of seed {seed} is in {}", path.display());
        }
        n += 1;
    }
    println!(
        "{name}: {} inputs, {n} mutations in {:?}, slowest {slowest:?}",
        corpus.len(),
        started.elapsed()
    );
}

#[test]
fn no_bytes_crash_the_document_reader() {
    check("document", targets::document);
}

#[test]
fn no_bytes_crash_the_allowlist_reader() {
    check("allowlist", targets::allowlist);
}
