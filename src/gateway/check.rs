//! Everything that a start would say, collected instead of said.

use super::{builder, inspect::inspect};
use crate::{
    config::Inputs,
    diagnostic::{Diagnostic, Severity},
    snapshot::{self, Built, Snapshot},
    source::Sources,
};

/// What a start with some inputs would come to.
#[derive(Debug)]
pub struct Checked {
    /// What would be served; `None` when nothing would.
    pub snapshot: Option<Snapshot>,
    /// Everything there is to say, none twice: what is refused first, then what is forgiven.
    pub remarks: Vec<Remark>,
}

/// A diagnostic and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The toolset; `None` when it is of no single one.
    pub toolset: Option<String>,
    /// What there is to say.
    pub diagnostic: Diagnostic,
}

impl Checked {
    /// Nothing was read because of this.
    pub fn fault(diagnostic: Diagnostic) -> Self {
        Self { snapshot: None, remarks: vec![Remark { toolset: None, diagnostic }] }
    }

    /// Whether nothing is refused.
    pub fn is_good(&self) -> bool {
        let mut severities = self.remarks.iter().map(|remark| remark.diagnostic.severity);
        self.snapshot.is_some() && severities.all(|severity| severity != Severity::Error)
    }

    /// What `sources` come to.
    pub fn of(sources: &Sources) -> Self {
        let Built { snapshot, refusals, .. } = snapshot::build(sources, None);
        let mut checked = Self { snapshot, remarks: Vec::new() };
        for refusal in refusals {
            let toolset = Some(refusal.toolset).filter(|name| !name.is_empty());
            refusal.diagnostics.into_iter().for_each(|one| checked.say(toolset.as_ref(), one));
        }
        let crowd = checked.snapshot.as_ref().and_then(snapshot::crowd);
        let served = checked.snapshot.as_ref().map(Snapshot::toolsets).unwrap_or_default();
        let toolsets: Vec<_> = served.iter().map(|served| served.toolset.clone()).collect();
        sources.warnings.iter().for_each(|warning| checked.say(None, warning.clone()));
        for toolset in toolsets {
            let warnings = toolset.warnings.iter().cloned();
            warnings.for_each(|warning| checked.say(Some(&toolset.name), warning));
        }
        crowd.into_iter().for_each(|warning| checked.say(None, warning));
        checked
    }

    /// A fault of a document that several toolsets share is said once, and is no single one's.
    fn say(&mut self, toolset: Option<&String>, diagnostic: Diagnostic) {
        match self.remarks.iter_mut().find(|remark| remark.diagnostic == diagnostic) {
            Some(known) if known.toolset.as_ref() == toolset => {}
            Some(known) => known.toolset = None,
            None => self.remarks.push(Remark { toolset: toolset.cloned(), diagnostic }),
        }
    }
}

/// Reads and builds as a start does, and says everything at once.
pub fn check(inputs: Inputs) -> Checked {
    inspect(inputs, Checked::of).unwrap_or_else(|error| {
        let remark = |diagnostic| Remark { toolset: None, diagnostic };
        let remarks = builder::once(error.diagnostics).into_iter().map(remark).collect();
        Checked { snapshot: None, remarks }
    })
}
