//! What the log says of reloading: one line a swap, one warning for each distinct failure.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use super::gate::Gate;
use crate::{
    diagnostic::Diagnostic,
    snapshot::Refusal,
    source::{Digest, Sources},
};

/// How often a failure that lasts is warned of again.
const LASTING: Duration = Duration::from_secs(3_600);

/// What was said already.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// What is refused, and when that was said last.
    refusals: Vec<(Refusal, Instant)>,
    warnings: HashSet<Diagnostic>,
}

impl Report {
    /// Warns of each refusal that says something new.
    pub(super) fn refused(&mut self, refusals: &[Refusal], gate: &Gate, now: Instant) {
        let is_served = |toolset: &str| gate.served(toolset).is_some();
        lines(&self.news(refusals, now), is_served)
            .iter()
            .for_each(|line| tracing::warn!("{line}"));
    }

    /// Remembers `refusals` in place of the ones before, and gives back those that were not among them.
    fn news(&mut self, refusals: &[Refusal], now: Instant) -> Vec<Refusal> {
        // Bytes that fail in the same way are the same failure.
        let same = |one: &Refusal, other: &Refusal| {
            one.toolset == other.toolset && one.diagnostics == other.diagnostics
        };
        let said = |refusal: &Refusal| {
            let known = self.refusals.iter().find(|(before, _)| same(before, refusal));
            known.map(|(_, said)| *said).filter(|said| now < *said + LASTING)
        };
        let (known, news): (Vec<_>, Vec<_>) = refusals
            .iter()
            .map(|one| (one.clone(), said(one)))
            .partition(|(_, said)| said.is_some());
        let news: Vec<_> = news.into_iter().map(|(refusal, _)| refusal).collect();
        let known = known.into_iter().filter_map(|(refusal, said)| Some((refusal, said?)));
        self.refusals = known.chain(news.iter().map(|one| (one.clone(), now))).collect();
        news
    }

    /// Nothing is refused any more.
    pub(super) fn healed(&mut self) {
        self.refusals.clear();
    }

    /// When to warn again of what lasts.
    pub(super) fn due(&self) -> Option<Instant> {
        self.refusals.iter().map(|(_, said)| *said + LASTING).min()
    }

    /// Warns again of what lasts.
    pub(super) fn remind(&mut self, gate: &Gate, now: Instant) {
        let lasting: Vec<_> = self.refusals.iter().map(|(refusal, _)| refusal.clone()).collect();
        self.refused(&lasting, gate, now);
    }

    /// Says each remark about inputs once.
    pub(super) fn remarks(&mut self, warnings: &[Diagnostic]) {
        for warning in warnings {
            if self.warnings.insert(warning.clone()) {
                tracing::warn!("{}", warning.snippet());
            }
        }
    }
}

/// One text for the faults of the same toolsets: a fault of a document that several share is said once,
/// with the names of all that it refuses.
fn lines(refusals: &[Refusal], is_served: impl Fn(&str) -> bool) -> Vec<String> {
    let mut texts: Vec<(Vec<&str>, Vec<&Diagnostic>)> = Vec::new();
    let mut said = HashSet::new();
    let all = refusals.iter().flat_map(|refusal| &refusal.diagnostics);
    for fault in all.filter(|fault| said.insert(*fault)) {
        let has = |refusal: &&Refusal| refusal.diagnostics.contains(fault);
        let of = refusals.iter().filter(has).map(|refusal| refusal.toolset.as_str());
        let of: Vec<_> = of.collect();
        match texts.iter_mut().find(|(toolsets, _)| *toolsets == of) {
            Some((_, faults)) => faults.push(fault),
            None => texts.push((of, vec![fault])),
        }
    }
    let text = |(toolsets, faults): (Vec<&str>, Vec<&Diagnostic>)| {
        let faults = faults.into_iter().map(Diagnostic::snippet);
        std::iter::once(head(&toolsets, &is_served)).chain(faults).collect::<Vec<_>>().join("\n")
    };
    texts.into_iter().map(text).collect()
}

/// What the faults below it do to the toolsets.
fn head(toolsets: &[&str], is_served: impl Fn(&str) -> bool) -> String {
    if toolsets.iter().any(|name| name.is_empty()) {
        return "nothing changes in what is served:".to_owned();
    }
    let (kept, missing): (Vec<_>, Vec<_>) = toolsets.iter().partition(|name| is_served(name));
    let names = |names: &[&&str]| {
        format!("`{}`", names.iter().map(|name| **name).collect::<Vec<_>>().join("`, `"))
    };
    let kept = match kept.as_slice() {
        [] => None,
        [_] => Some(format!("{} keeps its last good version", names(&kept))),
        _ => Some(format!("{} keep their last good versions", names(&kept))),
    };
    let missing = match missing.as_slice() {
        [] => None,
        [_] => Some(format!("{} is not served", names(&missing))),
        _ => Some(format!("{} are not served", names(&missing))),
    };
    kept.into_iter().chain(missing).collect::<Vec<_>>().join(", ") + ":"
}

