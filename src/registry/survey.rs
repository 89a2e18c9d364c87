//! Which operations of a document no call can be made of, and why: what a list of all of them shows.
//!
//! It goes the way that [`super::compile`] goes, so that what is callable here becomes a tool there.

use std::{collections::HashMap, sync::Arc};

use super::{
    Settings,
    bundle::Bundle,
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

/// Why operations cannot be called, by their pointer. One that is missing here becomes a tool when it is
/// named in an allowlist.
pub fn uncallable(api: &Arc<Api>, limits: &Limits) -> HashMap<String, String> {
    let everything = ["* *".to_owned()];
    let allowlist = Allowlist::from_selectors("all", &everything).expect("`* *` is a selector");
    let settings =
        Settings { policy: Policy::Strict, limits: limits.clone(), target: Arc::new(nowhere()) };
    let resolve = |reference: &str| api.schema(reference);
    let view = View::new(&resolve);
    let workshop = Workshop { api, allowlist: &allowlist, settings: &settings, view: &view };
    let selection = select::select(api, &allowlist, settings.policy);
    let mut bundle = Bundle::new(&view);
    let mut reasons = HashMap::new();
    let mut drafts = Vec::new();
    for pick in &selection.picks {
        match Draft::build(pick, &workshop, &mut bundle) {
            Ok(draft) => drafts.push((&pick.operation.pointer, draft)),
            Err(refusal) => drop(reasons.insert(pick.operation.pointer.clone(), words(refusal))),
        }
    }
    let sealed = bundle.seal();
    for (pointer, draft) in drafts {
        let finished = sealed.as_ref().map_err(String::clone);
        let finished = finished.and_then(|sealed| draft.finish(sealed, &workshop).map_err(words));
        if let Err(words) = finished {
            reasons.insert(pointer.clone(), words);
        }
    }
    reasons
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
