//! What a node is shown as: the one kind it gets, and which alternatives are left to words.
//!
//! The decision looks at the node alone, never at its place in the tool or at what fits: the call
//! path asks the same question again to read a text back ([`super::shown_as_text`]), and must get the
//! same answer.

use super::{
    flat::{Flat, unique},
    kind::{Kind, Values},
    read::{Part, Reader},
    words,
};

/// How a node is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// As this kind.
    Kind(Kind),
    /// As a string that holds JSON.
    Text,
    /// As a string that is itself, or holds an object or array as JSON.
    StringOrText,
}

/// A node ready to be published.
pub(super) struct View<'a> {
    pub(super) shown: Shown,
    /// The node with the parts of its alternatives taken in, as far as they are shown.
    pub(super) flat: Flat<'a>,
    /// Every kind a value may have, in the given order; empty when nothing is said.
    pub(super) kinds: Vec<Kind>,
    /// What the alternatives are called; empty when there are none.
    pub(super) labels: Vec<String>,
}

impl View<'_> {
    /// A node of which nothing is known.
    pub(super) fn any() -> Self {
        Self { shown: Shown::Text, flat: Flat::default(), kinds: Vec::new(), labels: Vec::new() }
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.shown == Shown::Kind(kind)
    }
}

/// How an argument is shown: exactly one kind, chosen by the first rule that fits.
pub(super) fn input<'a>(reader: &Reader<'a>, part: &Part<'a>) -> View<'a> {
    let mut flat = reader.flatten(part);
    let members = reader.members(&mut flat);
    if members.is_empty() {
        return lone(reader, flat);
    }
    let base = flat.kinds();
    let members: Vec<_> =
        members.into_iter().map(|member| (alternatives(&member, &base), member)).collect();
    let labels = words::labels(members.iter().map(|(_, member)| member));
    if members.iter().any(|(kinds, _)| kinds.is_empty()) {
        return View { shown: Shown::Text, flat, kinds: Vec::new(), labels };
    }
    let kinds = distinct(members.iter().flat_map(|(kinds, _)| kinds.iter().copied()));
    let shown = pick(&kinds, repeats(reader, &members));
    if let Shown::Kind(kind) = shown {
        let chosen = members
            .into_iter()
            .filter(|(kinds, _)| kinds.contains(&kind))
            .map(|(_, member)| member);
        take_in(&mut flat, chosen.collect(), kind);
    }
    if kinds.len() > 1 && matches!(shown, Shown::Kind(Kind::String | Kind::Number)) {
        loosen(&mut flat);
    }
    View { shown, flat, kinds, labels }
}

/// What a reply is described by: the parts of all alternatives together.
pub(super) fn output<'a>(reader: &Reader<'a>, part: &Part<'a>) -> View<'a> {
    let mut flat = reader.flatten(part);
    let members = reader.members(&mut flat);
    let base = flat.kinds();
    let each: Vec<_> = members.iter().map(|member| alternatives(member, &base)).collect();
    let open = each.iter().any(Vec::is_empty);
    let kinds = match &each[..] {
        [] => base,
        _ if open => Vec::new(),
        each => distinct(each.iter().flatten().copied()),
    };
    let labels = words::labels(members.iter());
    members.iter().for_each(|member| flat.or(member));
    flat.values = flat.values.take().or_else(|| all_values(&members));
    let main = [Kind::Object, Kind::Array].into_iter().find(|kind| kinds.contains(kind));
    let shown = main.or(kinds.first().copied()).map_or(Shown::Text, Shown::Kind);
    View { shown, flat, kinds, labels }
}

/// A node without alternatives, but perhaps with a list of types.
fn lone<'a>(reader: &Reader<'a>, mut flat: Flat<'a>) -> View<'a> {
    let kinds = flat.kinds();
    let rest: Vec<_> = kinds.iter().copied().filter(|kind| *kind != Kind::Array).collect();
    let items = flat.items.as_ref().map(|items| input_kinds(reader, items));
    let repeats = rest.len() < kinds.len()
        && rest.iter().all(|kind| kind.is_scalar())
        && items.is_some_and(|items| same(&items, &rest));
    let mut shown = pick(&kinds, repeats);
    let mixed = |values: &Values<'_>| values.list.iter().any(|value| !value.is_string());
    if kinds.len() > 1
        && shown == Shown::Kind(Kind::String)
        && flat.values.as_ref().is_some_and(mixed)
    {
        shown = Shown::Text;
    }
    if kinds.len() > 1 && shown == Shown::Kind(Kind::String) {
        flat.format = None;
    }
    View { shown, flat, kinds, labels: Vec::new() }
}

