//! What must hold for arbitrary bytes. The fuzz targets call these functions without end, a test calls
//! them on every file that a fuzz target once found (`fuzz/regressions`).

use pto_ir::{Program, Target};
use pto_passes::{
    alloc_psum, legalize_acc, mark_first, order_column_tiles, reset_acc, schedule, validate,
    verify_acc,
};

use crate::generate::random::Listed;
use crate::generate::{Profile, recipe};
use crate::properties::{all_hold, without_panic};
use crate::text::{parse, print};

const TARGETS: [&str; 4] = ["trn1", "trn2", "trn3", "nogroup"];

/// Bytes as the text of a program: it is refused, or it prints and parses back; and no pass panics,
/// loops or contradicts its own proof on it.
///
/// # Errors
///
/// What does not hold.
pub fn text(bytes: &[u8]) -> Result<(), String> {
    let Ok(program) = std::str::from_utf8(bytes)
        .map_err(drop)
        .and_then(|text| parse(text).map_err(drop))
    else {
        return Ok(());
    };
    let printed = print(&program);
    match parse(&printed) {
        Ok(again) if print(&again) == printed => {}
        Ok(_) => return Err(format!("printed text reads as another program\n{printed}")),
        Err(error) => return Err(format!("printed text is refused: {error}\n{printed}")),
    }
    for target in TARGETS.into_iter().filter_map(Target::from_name) {
        without_panic(&program, || no_pass_contradicts_itself(&program, target))?;
    }
    Ok(())
}

fn no_pass_contradicts_itself(program: &Program, target: &'static Target) -> Result<(), String> {
    let plans = [
        legalize_acc::plan(program, target, &legalize_acc::Options::default()),
        mark_first::plan(program, target, &mark_first::Options::default()),
        order_column_tiles::plan(program, target, &order_column_tiles::Options::default()),
        reset_acc::plan(program, target, &reset_acc::Options::default()),
        alloc_psum::plan(program, target, &alloc_psum::Options::default()),
        schedule::plan(program, target, &schedule::Options::default()),
    ];
    for plan in plans {
        let (diags, after) = match plan {
            Ok(plan) => (plan.diags.clone(), Some(plan.applied_to(program))),
            Err(diags) => (diags, None),
        };
        let findings =
            |program| verify_acc::verify(program, target, &verify_acc::Options::default());
        let later = after.as_ref().map(findings).unwrap_or_default();
        if let Some(after) = &after {
            // Whether they are equal is a question of its own; that it is answered is what counts.
            _ = validate::validate(program, after, target, validate::Options::default());
        }
        let own = |diag: &&pto_ir::Diag| diag.tag.starts_with("pto:internal");
        if let Some(diag) = diags.iter().chain(&later).find(own) {
            return Err(format!("{}\n{}", diag.text(), print(program)));
        }
    }
    Ok(())
}

/// Bytes as choices of the generator: every property holds of the program they make. The first byte
/// chooses the target and whether there are loops and branches.
///
/// # Errors
///
/// The property that does not hold, with the program.
pub fn programs(bytes: &[u8]) -> Result<(), String> {
    let Some((&first, rest)) = bytes.split_first() else {
        return Ok(());
    };
    let Some(target) = Target::from_name(TARGETS[usize::from(first) % 3]) else {
        return Ok(());
    };
    let profile = Profile {
        regions: first >= 128,
        ..Profile::AUTO
    };
    // Choices are fractions of 2^32; a byte is enough for most, and easy to mutate.
    let choices: Vec<u32> = rest.iter().map(|&byte| u32::from(byte) << 24).collect();
    let program = recipe(&mut Listed::new(&choices), target, profile).build(target);
    without_panic(&program, || all_hold(&program, target, u64::from(first))).map(drop)
}
