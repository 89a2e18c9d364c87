//! Random operations on files against the model "the last valid set".
//!
//! The model knows which document and which allowlists stand in the folder after each operation, and so
//! what each toolset would show. Whatever is live must be one of the things a toolset could have shown
//! since it was last sure; whenever all has come to rest, a valid toolset shows what stands there, and a
//! broken one what it showed before.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use super::{
    many,
    scene::{Files, Scene, sleep},
    versions::{ALL, document},
};

/// Operations of a sequence, and sequences at once.
const LENGTH: usize = 14;
const AT_ONCE: u64 = 10;

/// Small and the same everywhere; the first outputs of close seeds differ.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }
}

/// What stands in the folder.
#[derive(Clone, Debug)]
struct Model {
    /// The document's version; `None` when it is broken or missing.
    document: Option<u32>,
    /// Prefix of each toolset; `None` when its allowlist is broken.
    lists: BTreeMap<&'static str, Option<u32>>,
    next: u32,
}

impl Model {
    /// What each toolset shows, and `None` for one that is refused.
    fn shown(&self) -> BTreeMap<&'static str, Option<String>> {
        let toolset = |(name, prefix): (&&'static str, &Option<u32>)| {
            let whole = prefix.zip(self.document);
            (*name, whole.map(|(prefix, version)| format!("{name}=p{name}{prefix}/{version}*12")))
        };
        self.lists.iter().map(toolset).collect()
    }
}

struct Run {
    scene: Scene,
    random: Random,
    model: Model,
    /// What each toolset may show until it is sure again.
    possible: BTreeMap<&'static str, BTreeSet<String>>,
    done: Vec<String>,
}

fn list(name: &str, version: u32) -> String {
    format!("prefix: p{name}{version}_\n{ALL}")
}

impl Run {
    fn new(seed: u64) -> Self {
        let files = Files::new();
        files.remove("allowlists/api.yaml");
        for name in ["a", "b"] {
            files.write(&format!("allowlists/{name}.yaml"), list(name, 1));
        }
        let builder = files.builder().quiet(Duration::from_millis(40));
        let scene = Scene::start(files, builder);
        let lists = [("a", Some(1)), ("b", Some(1))].into();
        let model = Model { document: Some(1), lists, next: 2 };
        let mut run = Self {
            scene,
            random: Random(seed),
            model,
            possible: BTreeMap::new(),
            done: Vec::new(),
        };
        run.remember();
        run
    }

    /// What stands there now may be served from now on.
    fn remember(&mut self) {
        for (name, shown) in self.model.shown() {
            self.possible.entry(name).or_default().extend(shown);
        }
    }

    fn version(&mut self) -> u32 {
        self.model.next += 1;
        self.model.next - 1
    }

    fn all(mut self) {
        for _ in 0..LENGTH {
            self.step();
            self.remember();
        }
        self.rest();
        // In the end everything is mended, and everything is served.
        self.document(true, false);
        for name in ["a", "b"] {
            self.allowlist(name, true, false);
        }
        self.remember();
        self.rest();
        assert!(self.scene.status().failure.is_none());
        self.every_version_was_possible();
    }

    fn step(&mut self) {
        let (sound, in_place) = (self.random.below(3) > 0, self.random.below(2) > 0);
        match self.random.below(12) {
            0..=3 => self.document(sound, in_place),
            4..=5 => {
                let name = ["a", "b"][self.random.below(2) as usize];
                self.allowlist(name, sound, in_place);
            }
            6 => self.delete(),
            7 => self.swap_folder(),
            8 => self.link(),
            9 => self.chmod(),
            10 => {
                let pause = self.random.below(400);
                self.done.push(format!("pause {pause}"));
                sleep(pause);
            }
            _ => self.rest(),
        }
    }

    fn put(&self, name: &str, text: &str, in_place: bool) {
        if in_place {
            self.scene.files.write(name, text)
        } else {
            self.scene.files.replace(name, text)
        }
    }

    fn document(&mut self, sound: bool, in_place: bool) {
        let version = self.version();
        self.done.push(format!("document {version}, sound {sound}, in place {in_place}"));
        let text = document(version);
        let text = if sound { text } else { self.broken(&text) };
        self.put("spec/api.yaml", &text, in_place);
        self.model.document = sound.then_some(version);
    }

