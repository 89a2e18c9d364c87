//! One pass over all inputs.
//!
//! Allowlists first, since they say what else to read; a document that several toolsets share is
//! read once. At the end every file must still look as it did when it was read, and the folder must
//! list the same names: else the pass is thrown away as a whole.

use std::{
    collections::HashMap,
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    Digest, Input, Refer, References, Scan, Sources, ToolsetSource, Unstable,
    claim::{Claim, Claims, unmatched_overrides},
    digest,
    file::{self, Cap, Reading},
    folder::Listing,
    path::{beside, shown},
    remote::{self, Fetched, Remote},
    scan::Stamp,
};
use crate::{
    config::{Inputs, Override, url::is_url},
    diagnostic::{Diagnostic, Position},
};

/// A key or a token; whatever is longer was not meant.
const SECRET: Cap = Cap { bytes: 64 * 1024, limit: None };

/// See [`Sources::read`].
pub(super) fn read(
    inputs: &Arc<Inputs>,
    refer: Refer,
    remote: &Remote,
    previous: Option<&Sources>,
) -> Result<Sources, Unstable> {
    let mut pass = Pass::new(inputs, refer, remote, previous);
    let Claims { claims, folder, mut faults } = Claims::of(inputs, &pass.current);
    folder.into_iter().for_each(|(folder, listing)| pass.scan.set_folder(folder, listing));
    if previous.is_none() && faults.is_empty() {
        faults.extend(unmatched_overrides(inputs, &claims));
    }
    let toolsets = claims.iter().map(|claim| pass.toolset(claim));
    let toolsets = toolsets.collect::<Result<Vec<_>, _>>()?;
    pass.settled()?;
    Ok(Sources {
        inputs: Arc::clone(inputs),
        digest: digest::whole(&toolsets, &faults),
        toolsets,
        faults,
        warnings: pass.warnings,
        scan: pass.scan,
    })
}

struct Pass<'a> {
    inputs: &'a Inputs,
    refer: Refer,
    remote: &'a Remote,
    /// Inputs of the pass before, by name.
    previous: HashMap<&'a str, &'a Input>,
    previous_scan: Option<&'a Scan>,
    current: PathBuf,
    /// Inputs of this pass, by absolute path or URL.
    done: HashMap<PathBuf, Input>,
    /// Absolute paths of files whose content counts, so that they must hold still.
    sound: Vec<PathBuf>,
    scan: Scan,
    warnings: Vec<Diagnostic>,
}

impl<'a> Pass<'a> {
    fn new(
        inputs: &'a Inputs,
        refer: Refer,
        remote: &'a Remote,
        previous: Option<&'a Sources>,
    ) -> Self {
        let known = previous.into_iter().flat_map(Sources::all);
        Self {
            inputs,
            refer,
            remote,
            previous: known.map(|input| (&*input.name, input)).collect(),
            previous_scan: previous.map(Sources::scan),
            current: env::current_dir().unwrap_or_default(),
            done: HashMap::new(),
            sound: Vec::new(),
            scan: Scan::default(),
            warnings: Vec::new(),
        }
    }

