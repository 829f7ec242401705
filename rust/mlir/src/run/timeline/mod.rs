//! `--timeline`: the run as one HTML page that needs nothing else.
//!
//! The page is [`page.html`](PAGE) with style, script and data put in: `draw.js` draws, `page.js` has
//! the words, the keys and the mouse. Here is the data: arrays rather than objects, for there are
//! many. The first element of `fields` of each list says what is where.

use pto_ir::{Engine, Severity};
use pto_machine::trace::{Event, Problem, Rect, Span, Trace};
use serde_json::{Value, json};

use super::looking::{Axis, Texts, decoded};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("draw.js"), include_str!("page.js"));

/// The page for a run of `file`.
pub(super) fn page(trace: &Trace, texts: &Texts, axis: &Axis, file: &str) -> String {
    // Inside a script element nothing ends the element but its end tag.
    let data = data(trace, texts, axis, file)
        .to_string()
        .replace('<', "\\u003c");
    let title = match file {
        "-" => "standard input".to_owned(),
        file => escaped(file),
    };
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    for piece in PAGE.split_inclusive("}}") {
        let Some((text, name)) = piece
            .strip_suffix("}}")
            .and_then(|text| text.split_once("{{"))
        else {
            page.push_str(piece);
            continue;
        };
        page.push_str(text);
        page.push_str(match name {
            "title" => &title,
            "style" => STYLE,
            "script" => SCRIPT,
            "data" => &data,
            _ => "",
        });
    }
    page
}

fn data(trace: &Trace, texts: &Texts, axis: &Axis, file: &str) -> Value {
    let target = trace.target;
    let mut words: Vec<String> = Vec::new();
    let events: Vec<Value> = trace
        .events
        .iter()
        .map(|event| self::event(event, texts, &mut words))
        .collect();
    let sites: Vec<Value> = texts
        .all()
        .iter()
        .map(|text| json!([text.line, text.name, text.location]))
        .collect();
    json!({
        "file": file,
        "target": axis.target,
        "banks": target.banks,
        "bankBytes": target.bank_bytes,
        "partitions": target.partitions,
        "quadrant": target.quadrant_partitions,
        "cycles": trace.cycles(),
        "groups": trace.groups,
        "leftOut": trace.left_out,
        "engines": Engine::ALL.map(Engine::name),
        "fields": {
            "sites": ["text", "name", "location"],
            "events": ["site", "repetition", "engine", "start", "end", "flags", "group",
                       "region: first bank, last bank, first partition, partitions end",
                       "reads: bank, partitions, bytes", "writes", "after: event, why"],
            "spans": ["bank", "first partition", "partitions end", "first byte", "bytes end", "state",
                      "clobbered", "group", "from", "last use", "start", "used until", "end"],
            "problems": ["severity", "tag", "message", "event", "earlier: event, why"],
        },
        "sites": sites,
        "words": words,
        "events": events,
        "spans": trace.spans.iter().map(|span| self::span(trace, span)).collect::<Vec<_>>(),
        "problems": trace.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

/// One event. What its flags mean goes to `words`, each sentence once.
fn event(event: &Event, texts: &Texts, words: &mut Vec<String>) -> Value {
    let flags = event.flags.map(|flags| {
        let sentence = decoded(flags, event.region.as_ref());
        let known = words.iter().position(|known| *known == sentence);
        known.unwrap_or_else(|| {
            words.push(sentence);
            words.len() - 1
        })
    });
    let region = event.region.map(|region| {
        let (banks, partitions) = (region.banks, region.partitions);
        json!([banks.start, banks.end - 1, partitions.start, partitions.end])
    });
    let rects = |rects: &[Rect]| rects.iter().map(rect).collect::<Vec<_>>();
    let after: Vec<Value> = event
        .after
        .iter()
        .map(|wait| json!([wait.on, wait.kind.name()]))
        .collect();
    json!([
        texts.number(event),
        event.repetition,
        event.engine as u32,
        event.start,
        event.end,
        flags,
        event.group,
        region,
        rects(&event.reads),
        rects(&event.writes),
        after,
    ])
}

fn rect(rect: &Rect) -> Value {
    let (partitions, bytes) = (rect.partitions, rect.bytes);
    json!([
        rect.bank,
        partitions.start,
        partitions.end,
        bytes.start,
        bytes.end
    ])
}

fn span(trace: &Trace, span: &Span) -> Value {
    let (start, used, end) = trace.times(span);
    let Rect {
        bank,
        partitions,
        bytes,
    } = span.rect;
    json!([
        bank,
        partitions.start,
        partitions.end,
        bytes.start,
        bytes.end,
        span.state.name(),
        span.clobbered,
        span.group,
        span.from,
        span.last_use,
        start,
        used,
        end,
    ])
}

fn problem(problem: &Problem) -> Value {
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    };
    json!([
        severity,
        problem.tag,
        problem.message,
        problem.event,
        problem.earlier
    ])
}

/// `text` as it is written between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_place_for_each_part_and_asks_for_nothing_else() {
        for name in ["title", "style", "script", "data"] {
            assert!(PAGE.contains(&format!("{{{{{name}}}}}")), "{name}");
        }
        for part in [PAGE, STYLE, SCRIPT] {
            assert!(!part.contains("://") && !part.contains("import "));
        }
        assert!(PAGE.contains("default-src 'none'"), "nothing may be loaded");
        assert!(
            !SCRIPT.contains("</script"),
            "the end tag would end the script"
        );
        assert_eq!(escaped("a<b>&c"), "a&lt;b&gt;&amp;c");
    }
}
