//! Where a call goes, and where each argument stands in the request.
//!
//! A place is what the API sees: the n-th value of the path, a query parameter, a field of the body.
//! Two arguments of one place are the same argument under two names.

use std::fmt;

use serde_json::Value;

use super::{Aspect, Change, Seen, pair::shape};
use crate::{
    diagnostic::quote,
    registry::{
        Tool,
        plan::{BodyPlan, PathPiece, Plan, Source, Upstream},
    },
};

/// Where a value stands in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place<'a> {
    /// The n-th value of the path; what it is called there is nobody's business.
    Path(usize),
    Query(&'a str),
    Header(&'a str),
    Cookie(&'a str),
    Field(&'a str),
    Body,
}

impl Place<'_> {
    fn part(self) -> &'static str {
        match self {
            Self::Path(_) => "path",
            Self::Query(_) => "query",
            Self::Header(_) => "headers",
            Self::Cookie(_) => "cookies",
            Self::Field(_) | Self::Body => "body",
        }
    }
}

impl Place<'_> {
    /// Whether both are in the same part under names of the same letters: `pageSize`, `page_size`.
    fn is_respelled(self, other: Self) -> bool {
        let letters = |name: &str| {
            let letters = name.chars().filter(|c| c.is_alphanumeric());
            letters.map(|c| c.to_ascii_lowercase()).collect::<String>()
        };
        match (self, other) {
            (Self::Query(one), Self::Query(other))
            | (Self::Header(one), Self::Header(other))
            | (Self::Cookie(one), Self::Cookie(other))
            | (Self::Field(one), Self::Field(other)) => letters(one) == letters(other),
            _ => false,
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(at) => write!(f, "value {} of the path", at + 1),
            Self::Body => f.write_str("the body"),
            Self::Query(wire) | Self::Header(wire) | Self::Cookie(wire) | Self::Field(wire) => {
                write!(f, "{} in the {}", quote(wire), self.part())
            }
        }
    }
}

/// Every value of a request that a plan knows, in the order of the request.
fn values(plan: &Plan) -> Vec<(Place<'_>, &Source)> {
    let pieces = plan.path.iter().flat_map(|segment| &segment.0);
    let path = pieces.filter_map(|piece| match piece {
        PathPiece::Literal(_) => None,
        PathPiece::Value(value) => Some(&value.source),
    });
    let mut all: Vec<_> = path.enumerate().map(|(at, source)| (Place::Path(at), source)).collect();
    all.extend(plan.query.iter().map(|one| (Place::Query(&one.name), &one.source)));
    all.extend(plan.headers.iter().map(|one| (Place::Header(&one.name), &one.source)));
    all.extend(plan.cookies.iter().map(|one| (Place::Cookie(&one.name), &one.source)));
    match &plan.body {
        BodyPlan::None => {}
        BodyPlan::Whole { source, .. } => all.push((Place::Body, source)),
        BodyPlan::Fields { fields, .. } => {
            all.extend(fields.iter().map(|one| (Place::Field(&one.name), &one.source)));
        }
    }
    all
}

fn arguments(plan: &Plan) -> impl Iterator<Item = (Place<'_>, &str)> {
    values(plan).into_iter().filter_map(|(place, source)| Some((place, source.argument()?)))
}