    /// Cut at a random place, where it cannot be sound by chance; or something else.
    fn broken(&mut self, text: &str) -> String {
        let half = text.len() as u64 / 2;
        match self.random.below(4) {
            0 => String::new(),
            1 => "<html></html>".to_owned(),
            _ => format!("{}\n[", &text[..(1 + self.random.below(half)) as usize]),
        }
    }

    fn allowlist(&mut self, name: &'static str, sound: bool, in_place: bool) {
        let version = self.version();
        self.done.push(format!("allowlist {name} {version}, sound {sound}, in place {in_place}"));
        let text = if sound { list(name, version) } else { "tools: [no_such_one]\n".to_owned() };
        self.put(&format!("allowlists/{name}.yaml"), &text, in_place);
        self.model.lists.insert(name, sound.then_some(version));
    }

    fn delete(&mut self) {
        self.done.push("delete".to_owned());
        let _ = fs::remove_file(self.scene.files.path("spec/api.yaml"));
        self.model.document = None;
    }

    fn swap_folder(&mut self) {
        let version = self.version();
        self.done.push(format!("swap the folder for version {version}"));
        let files = &self.scene.files;
        files.make("next");
        files.write("next/api.yaml", document(version));
        files.rename("spec", &format!("old{version}"));
        files.rename("next", "spec");
        self.model.document = Some(version);
    }

    fn link(&mut self) {
        let version = self.version();
        self.done.push(format!("link to version {version}"));
        let target = format!("target{version}");
        self.scene.files.write(&target, document(version));
        self.scene.files.link(&format!("../{target}"), "spec/api.yaml");
        self.model.document = Some(version);
    }

    fn chmod(&mut self) {
        self.done.push("chmod".to_owned());
        let mode = [0o600, 0o640, 0o644][self.random.below(3) as usize];
        let path = self.scene.files.path("allowlists/a.yaml");
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// Waits until what is live is what it must be, and then some.
    fn rest(&mut self) {
        self.done.push("rest".to_owned());
        let shown = self.model.shown();
        let sound: Vec<_> = shown.values().flatten().cloned().collect();
        let broken = sound.len() < shown.len();
        self.scene.until("rest", |scene| {
            let live = scene.live();
            let (all, status) =
                (sound.iter().all(|word| live.contains(word.as_str())), scene.status());
            all && status.failure.is_some() == broken && status.waiting.is_none()
        });
        sleep(150);
        let live = self.scene.live();
        let words: BTreeMap<_, _> =
            live.split(' ').filter_map(|word| word.split_once('=')).collect();
        for (name, shown) in shown {
            let word = format!("{name}={}", words[name]);
            let possible = self.possible.get_mut(name).unwrap();
            assert!(
                shown.map_or(possible.contains(&word), |shown| shown == word),
                "{word}: {possible:?}"
            );
            *possible = BTreeSet::from([word]);
        }
    }

    /// Each version is of one document and one allowlist; what never stood there was never served.
    fn every_version_was_possible(&self) {
        for seen in self.scene.seen() {
            for word in seen.split(' ') {
                let (prefix, rest) = word.split_once('/').unwrap();
                assert!(
                    !prefix.contains('+') && !rest.contains('+') && rest.ends_with("*12"),
                    "{seen}"
                );
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("{:#?}", self.done);
        }
    }
}

/// `TOOLGATE_SEQUENCES` is how many, `TOOLGATE_SEED` where they begin.
#[test]
fn after_any_operations_the_last_valid_set_is_live() {
    let (sequences, seed) = (many("TOOLGATE_SEQUENCES", 60), many("TOOLGATE_SEED", 1_u64));
    let (next, end) = (AtomicU64::new(seed), seed + sequences);
    let failed = AtomicU64::new(0);
    let work = || {
        while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < end) {
            if catch_unwind(AssertUnwindSafe(|| Run::new(seed).all())).is_err() {
                failed.fetch_add(1, Ordering::Relaxed);
                println!("FAILED: TOOLGATE_SEED={seed} TOOLGATE_SEQUENCES=1");
            }
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    assert_eq!(failed.into_inner(), 0, "sequences failed; their seeds are above");
}
