//! What an editor tells of a matmul: its flags in words, its zero region, its chain and cluster.
//!
//! Flags and region are those written. Chain and cluster are what `pto-legalize-acc` finds: it is run
//! on the function as it would be with everything derived taken away, so a function may be explained
//! before it is legalized and after. Where it cannot be legalized, its first error is the explanation.
//! Nothing is changed; the explanations are remarks, in Markdown, one at each matmul.

use pto_ir::{AccFlags, Diag, InstId, Matmul, Plan, Program, Site, Target, ZeroWindow};
use serde_json::Value;

use crate::{legalize_acc, reset_acc};

/// The name of the remarks.
const NAME: &str = "pto.explain";

/// A remark at each matmul of `program`.
///
/// # Errors
///
/// None of its own: those of [`reset_acc::plan`].
pub fn plan(program: &Program, target: &'static Target) -> Result<Plan, Vec<Diag>> {
    let reset = reset_acc::plan(program, target, &reset_acc::Options::default())?;
    let options = legalize_acc::Options {
        report: true,
        ..legalize_acc::Options::default()
    };
    let derived = legalize_acc::plan(&reset.applied_to(program), target, &options);
    let mut places = vec![None; program.insts().len()];
    let reason = match derived {
        Ok(plan) => {
            fill_places(&mut places, plan.report.as_deref().unwrap_or("{}"));
            None
        }
        Err(errors) => errors.into_iter().next(),
    };
    let mut plan = Plan::default();
    for id in program.walk() {
        if let Some(matmul) = program.inst(id).matmul() {
            let own = own_facts(program, matmul, target);
            let mut remark = Diag::remark(NAME, Site::Inst(id), own);
            match (&places[id.index()], &reason) {
                (Some(place), _) => add_place(&mut remark, place),
                (None, Some(error)) => {
                    remark.message.push_str("\n\nNo chain: ");
                    remark.message.push_str(&error.text());
                }
                (None, None) => {}
            }
            plan.diags.push(remark);
        }
    }
    Ok(plan)
}

/// Where a matmul is among chains and clusters.
#[derive(Clone)]
struct Place {
    chain: usize,
    number: usize,
    members: usize,
    begins_on: String,
    cluster: usize,
    chains: usize,
    banks: (u64, u64),
    decision: String,
    head: usize,
}

/// Reads the report of the legalizer.
fn fill_places(places: &mut [Option<Place>], report: &str) {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let index = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let mut chain_number = 0;
    for (cluster_number, cluster) in list(&report["clusters"]).iter().enumerate() {
        let chains = list(&cluster["chains"]);
        let bank = |end: usize| cluster["banks"][end].as_u64().unwrap_or(0);
        for chain in &chains {
            let members = list(&chain["members"]);
            for (number, member) in members.iter().enumerate() {
                if let Some(place) = places.get_mut(index(member)) {
                    *place = Some(Place {
                        chain: chain_number,
                        number: number + 1,
                        members: members.len(),
                        begins_on: text(&chain["begins_on"]),
                        cluster: cluster_number,
                        chains: chains.len(),
                        banks: (bank(0), bank(1)),
                        decision: text(&cluster["decision"]).replace('-', " "),
                        head: index(&cluster["head"]),
                    });
                }
            }
            chain_number += 1;
        }
    }
}

/// Flags and zero region, as written.
fn own_facts(program: &Program, matmul: &Matmul, target: &Target) -> String {
    let Some(flags) = matmul.flags else {
        return "Flags: auto, `pto-legalize-acc` derives them.".to_owned();
    };
    let may = match (matmul.start_if.is_some(), matmul.stop_if.is_some()) {
        (false, false) => "",
        (true, false) => " START may be added by `start_if`.",
        (false, true) => " STOP may be added by `stop_if`.",
        (true, true) => " START and STOP may be added by `start_if` and `stop_if`.",
    };
    let facts = format!(
        "Flags: `{flags}` (byte {}): {}.{may}",
        flags.byte(),
        flags.role()
    );
    match region(program, matmul, flags, target) {
        Some(region) => format!("{facts}\n\n{region}"),
        None => facts,
    }
}

