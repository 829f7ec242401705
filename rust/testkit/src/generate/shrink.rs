//! Making a failing recipe small.

use super::recipe::{Recipe, Step};

/// What `check` finds fault with in `recipe`, made as small as it still fails; `None` where it finds nothing.
pub fn smallest_fault<F>(recipe: &Recipe, check: F) -> Option<String>
where
    F: Fn(&Recipe) -> Result<(), String>,
{
    check(recipe).err().map(|fault| {
        let small = shrink(recipe, |smaller| check(smaller).is_err());
        check(&small).err().unwrap_or(fault)
    })
}

/// A recipe that still `fails` and from which no single step can be taken and no piece made whole.
/// `recipe` itself must fail.
pub fn shrink(recipe: &Recipe, fails: impl Fn(&Recipe) -> bool) -> Recipe {
    let mut best = recipe.clone();
    loop {
        let Some(smaller) = candidates(&best)
            .into_iter()
            .find(|candidate| fails(candidate))
        else {
            return best;
        };
        best = smaller;
    }
}

/// Recipes that are simpler by one change.
fn candidates(recipe: &Recipe) -> Vec<Recipe> {
    let mut result = Vec::new();
    for index in 0..recipe.steps.len() {
        let mut fewer = recipe.clone();
        fewer.steps.remove(index);
        result.push(fewer);
    }
    for (index, step) in recipe.steps.iter().enumerate() {
        let Step::Inst(kind, buffer, piece, Some(_)) = step else {
            continue;
        };
        let mut freer = recipe.clone();
        freer.steps[index] = Step::Inst(*kind, *buffer, piece.clone(), None);
        result.push(freer);
    }
    let is_used = |buffer| {
        let uses = |step: &Step| matches!(step, Step::Inst(_, used, _, _) if *used == buffer);
        recipe.steps.iter().any(uses)
    };
    if let Some(unused) = (0..recipe.buffers.len()).find(|&buffer| !is_used(buffer)) {
        result.push(without_buffer(recipe, unused));
    }
    result
}

fn without_buffer(recipe: &Recipe, unused: usize) -> Recipe {
    let mut fewer = recipe.clone();
    fewer.buffers.remove(unused);
    for step in &mut fewer.steps {
        if let Step::Inst(_, buffer, _, _) = step
            && *buffer > unused
        {
            *buffer -= 1;
        }
    }
    fewer
}