/// The rules, in their order. `repeats` says that one value or an array of them is meant.
fn pick(kinds: &[Kind], repeats: bool) -> Shown {
    match kinds {
        [] => Shown::Text,
        [one] => Shown::Kind(*one),
        _ if repeats => Shown::Kind(Kind::Array),
        [Kind::Integer | Kind::Number, Kind::Integer | Kind::Number] => Shown::Kind(Kind::Number),
        _ if kinds.iter().all(|kind| kind.is_scalar()) => {
            if kinds.contains(&Kind::String) {
                Shown::Kind(Kind::String)
            } else {
                Shown::Text
            }
        }
        [Kind::String, ..] => Shown::StringOrText,
        [first, ..] => Shown::Kind(*first),
    }
}

/// The kinds of a member; one that says nothing has those of the node around it.
fn alternatives(member: &Flat<'_>, base: &[Kind]) -> Vec<Kind> {
    let kinds = member.kinds();
    if kinds.is_empty() { base.to_vec() } else { kinds }
}

/// Whether the members are `T` and arrays of `T`.
fn repeats<'a>(reader: &Reader<'a>, members: &[(Vec<Kind>, Flat<'a>)]) -> bool {
    let (arrays, singles): (Vec<_>, Vec<_>) =
        members.iter().partition(|(kinds, _)| kinds[..] == [Kind::Array]);
    let items: Vec<_> = arrays.iter().filter_map(|(_, array)| array.items.as_ref()).collect();
    let ([items], false) = (&items[..], singles.is_empty() || arrays.len() > 1) else {
        return false;
    };
    let item = reader.flatten(items);
    let kinds = distinct(singles.iter().flat_map(|(kinds, _)| kinds.iter().copied()));
    match &kinds[..] {
        [Kind::Object] => matches!(&singles[..], [(_, single)] if same_object(single, &item)),
        kinds if kinds.iter().all(|kind| kind.is_scalar()) => {
            same(&input_kinds(reader, items), kinds)
        }
        _ => false,
    }
}

fn same_object(one: &Flat<'_>, two: &Flat<'_>) -> bool {
    let names = |flat: &Flat<'_>| {
        flat.fields.iter().map(|(name, _)| *name).eq(two.fields.iter().map(|(name, _)| *name))
    };
    one.entries.first() == two.entries.first() && two.kinds() == [Kind::Object] && names(one)
}

/// All kinds of a part, alternatives included.
fn input_kinds<'a>(reader: &Reader<'a>, part: &Part<'a>) -> Vec<Kind> {
    let mut flat = reader.flatten(part);
    let members = reader.members(&mut flat);
    let base = flat.kinds();
    if members.is_empty() {
        return base;
    }
    distinct(members.iter().flat_map(|member| alternatives(member, &base)))
}

fn same(one: &[Kind], two: &[Kind]) -> bool {
    !one.is_empty() && one.len() == two.len() && one.iter().all(|kind| two.contains(kind))
}

fn distinct(kinds: impl Iterator<Item = Kind>) -> Vec<Kind> {
    kinds.fold(Vec::new(), |mut known, kind| {
        if !known.contains(&kind) {
            known.push(kind);
        }
        known
    })
}

/// Takes the members of the shown kind in: one as it is, several as alternatives.
fn take_in<'a>(flat: &mut Flat<'a>, mut members: Vec<Flat<'a>>, kind: Kind) {
    if members.len() == 1 {
        let texts = (flat.title, flat.description);
        members.drain(..).for_each(|member| flat.and(member));
        if !texts.1.text.is_empty() {
            (flat.title, flat.description) = texts;
        }
        return;
    }
    if kind.is_scalar() {
        flat.values = flat.values.take().or_else(|| all_values(&members));
        flat.format = flat.format.or_else(|| common_format(&members));
        flat.base64 |= members.iter().all(|member| member.base64);
        return;
    }
    members.iter().for_each(|member| flat.or(member));
}

/// Forgets what holds for some of the kinds only.
fn loosen(flat: &mut Flat<'_>) {
    flat.values = None;
    flat.format = None;
    flat.pattern = None;
    flat.bounds.clear();
}

/// The values of all members, when each lists its own.
fn all_values<'a>(members: &[Flat<'a>]) -> Option<Values<'a>> {
    let each: Option<Vec<_>> = members.iter().map(|member| member.values.as_ref()).collect();
    let each = each.filter(|each| !each.is_empty())?;
    let mut all = Values::default();
    for values in each {
        all.extend(values);
    }
    Some(all)
}

fn common_format<'a>(members: &[Flat<'a>]) -> Option<&'a str> {
    let formats: Vec<_> = members.iter().map(|member| member.format.unwrap_or_default()).collect();
    match unique(&formats)[..] {
        [format] if !format.is_empty() => Some(format),
        _ => None,
    }
}