/// Old and new name of every argument that kept its place and not its name. A place is also kept where
/// only the case or the underscores of its name changed, as between two styles of a generator.
pub(in crate::snapshot) fn renamed_arguments(old: &Tool, new: &Tool) -> Vec<(String, String)> {
    let (before, now): (Vec<_>, Vec<_>) =
        (arguments(&old.plan).collect(), arguments(&new.plan).collect());
    let is_new = |(place, _): &&(Place<'_>, &str)| before.iter().all(|(old, _)| old != place);
    let renamed = before.iter().filter_map(|(place, name)| {
        let same = now.iter().find(|(other, _)| other == place);
        let alike = || now.iter().filter(is_new).find(|(other, _)| other.is_respelled(*place));
        let (_, to) = same.or_else(alike)?;
        (to != name).then(|| ((*name).to_owned(), (*to).to_owned()))
    });
    renamed.collect()
}

/// Everything that changed about where calls go.
pub(super) fn changes(old: &Seen, new: &Seen) -> Vec<Change> {
    let mut changes: Vec<_> = target(old, new).into_iter().collect();
    let (Some(old_tool), Some(new_tool)) = (old.built(), new.built()) else { return changes };
    if let Some(words) = upstream(old.upstream(), new.upstream()) {
        changes.push(Change::breaking(Aspect::Binding, words));
    }
    changes.extend(moves(&old_tool.plan, &new_tool.plan));
    changes.extend(fixed(&old_tool.plan, &new_tool.plan));
    changes
}

fn target(old: &Seen, new: &Seen) -> Option<Change> {
    let listed = |seen: &Seen| format!("{} {}", seen.meta("method"), shape(seen.meta("path")));
    let (before, now) = match (old.built(), new.built()) {
        (Some(old), Some(new)) => (request_line(&old.plan), request_line(&new.plan)),
        _ => (listed(old), listed(new)),
    };
    let words = || format!("calls {} instead of {}", quote(&now), quote(&before));
    (before != now).then(|| Change::breaking(Aspect::Binding, words()))
}

/// `GET /api/v1/memos/{}`.
fn request_line(plan: &Plan) -> String {
    let mut line = format!("{} {}", plan.method, plan.base_path);
    for segment in &plan.path {
        line.push('/');
        for piece in &segment.0 {
            line.push_str(match piece {
                PathPiece::Literal(text) => text,
                PathPiece::Value(_) => "{}",
            });
        }
    }
    line
}

fn upstream(old: Option<&Upstream>, new: Option<&Upstream>) -> Option<String> {
    let shown = |upstream: &Upstream| match upstream {
        Upstream::Origin(origin) => quote(&origin.to_string()),
        Upstream::Service => "this process".to_owned(),
    };
    let (old, new) = (old?, new?);
    (old != new).then(|| format!("calls go to {} instead of {}", shown(new), shown(old)))
}

/// Arguments of one name that mean another part of the request. Another name of the parameter in the
/// same part is how an argument keeps its name though the API's changed.
fn moves(old: &Plan, new: &Plan) -> Vec<Change> {
    let now: Vec<_> = arguments(new).collect();
    let moved = arguments(old).filter_map(|(before, name)| {
        let (now, _) = now.iter().find(|(_, other)| *other == name)?;
        if *now == before {
            return None;
        }
        let words = format!("{} is {now} instead of {before}", quote(name));
        let is_other = now.part() != before.part() || matches!(now, Place::Path(_));
        let change = if is_other { Change::breaking } else { Change::safe };
        Some(change(Aspect::Binding, words))
    });
    moved.collect()
}

/// Values that are always sent.
fn fixed(old: &Plan, new: &Plan) -> Vec<Change> {
    let fixed = |plan| {
        let all = values(plan).into_iter();
        let fixed = all.filter_map(|(place, source)| match source {
            Source::Fixed(value) => Some((place.to_string(), value)),
            _ => None,
        });
        fixed.collect::<Vec<(String, &Value)>>()
    };
    let (before, now) = (fixed(old), fixed(new));
    let more = now.iter().filter(|value| !before.contains(value));
    let more = more.map(|(place, value)| {
        let words = format!("always sends {} as {place}", quote(&value.to_string()));
        Change::breaking(Aspect::Binding, words)
    });
    let gone = before.iter().filter(|(place, _)| !now.iter().any(|(other, _)| other == place));
    let gone = gone.map(|(place, value)| {
        let words = format!("does not send {} as {place} any more", quote(&value.to_string()));
        Change::breaking(Aspect::Binding, words)
    });
    more.chain(gone).collect()
}