/// The zero region of a START or ACCUMULATE, if the destination is placed.
fn region(program: &Program, matmul: &Matmul, flags: AccFlags, target: &Target) -> Option<String> {
    if !flags.starts() && !flags.accumulates() {
        return None;
    }
    let place = program.alloc(program.access(matmul.dst).alloc).placement?;
    let spans = program.bytes(matmul.dst);
    let bank_of = |byte: u32| {
        let first = u64::from(place.bank) * u64::from(target.bank_bytes) + u64::from(place.offset);
        ((first + u64::from(byte)) / u64::from(target.bank_bytes)) as u32
    };
    let first = bank_of(spans.first()?.start);
    let last = bank_of(spans.last()?.end.checked_sub(1)?);
    let window = match matmul.zero_region {
        Some(code) if code <= target.max_zero_region_code => ZeroWindow::of_bank(first, code),
        Some(_) => return None,
        None => ZeroWindow::covering(first, last, target.banks, target.max_zero_region_code)?,
    };
    let partitions = matmul.column_group(target);
    Some(format!(
        "Zero region: code {}, banks {}-{}, partitions {}-{}.",
        window.code,
        window.first,
        window.last(),
        partitions.start,
        partitions.end - 1
    ))
}

fn add_place(remark: &mut Diag, place: &Place) {
    let Place {
        chain,
        number,
        members,
        begins_on,
        cluster,
        chains,
        banks: (first, last),
        decision,
        head,
    } = place;
    let several = if *chains == 1 { "" } else { "s" };
    remark.message.push_str(&format!(
        "\n\nChain {chain}: member {number} of {members}, begins on {begins_on}.\n\n\
         Cluster {cluster}: {chains} chain{several} in banks {first}-{last}, decided: {decision}."
    ));
    let head = Site::Inst(InstId::new(*head));
    remark.notes.push((head, "its head".to_owned()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use pto_testkit::text;

    fn explained(source: &str) -> Vec<String> {
        let program = text::parse(source).expect("valid text");
        let target = Target::from_name("trn2").expect("a target");
        let plan = plan(&program, target).expect("a reset is always possible");
        assert!(plan.is_empty(), "nothing is changed");
        plan.diags.into_iter().map(|diag| diag.message).collect()
    }

    #[test]
    fn before_and_after_legalization() {
        let auto = "func f; alloc a bank 0 u0..4; alloc b bank 0 u4..8
            mm a; mma b; mma a; read a; mma b; read b";
        let told = explained(auto);
        assert_eq!(told.len(), 4);
        assert!(told[0].starts_with("Flags: auto"), "{}", told[0]);
        let chain = "Chain 0: member 2 of 2, begins on nothing.";
        assert!(told[2].contains(chain), "{}", told[2]);
        assert!(
            told[2].contains("Cluster 0: 2 chains in banks 0-0"),
            "{}",
            told[2]
        );
        let legal = "func f; legalized; alloc a bank 0 u0..4
            mm a acc<start> region 0; mma a acc<stop> region 0; read a";
        let told = explained(legal);
        let first = "Flags: `start` (byte 1): opens a group.\n\n\
                     Zero region: code 0, banks 0-0, partitions 0-127.";
        assert!(told[0].starts_with(first), "{}", told[0]);
        assert!(told[1].contains("member 2 of 2"), "{}", told[1]);
    }

    #[test]
    fn what_cannot_be_legalized_says_why() {
        let told = explained("func f; alloc a unplaced q0..4 u0..4; mm a acc<start|stop>");
        assert!(told[0].contains("\n\nNo chain: "), "{}", told[0]);
        assert!(told[0].ends_with("[pto:unplaced]"), "{}", told[0]);
    }
}
