//! Which operations of a document no call can be made of and why, and which ones need a name of their own:
//! what a list of all of them shows.
//!
//! It goes the way that [`super::compile`] goes, so that what is callable here becomes a tool there.

use std::{collections::HashMap, sync::Arc};

use super::{
    Settings,
    bundle::Bundle,
    clash,
    draft::{Draft, Workshop},
    findings::Refusal,
    plan::{Target, Upstream},
    select,
    view::View,
};
use crate::{
    allowlist::Allowlist,
    config::{Limits, Policy},
    openapi::Api,
};

/// What a list of all operations needs to know of each, by the operation's pointer.
#[derive(Debug, Default)]
pub struct Survey {
    /// Why an operation cannot be called. One that is missing here becomes a tool when it is named in an
    /// allowlist.
    pub reasons: HashMap<String, String>,
    /// Names for tools that would have the name of an earlier one; with them all names differ.
    pub names: HashMap<String, String>,
}

/// Looks at every operation of a document.
pub fn survey(api: &Arc<Api>, limits: &Limits) -> Survey {
    let everything = ["* *".to_owned()];
    let allowlist = Allowlist::from_selectors("all", &everything).expect("`* *` is a selector");
    let settings =
        Settings { policy: Policy::Strict, limits: limits.clone(), target: Arc::new(nowhere()) };
    let resolve = |reference: &str| api.schema(reference);
    let view = View::new(&resolve);
    let workshop = Workshop { api, allowlist: &allowlist, settings: &settings, view: &view };
    let selection = select::select(api, &allowlist, settings.policy);
    let mut bundle = Bundle::new(&view);
    let mut survey = Survey::default();
    let mut drafts = Vec::new();
    for pick in &selection.picks {
        match Draft::build(pick, &workshop, &mut bundle) {
            Ok(draft) => drafts.push((&pick.operation.pointer, draft)),
            Err(refusal) => survey.refuse(&pick.operation.pointer, words(refusal)),
        }
    }
    survey.names = clash::names(drafts.iter().map(|(_, draft)| draft));
    let sealed = bundle.seal();
    for (pointer, draft) in drafts {
        let finished = sealed.as_ref().map_err(String::clone);
        let finished = finished.and_then(|sealed| draft.finish(sealed, &workshop).map_err(words));
        if let Err(words) = finished {
            survey.refuse(pointer, words);
        }
    }
    survey
}

impl Survey {
    fn refuse(&mut self, pointer: &str, words: String) {
        self.reasons.insert(pointer.to_owned(), words);
    }
}

/// The target where no call is made.
pub fn nowhere() -> Target {
    Target {
        upstream: Upstream::Service,
        base_path: None,
        from: String::new(),
        headers: Vec::new(),
        forward: Vec::new(),
        max_in_flight: 1,
    }
}

fn words(refusal: Refusal) -> String {
    let words: Vec<_> = match refusal {
        Refusal::Uncallable(faults) | Refusal::Torn(faults) => {
            faults.into_iter().map(|fault| fault.words).collect()
        }
        Refusal::Allowlist(faults) => faults.into_iter().map(|fault| fault.message).collect(),
    };
    words.join("; ")
}
