//! One operation on its way to a tool: everything but what needs the whole toolset.
//!
//! A draft depends on its own operation and its own allowlist entry alone, so that an edit elsewhere
//! in the document changes no byte of it. Its checker is compiled last, when the schemas that all
//! tools of a toolset share are complete.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::{
    Settings, Tool, ToolName,
    bundle::{Bundle, Sealed},
    check::{self, Checker, Checking, StandIn},
    findings::Refusal,
    hints::Hints,
    input::{self, Form, Input},
    name,
    output::{self, Output},
    path::{self, Template},
    plan::{Plan, Shape},
    portable,
    select::Pick,
    text,
    view::View,
};
use crate::{
    allowlist::Allowlist,
    diagnostic::Diagnostic,
    openapi::{Api, Details, Fault},
};

/// What all drafts of a toolset are made with.
pub(super) struct Workshop<'a> {
    /// The document.
    pub(super) api: &'a Api,
    /// The allowlist.
    pub(super) allowlist: &'a Allowlist,
    /// Defaults and the target.
    pub(super) settings: &'a Settings,
    /// The document's schemas as requests see them.
    pub(super) view: &'a View<'a>,
}

/// A tool without its checker.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// The operation and its entry.
    pub(super) pick: Pick<'a>,
    /// The tool's name.
    pub(super) name: ToolName,
    aliases: Vec<ToolName>,
    listed: Map<String, Value>,
    input: Input,
    checking: Checking,
    plan: Plan,
}

impl<'a> Draft<'a> {
    /// Builds one operation.
    ///
    /// # Errors
    /// What the document or the allowlist has wrong, all at once.
    pub(super) fn build(
        pick: &Pick<'a>,
        workshop: &Workshop<'_>,
        bundle: &mut Bundle<'_>,
    ) -> Result<Self, Refusal> {
        let names = Names::of(pick, workshop)?;
        let operation = pick.operation;
        let path = pick.changes().path.as_ref().map(|path| path.value.as_str());
        let details = workshop
            .api
            .details(operation, path)
            .map_err(|faults| unfit(pick, workshop.api, faults))?;
        let template = template(pick)?;
        let of = (&details, &operation.key.method, &template);
        let input = input::build(of, workshop.view, pick.changes())?;
        let checking = checking(&input, bundle).map_err(Refusal::fault)?;
        let published =
            portable::input(&input.published(), &|reference| workshop.view.get(reference)).schema;
        let resolve = |reference: &str| workshop.api.schema(reference);
        let Output { shape, schema: output, .. } = output::output(&details.replies, &resolve);
        let hints = Hints::new(&operation.key.method, pick.changes().annotations);
        let body_as_text = check::shows_body_as_text(&input, &published, workshop.view);
        let parts = Parts { details, template, input: &input, body_as_text, shape, hints };
        let plan = plan(pick, workshop, &parts)?;
        let is_shown = pick.changes().output.unwrap_or(workshop.allowlist.output);
        let output = Some(output).filter(|_| is_shown);
        let listed = listed(pick, workshop, &names.name, (published, output, hints));
        let Names { name, aliases } = names;
        Ok(Self { pick: pick.clone(), name, aliases, listed, input, checking, plan })
    }

    /// All names it answers to.
    pub(super) fn names(&self) -> impl Iterator<Item = &ToolName> {
        std::iter::once(&self.name).chain(&self.aliases)
    }

    /// The finished tool.
    ///
    /// # Errors
    /// When its checking schema does not compile.
    pub(super) fn finish(self, sealed: &Sealed, workshop: &Workshop<'_>) -> Result<Tool, Refusal> {
        let published = self.listed.get("inputSchema").and_then(Value::as_object);
        let published = published.cloned().unwrap_or_default();
        let input = (&self.input, &published, workshop.view);
        let limits = &workshop.settings.limits;
        let operation = self.pick.operation;
        let broken = |words| Refusal::fault(Fault { pointer: operation.pointer.clone(), words });
        let unfit = check::unfit(&self.checking.stand_ins, sealed).map_err(broken)?;
        if !unfit.is_empty() {
            return Err(Refusal::Allowlist(unfit));
        }
        let checker = Checker::compile(&self.checking, sealed, input, limits).map_err(broken)?;
        Ok(Tool {
            name: self.name,
            aliases: self.aliases,
            key: operation.key.clone(),
            operation_id: own_id(&self.pick).map(str::to_owned),
            listed: self.listed,
            checker,
            plan: self.plan,
        })
    }
}

/// The operationId, when no other operation has the same.
fn own_id<'a>(pick: &Pick<'a>) -> Option<&'a str> {
    pick.operation.id.as_deref().filter(|_| !pick.operation.shared_id)
}

struct Names {
    name: ToolName,
    aliases: Vec<ToolName>,
}

impl Names {
    fn of(pick: &Pick<'_>, workshop: &Workshop<'_>) -> Result<Self, Refusal> {
        let changes = pick.changes();
        let mut faults = Vec::new();
        let mut read = |name: &crate::allowlist::Located<String>| {
            let read = ToolName::try_from(name.value.as_str());
            read.map_err(|words| faults.push(Diagnostic::error(words).at(name.position.clone())))
                .ok()
        };
        let given = changes.name.as_ref().map(&mut read);
        let aliases = changes.aliases.iter().filter_map(&mut read).collect();
        if !faults.is_empty() {
            return Err(Refusal::Allowlist(faults));
        }
        let derived =
            || name::derived(&workshop.allowlist.prefix, own_id(pick), &pick.operation.key);
        Ok(Self { name: given.flatten().unwrap_or_else(derived), aliases })
    }
}