    fn toolset(&mut self, claim: &Claim) -> Result<ToolsetSource, Unstable> {
        let allowlist = match (claim.files.as_slice(), claim.flag) {
            ([], _) => None,
            ([file], false) => Some(self.file(file, self.allowlist_cap())?),
            (files, _) => Some(self.clash(claim, files)),
        };
        let references = self.references(allowlist.as_ref());
        let folder = claim.files.first().and_then(|file| file.parent()).unwrap_or(Path::new(""));
        let document = self.document(claim, folder, references.document.as_deref())?;
        let files = references.files.iter();
        let files = files
            .map(|file| {
                let written = file.to_string_lossy().into_owned();
                Ok((written, self.file(&beside(folder, file), SECRET)?))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut toolset = ToolsetSource {
            name: claim.name.clone(),
            allowlist,
            document,
            variables: references.variables.into_iter().map(variable).collect(),
            files,
            digest: Digest::default(),
        };
        toolset.digest = digest::toolset(&toolset, &self.inputs.allow);
        Ok(toolset)
    }

    fn references(&self, allowlist: Option<&Input>) -> References {
        let text = allowlist.and_then(|input| input.content.as_ref().ok());
        let text = text.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(self.refer).unwrap_or_default()
    }

    fn document(
        &mut self,
        claim: &Claim,
        folder: &Path,
        named: Option<&str>,
    ) -> Result<Option<Input>, Unstable> {
        let cap = Cap { bytes: self.inputs.limits.document, limit: Some("document") };
        let flag = Override::of(&self.inputs.documents, &claim.name);
        let flag = flag.map(|flag| flag.value.as_str());
        let Some(name) = flag.or(named) else { return Ok(None) };
        if is_url(name) {
            return self.url(name).map(Some);
        }
        let path = match flag {
            Some(flag) => PathBuf::from(flag),
            None => beside(folder, Path::new(name)),
        };
        self.file(&path, cap).map(Some)
    }

    fn file(&mut self, path: &Path, cap: Cap) -> Result<Input, Unstable> {
        let absolute = self.current.join(path);
        if let Some(input) = self.done.get(&absolute) {
            return Ok(input.clone());
        }
        let name = shown(path, &self.current);
        let Ok(Reading { content, stamp, orphan }) = file::read(&absolute, cap) else {
            return Err(Unstable { name, pending: false });
        };
        if content.is_ok() {
            self.sound.push(absolute.clone());
        }
        if orphan {
            self.warnings.push(orphan_warning(&name));
        }
        let mut input = self.input(&name, content);
        input.in_place = self.in_place(&input, &absolute, stamp.as_ref());
        self.scan.insert(absolute.clone(), stamp);
        self.done.insert(absolute, input.clone());
        Ok(input)
    }

    fn url(&mut self, url: &str) -> Result<Input, Unstable> {
        let key = PathBuf::from(url);
        if let Some(input) = self.done.get(&key) {
            return Ok(input.clone());
        }
        let input = match self.remote.content(url, self.inputs.limits.document) {
            Fetched::Pending => {
                return Err(Unstable { name: remote::shown(url), pending: true });
            }
            Fetched::Done(content) => self.input(&remote::shown(url), content),
        };
        self.done.insert(key, input.clone());
        Ok(input)
    }

    /// An input with its digest, sharing its bytes with the pass before where they are equal.
    fn input<B>(&self, name: &str, content: Result<B, String>) -> Input
    where
        B: AsRef<[u8]> + Into<Arc<[u8]>>,
    {
        let digest = digest::input(name, &content);
        let before = self.previous.get(name).filter(|before| before.digest == digest);
        if let Some(before) = before {
            return (*before).clone();
        }
        let content = content
            .map(Into::into)
            .map_err(|words| Diagnostic::error(words).at(Position::whole(name)));
        Input { name: name.into(), content, digest, in_place: false }
    }

    /// See [`Input::in_place`].
    fn in_place(&self, input: &Input, path: &Path, stamp: Option<&Stamp>) -> bool {
        let (Some(before), Some(scan)) = (self.previous.get(&*input.name), self.previous_scan)
        else {
            return false;
        };
        match (scan.stamp(path), stamp) {
            (Some(old), Some(new)) if old.file == new.file => {
                before.digest != input.digest || before.in_place
            }
            (None, Some(_)) => true,
            _ => false,
        }
    }

    fn clash(&self, claim: &Claim, files: &[PathBuf]) -> Input {
        let mut names: Vec<_> = files.iter().map(|file| shown(file, &self.current)).collect();
        let first = names.first().cloned().unwrap_or_default();
        if claim.flag {
            names.push("--allow".to_owned());
        }
        let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
        let words = format!("{names} make one toolset `{}`; rename a file", claim.name);
        self.input::<Vec<u8>>(&first, Err(words))
    }

    fn allowlist_cap(&self) -> Cap {
        Cap { bytes: self.inputs.limits.allowlist, limit: Some("allowlist") }
    }

    /// Whether everything still looks as it did when it was read.
    fn settled(&self) -> Result<(), Unstable> {
        let moved =
            self.sound.iter().find(|path| Stamp::at(path).as_ref() != self.scan.stamp(path));
        let listed =
            self.scan.folder().filter(|folder| Listing::of(folder).names() != self.scan.names());
        match moved.map(PathBuf::as_path).or(listed) {
            Some(path) => Err(Unstable { name: shown(path, &self.current), pending: false }),
            None => Ok(()),
        }
    }
}

fn variable(name: String) -> (String, Option<String>) {
    let value = env::var_os(&name).and_then(|value| value.into_string().ok());
    (name, value)
}

fn orphan_warning(name: &str) -> Diagnostic {
    Diagnostic::warning(
        "was replaced where it is mounted from; this process still sees the old one",
    )
    .help("mount the folder instead of the file")
    .at(Position::whole(name))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;
    use crate::config::{Override, Policy};

    /// `document: x`, `var: X` and `file: x` a line.
    fn refer(text: &str) -> References {
        let mut references = References::default();
        for line in text.lines() {
            match line.split_once(": ") {
                Some(("document", name)) => references.document = Some(name.to_owned()),
                Some(("var", name)) => references.variables.push(name.to_owned()),
                Some(("file", name)) => references.files.push(name.into()),
                _ => {}
            }
        }
        references
    }

    /// A temporary folder and the flags that read its `allowlists`.
    struct Case {
        folder: tempfile::TempDir,
        inputs: Inputs,
    }

    impl Case {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let inputs = Inputs {
                allowlists: Some(folder.path().join("allowlists")),
                ..Inputs::new(Policy::Strict)
            };
            let case = Self { folder, inputs };
            files.iter().for_each(|(name, text)| case.write(name, text));
            case
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
            fs::write(self.path(name), text).unwrap();
        }

        fn read_after(&self, previous: Option<&Sources>) -> Sources {
            let inputs = Arc::new(self.inputs.clone());
            Sources::read(&inputs, refer, &Remote::default(), previous).unwrap()
        }

        fn read(&self) -> Sources {
            self.read_after(None)
        }

        /// Toolsets as `name: allowlist | document`, the folder's name left out, a fault in place of bytes.
        fn shown(&self) -> Vec<String> {
            let sources = self.read();
            let text = |input: &Option<Input>| match input.as_ref().map(|input| &input.content) {
                Some(Ok(bytes)) => String::from_utf8_lossy(bytes).trim_end().to_owned(),
                Some(Err(fault)) => fault.to_string(),
                None => "-".to_owned(),
            };
            let toolset = |toolset: &ToolsetSource| {
                format!(
                    "{}: {} | {}",
                    toolset.name,
                    text(&toolset.allowlist),
                    text(&toolset.document)
                )
            };
            let faults = sources.faults.iter().map(ToString::to_string);
            let lines = sources.toolsets.iter().map(toolset).chain(faults);
            let root = format!("{}/", self.folder.path().display());
            lines.map(|line| line.replace(&root, "")).collect()
        }
    }

    #[test]
    fn allowlists_are_read_in_name_order_with_their_documents() {
        let case = Case::new(&[
            ("allowlists/b.yml", "document: ../spec/b.yaml"),
            ("allowlists/a.yaml", "document: a.json"),
            ("allowlists/.c.yaml", "never"),
            ("allowlists/c.yaml~", "never"),
            ("allowlists/a.json", "{}"),
            ("spec/b.yaml", "paths"),
        ]);
        assert_eq!(
            case.shown(),
            ["a: document: a.json | {}", "b: document: ../spec/b.yaml | paths"]
        );
    }

    #[test]
    fn a_document_is_relative_to_the_folder_as_named() {
        let mut case = Case::new(&[
            ("real/lists/a.yaml", "document: ../spec.yaml"),
            ("real/spec.yaml", "of the target"),
            ("spec.yaml", "as named"),
        ]);
        symlink("real/lists", case.path("linked")).unwrap();
        case.inputs.allowlists = Some(case.path("linked"));
        assert_eq!(case.shown(), ["a: document: ../spec.yaml | as named"]);
    }

    #[test]
    fn an_allowlist_may_be_a_single_file_of_any_name() {
        let mut case = Case::new(&[("my.allow.txt", "x")]);
        case.inputs.allowlists = Some(case.path("my.allow.txt"));
        assert_eq!(case.shown(), ["my.allow: x | -"]);
        case.inputs.allowlists = Some(case.path("memos.yaml"));
        assert_eq!(case.shown(), ["memos: memos.yaml: error: does not exist | -"]);
    }

    #[test]
    fn what_cannot_be_read_is_a_fault_of_that_input() {
        let case = Case::new(&[("allowlists/a.yaml", "document: no.yaml")]);
        symlink("/nowhere", case.path("allowlists/old.yaml")).unwrap();
        fs::create_dir(case.path("allowlists/b.yaml")).unwrap();
        assert_eq!(
            case.shown(),
            [
                "a: document: no.yaml | allowlists/no.yaml: error: does not exist",
                "b: allowlists/b.yaml: error: is a folder, not a file | -",
                "old: allowlists/old.yaml: error: is a link to `/nowhere`, which does not exist | -",
            ]
        );
        assert!(case.read().unreadable());
    }

    #[test]
    fn a_folder_that_is_missing_or_empty_is_a_fault_of_the_whole() {
        let mut case = Case::new(&[]);
        assert_eq!(case.shown(), ["allowlists: error: the folder does not exist"]);
        fs::create_dir(case.path("allowlists")).unwrap();
        let [fault] = &case.shown()[..] else { panic!() };
        assert!(fault.starts_with("allowlists: error: holds no allowlist; add"), "{fault}");
        case.inputs.keep_going = true;
        assert_eq!(case.shown(), [""; 0]);
    }

    #[test]
    fn too_many_allowlists_are_a_fault_of_the_whole() {
        let mut case = Case::new(&[("allowlists/a.yaml", ""), ("allowlists/b.yaml", "")]);
        case.inputs.limits.allowlist_files = 1;
        assert_eq!(
            case.shown(),
            [
                "allowlists: error: holds over 1 allowlists; raise it with `--limit allowlist_files=NUMBER`"
            ]
        );
    }

    #[test]
    fn two_files_of_one_name_are_refused_as_one_toolset() {
        let mut case = Case::new(&[("allowlists/api.yaml", "x"), ("allowlists/api.yml", "y")]);
        let both = "`allowlists/api.yaml` and `allowlists/api.yml`";
        let fault = "make one toolset `api`; rename a file | -";
        assert_eq!(case.shown(), [format!("api: allowlists/api.yaml: error: {both} {fault}")]);
        fs::remove_file(case.path("allowlists/api.yml")).unwrap();
        case.inputs.allow = vec!["GET *".to_owned()];
        let both = "`allowlists/api.yaml` and `--allow`";
        assert_eq!(case.shown(), [format!("api: allowlists/api.yaml: error: {both} {fault}")]);
    }

    #[test]
    fn selectors_of_the_command_line_make_a_toolset_after_the_files() {
        let mut case = Case::new(&[("allowlists/b.yaml", "x"), ("spec.yaml", "paths")]);
        case.inputs.allow = vec!["GET *".to_owned()];
        let document = case.path("spec.yaml").display().to_string();
        case.inputs.documents = vec![Override { toolset: Some("api".to_owned()), value: document }];
        assert_eq!(case.shown(), ["b: x | -", "api: - | paths"]);
        case.inputs.allowlists = None;
        assert_eq!(case.shown(), ["api: - | paths"]);
        case.inputs.allow.clear();
        case.inputs.documents.clear();
        let [fault] = &case.shown()[..] else { panic!() };
        assert!(fault.starts_with("error: nothing is allowed; "), "{fault}");
    }

    #[test]
    fn a_document_of_the_command_line_replaces_the_files_own() {
        let mut case = Case::new(&[
            ("allowlists/a.yaml", "document: a.yaml"),
            ("allowlists/b.yaml", ""),
            ("one.yaml", "one"),
            ("two.yaml", "two"),
        ]);
        let flag = |toolset: Option<&str>, file: &str| Override {
            toolset: toolset.map(ToOwned::to_owned),
            value: case.path(file).display().to_string(),
        };
        let documents = vec![flag(Some("b"), "two.yaml"), flag(None, "one.yaml")];
        case.inputs.documents = documents;
        assert_eq!(case.shown(), ["a: document: a.yaml | one", "b:  | two"]);
    }

    #[test]
    fn an_override_of_no_toolset_is_a_fault_at_start_only() {
        let mut case = Case::new(&[("allowlists/a.yaml", "x")]);
        let toolset = Some("memo".to_owned());
        case.inputs.upstreams = vec![Override { toolset, value: "http://x".to_owned() }];
        let fault = "error: `--upstream memo=http://x` names no toolset; there is `a`";
        assert_eq!(case.shown(), ["a: x | -", fault]);
        assert!(case.read_after(Some(&case.read())).faults.is_empty());
    }

    #[test]
    fn a_shared_document_is_read_once_and_kept_while_it_is_equal() {
        let case = Case::new(&[
            ("allowlists/a.yaml", "document: ../spec.yaml"),
            ("allowlists/b.yaml", "document: ../spec.yaml"),
            ("spec.yaml", "paths"),
        ]);
        let bytes = |sources: &Sources, toolset: usize| {
            Arc::clone(
                sources.toolsets[toolset].document.as_ref().unwrap().content.as_ref().unwrap(),
            )
        };
        let first = case.read();
        assert!(Arc::ptr_eq(&bytes(&first, 0), &bytes(&first, 1)));
        case.write("spec.yaml", "paths");
        let second = case.read_after(Some(&first));
        assert!(Arc::ptr_eq(&bytes(&first, 0), &bytes(&second, 0)));
        assert_eq!(first.digest, second.digest);
    }

    #[test]
    fn each_part_of_a_toolset_counts_in_its_digest_only() {
        let case = Case::new(&[
            (
                "allowlists/a.yaml",
                "document: ../spec.yaml\nfile: ../key\nvar: TOOLGATE_TEST_NO_SUCH",
            ),
            ("allowlists/b.yaml", ""),
            ("spec.yaml", "paths"),
            ("key", "secret"),
        ]);
        let mut before = case.read();
        assert_eq!(before.toolsets[0].variables, [("TOOLGATE_TEST_NO_SUCH".to_owned(), None)]);
        for (name, text) in [
            ("spec.yaml", "other"),
            ("key", "new"),
            ("allowlists/a.yaml", "document: ../spec.yaml"),
        ] {
            case.write(name, text);
            let after = case.read();
            let equal =
                |toolset: usize| before.toolsets[toolset].digest == after.toolsets[toolset].digest;
            assert!(!equal(0) && equal(1) && before.digest != after.digest, "{name}");
            before = after;
        }
    }

    #[test]
    fn secrets_do_not_show_in_debug_output() {
        let case = Case::new(&[("allowlists/a.yaml", "file: ../key"), ("key", "hunter2")]);
        let shown = format!("{:?}", case.read());
        assert!(shown.contains("Ok(7)") && !shown.contains("hunter2"));
        assert!(!shown.contains(&format!("{:?}", b"hunter2")), "{shown}");
    }

    /// Whether the document counts as written in place after `change`.
    fn check_in_place(expected: bool, change: impl FnOnce(&Case)) {
        let case =
            Case::new(&[("allowlists/a.yaml", "document: ../spec.yaml"), ("spec.yaml", "old")]);
        let first = case.read();
        change(&case);
        let second = case.read_after(Some(&first));
        let document = second.toolsets[0].document.as_ref().unwrap();
        assert_eq!(document.in_place, expected);
        let third = case.read_after(Some(&second));
        assert_eq!(third.toolsets[0].document.as_ref().unwrap().in_place, expected, "and stays so");
    }

    #[test]
    fn writing_in_place_is_told_from_replacing() {
        check_in_place(true, |case| case.write("spec.yaml", "new"));
        check_in_place(false, |_| {});
        check_in_place(false, |case| {
            case.write("spec.tmp", "new");
            fs::rename(case.path("spec.tmp"), case.path("spec.yaml")).unwrap();
        });
        check_in_place(false, |case| {
            case.write("next.yaml", "new");
            symlink("next.yaml", case.path("link")).unwrap();
            fs::rename(case.path("link"), case.path("spec.yaml")).unwrap();
        });
    }

    #[test]
    fn a_file_that_was_missing_counts_as_written_in_place() {
        let case = Case::new(&[("allowlists/a.yaml", "document: ../spec.yaml")]);
        let first = case.read();
        case.write("spec.yaml", "new");
        let second = case.read_after(Some(&first));
        assert!(second.toolsets[0].document.as_ref().unwrap().in_place);
    }

    #[test]
    fn a_file_written_during_the_pass_makes_it_unstable() {
        fn refer_and_write(text: &str) -> References {
            let path = text.strip_prefix("write: ").unwrap();
            fs::write(path, format!("{text} ")).unwrap();
            References::default()
        }
        let case = Case::new(&[]);
        let path = case.path("allowlists/a.yaml");
        case.write("allowlists/a.yaml", &format!("write: {}", path.display()));
        let inputs = Arc::new(case.inputs.clone());
        let read = Sources::read(&inputs, refer_and_write, &Remote::default(), None);
        assert_eq!(read.unwrap_err().name, path.display().to_string());
    }

    #[test]
    fn a_name_that_appears_during_the_pass_makes_it_unstable() {
        fn refer_and_add(text: &str) -> References {
            fs::write(text, "").unwrap();
            References::default()
        }
        let case = Case::new(&[]);
        let added = case.path("allowlists/b.yaml");
        case.write("allowlists/a.yaml", &added.display().to_string());
        let inputs = Arc::new(case.inputs.clone());
        let read = Sources::read(&inputs, refer_and_add, &Remote::default(), None);
        assert_eq!(read.unwrap_err().name, case.path("allowlists").display().to_string());
    }
}