/// Names of the inputs that differ from what is served, each once.
pub(super) fn files(gate: &Gate, sources: &Sources) -> String {
    let mut names: Vec<&str> = Vec::new();
    for toolset in &sources.toolsets {
        let before: Vec<_> = gate.served(&toolset.name).iter().flat_map(|old| old.all()).collect();
        let new = toolset.all().filter(|input| before.iter().all(|old| old.digest != input.digest));
        names.extend(new.map(|input| &*input.name));
    }
    names.sort_unstable();
    names.dedup();
    let gone = gate.names().filter(|name| sources.toolsets.iter().all(|new| new.name != *name));
    let gone = gone.map(|name| format!("without `{name}`"));
    names.into_iter().map(ToOwned::to_owned).chain(gone).collect::<Vec<_>>().join(", ")
}

/// The beginning of a digest in hexadecimal, enough to tell versions apart.
pub(super) fn short(digest: &Digest) -> String {
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::reload::fixture::{refusal, sources, sources_after};

    #[test]
    fn a_failure_is_news_once_and_again_after_it_was_gone() {
        let (mut report, now) = (Report::default(), Instant::now());
        let (a, b) = (refusal("a", "bad"), refusal("b", "worse"));
        let mut check = |refusals: &[&Refusal], expected: usize| {
            let refusals: Vec<_> = refusals.iter().map(|refusal| (*refusal).clone()).collect();
            assert_eq!(report.news(&refusals, now).len(), expected);
        };
        check(&[&a], 1);
        check(&[&Refusal { digest: [7; 32], ..a.clone() }], 0);
        check(&[&a, &b], 1);
        check(&[&refusal("a", "other"), &b], 1);
        check(&[&a], 1);
        check(&[], 0);
        check(&[&a], 1);
        report.healed();
        assert_eq!((report.due(), report.news(&[a], now).len()), (None, 1));
        assert_eq!(report.due(), Some(now + LASTING));
    }

    /// What is said of refusals when the toolsets of `served` are served.
    fn check(refusals: &[Refusal], served: &[&str], expected: &[&str]) {
        assert_eq!(lines(refusals, |name| served.contains(&name)), expected);
    }

    #[test]
    fn what_lasts_is_news_each_hour_whatever_else_changes() {
        let (mut report, start) = (Report::default(), Instant::now());
        let lasting = refusal("a", "bad");
        let mut check = |minutes: u64, other: &str, expected: usize| {
            let now = start + Duration::from_secs(minutes * 60);
            let news = report.news(&[lasting.clone(), refusal("b", other)], now);
            assert_eq!(news.len(), expected, "{minutes}");
        };
        check(0, "1", 2);
        check(40, "2", 1);
        check(59, "2", 0);
        check(60, "2", 1);
        check(100, "2", 1);
        check(121, "2", 1);
    }

    #[test]
    fn a_warning_names_the_toolset_and_every_diagnostic() {
        let mut refused = refusal("memos", "bad");
        refused.diagnostics.push(Diagnostic::error("worse"));
        let mut refused = [refused];
        let kept = "`memos` keeps its last good version:\nerror: bad\nerror: worse";
        check(&refused, &["memos"], &[kept]);
        check(&refused, &[], &["`memos` is not served:\nerror: bad\nerror: worse"]);
        refused[0].toolset.clear();
        check(&refused, &[], &["nothing changes in what is served:\nerror: bad\nerror: worse"]);
    }

    #[test]
    fn a_fault_that_toolsets_share_is_said_once_with_all_their_names() {
        let mut refused = [refusal("a", "torn"), refusal("b", "torn"), refusal("c", "torn")];
        check(
            &refused,
            &["a", "c"],
            &["`a`, `c` keep their last good versions, `b` is not served:\nerror: torn"],
        );
        refused[1].diagnostics.push(Diagnostic::error("own"));
        check(
            &refused,
            &["a", "b", "c"],
            &[
                "`a`, `b`, `c` keep their last good versions:\nerror: torn",
                "`b` keeps its last good version:\nerror: own",
            ],
        );
        check(
            &refused[..2],
            &[],
            &["`a`, `b` are not served:\nerror: torn", "`b` is not served:\nerror: own"],
        );
    }

    #[test]
    fn a_swap_names_the_inputs_that_differ() {
        let before =
            sources(&[("a.yaml", "document: spec.txt"), ("b.yaml", ""), ("spec.txt", "1")]);
        let mut gate = Gate::default();
        let check = |gate: &Gate, sources: &Sources, expected: &[&str]| {
            let files = files(gate, sources);
            let names: Vec<_> =
                files.split(", ").map(|name| name.rsplit('/').next().unwrap()).collect();
            assert_eq!(names, expected);
        };
        check(&gate, &before, &["a.yaml", "b.yaml", "spec.txt"]);
        gate.serve(gate.after(&before, &[]));
        let after = sources_after(&before, &[("spec.txt", "2")]);
        check(&gate, &after, &["spec.txt"]);
        check(&gate, &sources(&[("b.yaml", "")]), &["without `a`"]);
    }
}