/// What the document or the allowlist's own path gets wrong; the latter stands in the allowlist.
fn unfit(pick: &Pick<'_>, api: &Api, faults: Vec<Fault>) -> Refusal {
    let Some(path) = &pick.changes().path else { return Refusal::from_api(api, faults) };
    let quoted = format!("`{}`", path.value);
    if !faults.iter().all(|fault| fault.words.contains(&quoted)) {
        return Refusal::from_api(api, faults);
    }
    let fault = |fault: Fault| {
        Diagnostic::error(format!("`{}`: {}", pick.operation.key, fault.words))
            .at(path.position.clone())
            .help("`path` must have the placeholders of the operation's path parameters")
    };
    Refusal::Allowlist(faults.into_iter().map(fault).collect())
}

/// The path template: the allowlist's, else the document's.
fn template(pick: &Pick<'_>) -> Result<Template, Refusal> {
    if let Some(path) = &pick.changes().path {
        return parsed(&path.value).map_err(|words| {
            Refusal::Allowlist(vec![Diagnostic::error(words).at(path.position.clone())])
        });
    }
    let operation = pick.operation;
    parsed(&operation.key.path)
        .map_err(|words| Refusal::fault(Fault { pointer: operation.pointer.clone(), words }))
}

fn parsed(path: &str) -> Result<Template, String> {
    match climbing(path) {
        Some(segment) => Err(format!("path `{path}` holds `{segment}`, which leads elsewhere")),
        None => path::parse(path),
    }
}

/// A segment that many servers read as steps through other paths once they have decoded it: such a
/// path would leave the base path, and pass by what `deny` says of its real form.
fn climbing(path: &str) -> Option<&str> {
    let encoded = path.split('/').filter(|segment| segment.contains('%'));
    encoded.into_iter().find(|segment| {
        let decoded = percent_decode_str(segment).decode_utf8_lossy();
        decoded.split(['/', '\\']).any(|step| matches!(step, "." | ".."))
    })
}

fn checking(input: &Input, bundle: &mut Bundle<'_>) -> Result<Checking, Fault> {
    let root = bundle.add(&input.checking())?;
    let rules = match &input.form {
        Form::Fields { rules, .. } if !rules.is_empty() => {
            Some(bundle.add(&json!({ "allOf": rules }))?)
        }
        Form::Fields { .. } | Form::Whole(_) | Form::None => None,
    };
    let mut stand_ins = Vec::new();
    for slot in &input.slots {
        if let (Some(value), Some(position)) = (slot.source.stand_in(), &slot.stand_in_at) {
            let schema = bundle.add(&slot.schema)?;
            let (argument, position) = (slot.argument.clone(), position.clone());
            stand_ins.push(StandIn { argument, schema, value: value.clone(), position });
        }
    }
    Ok(Checking { root, rules, stand_ins })
}

struct Parts<'a> {
    details: Details,
    template: Template,
    input: &'a Input,
    body_as_text: bool,
    shape: Shape,
    hints: Hints,
}

fn plan(pick: &Pick<'_>, workshop: &Workshop<'_>, parts: &Parts<'_>) -> Result<Plan, Refusal> {
    let Workshop { allowlist, settings, .. } = workshop;
    let changes = pick.changes();
    let base = settings.target.base_path.clone();
    let make = super::place::Make {
        method: pick.operation.key.method.clone(),
        base_path: base.unwrap_or_else(|| path::encoded(&parts.details.server_path)),
        body_as_text: parts.body_as_text,
        shape: parts.shape,
        response_headers: changes.response_headers.iter().map(|name| name.value.clone()).collect(),
        reads: parts.hints.read_only,
        timeout: changes.timeout.or(allowlist.timeout).unwrap_or(settings.limits.call_time),
        max_response: changes
            .max_response
            .or(allowlist.max_response)
            .unwrap_or(settings.limits.reply),
    };
    make.plan(parts.input, &parts.template, allowlist.resource_names)
        .map_err(|words| Refusal::fault(Fault { pointer: pick.operation.pointer.clone(), words }))
}

type Shown = (Map<String, Value>, Option<Map<String, Value>>, Hints);

/// The tool as `tools/list` shows it.
fn listed(
    pick: &Pick<'_>,
    workshop: &Workshop<'_>,
    name: &ToolName,
    (input, output, hints): Shown,
) -> Map<String, Value> {
    let (operation, changes) = (pick.operation, pick.changes());
    let parts = text::Parts {
        summary: &operation.summary,
        description: &operation.description,
        fallback: operation.key.to_string(),
        deprecated: operation.deprecated,
    };
    let title = text::title(changes.title.as_deref(), &operation.summary, name.as_str());
    let description = text::description(changes.description.as_deref(), parts);
    let mut meta = Map::new();
    if let Some(id) = own_id(pick) {
        meta.insert("operationId".into(), id.into());
    }
    meta.insert("method".into(), operation.key.method.as_str().into());
    meta.insert("path".into(), operation.key.path.as_str().into());
    meta.insert("toolset".into(), workshop.allowlist.name.as_str().into());
    let mut listed = Map::new();
    listed.insert("name".into(), name.as_str().into());
    listed.insert("title".into(), title.into());
    listed.insert("description".into(), description.into());
    listed.insert("inputSchema".into(), input.into());
    if let Some(output) = output {
        listed.insert("outputSchema".into(), output.into());
    }
    listed.insert("annotations".into(), hints.listed().into());
    listed.insert("_meta".into(), meta.into());
    listed
}
