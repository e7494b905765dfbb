//! Drawing toolsets at random for batch runs, so that a data set shows agents with many outfits.

use std::fmt;

use fastrand::Rng;

use crate::suggest;

/// A named distribution: toolsets in the order they are drawn, each with its chance in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// The name, as it is recorded with a batch.
    pub name: &'static str,
    /// Toolset and chance in percent.
    pub chances: &'static [(&'static str, u8)],
}

const fn distribution(name: &'static str, chances: &'static [(&'static str, u8)]) -> Distribution {
    Distribution { name, chances }
}

/// All distributions.
pub const DISTRIBUTIONS: &[Distribution] = &[
    distribution(
        "default",
        &[
            ("web", 100),
            ("vision", 100),
            ("image_gen", 100),
            ("terminal", 100),
            ("file", 100),
            ("browser", 100),
        ],
    ),
    distribution("image_gen", &[("image_gen", 90), ("vision", 90), ("web", 55), ("terminal", 45)]),
    distribution("research", &[("web", 90), ("browser", 70), ("vision", 50), ("terminal", 10)]),
    distribution(
        "science",
        &[
            ("web", 94),
            ("terminal", 94),
            ("file", 94),
            ("vision", 65),
            ("browser", 50),
            ("image_gen", 15),
        ],
    ),
    distribution("development", &[("terminal", 80), ("file", 80), ("web", 30), ("vision", 10)]),
    distribution("safe", &[("web", 80), ("browser", 70), ("vision", 60), ("image_gen", 60)]),
    distribution(
        "balanced",
        &[
            ("web", 50),
            ("vision", 50),
            ("image_gen", 50),
            ("terminal", 50),
            ("file", 50),
            ("browser", 50),
        ],
    ),
    distribution("minimal", &[("web", 100)]),
    distribution("terminal_only", &[("terminal", 100), ("file", 100)]),
    distribution("terminal_web", &[("terminal", 100), ("file", 100), ("web", 100)]),
    distribution("creative", &[("image_gen", 90), ("vision", 90), ("web", 30)]),
    distribution("reasoning", &[("web", 90), ("file", 60), ("terminal", 20)]),
    distribution("browser_use", &[("browser", 100), ("web", 80), ("vision", 70)]),
    distribution("browser_only", &[("browser", 100)]),
    distribution("browser_tasks", &[("browser", 97), ("vision", 12), ("terminal", 15)]),
    distribution(
        "terminal_tasks",
        &[
            ("terminal", 97),
            ("file", 97),
            ("web", 97),
            ("browser", 75),
            ("vision", 50),
            ("image_gen", 10),
        ],
    ),
    distribution(
        "mixed_tasks",
        &[
            ("browser", 92),
            ("terminal", 92),
            ("file", 92),
            ("web", 35),
            ("vision", 15),
            ("image_gen", 15),
        ],
    ),
];

/// No distribution has that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDistribution {
    /// The name given.
    pub name: String,
    /// The nearest distribution.
    pub nearest: Option<&'static str>,
}

impl fmt::Display for UnknownDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown distribution `{}`", self.name)?;
        self.nearest.iter().try_for_each(|nearest| write!(f, "; did you mean `{nearest}`?"))
    }
}

impl std::error::Error for UnknownDistribution {}

impl Distribution {
    /// The distribution of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Self, UnknownDistribution> {
        DISTRIBUTIONS.iter().find(|known| known.name == name).copied().ok_or_else(|| {
            let nearest = suggest::nearest(name, DISTRIBUTIONS.iter().map(|known| known.name));
            UnknownDistribution { name: name.to_owned(), nearest }
        })
    }

    /// Draws toolsets with the generator of one prompt of a run: the same seed and prompt always
    /// draw the same, whatever was drawn for other prompts.
    #[must_use]
    pub fn sample_seeded(
        &self,
        seed: u64,
        prompt: u64,
        is_valid: impl Fn(&str) -> bool,
    ) -> Vec<&'static str> {
        // Odd and far from any small number, so that neighbouring prompts get distant seeds.
        const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut rng = Rng::with_seed(seed.wrapping_add(prompt.wrapping_mul(STRIDE)));
        let chances = self.chances.iter().map(|&(name, chance)| (name, f64::from(chance)));
        sample(chances, is_valid, || rng.f64())
    }
}

/// Draws toolsets from chances in percent, each independently and in the given order.
///
/// `roll` gives numbers from 0 to below 1, one per valid toolset; toolsets that are not valid are
/// passed over without a roll. If none is drawn, the likeliest valid one is taken, the first of
/// them on a tie. Only without any valid toolset is the result empty.
pub fn sample<'a>(
    chances: impl IntoIterator<Item = (&'a str, f64)>,
    is_valid: impl Fn(&str) -> bool,
    mut roll: impl FnMut() -> f64,
) -> Vec<&'a str> {
    let mut drawn = Vec::new();
    let mut likeliest: Option<(&str, f64)> = None;
    for (name, chance) in chances.into_iter().filter(|(name, _)| is_valid(name)) {
        if likeliest.is_none_or(|(_, best)| chance > best) {
            likeliest = Some((name, chance));
        }
        if roll() * 100.0 < chance {
            drawn.push(name);
        }
    }
    if drawn.is_empty() {
        drawn.extend(likeliest.map(|(name, _)| name));
    }
    drawn
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ToolsetWorld;

    #[test]
    fn every_distribution_names_valid_toolsets() {
        let world = ToolsetWorld::builtin();
        let names: BTreeSet<_> = DISTRIBUTIONS.iter().map(|d| d.name).collect();
        assert_eq!((names.len(), DISTRIBUTIONS.len()), (17, 17));
        for (name, chance) in DISTRIBUTIONS.iter().flat_map(|d| d.chances) {
            assert!(world.is_valid(name) && *chance <= 100, "{name}");
        }
        let error = Distribution::named("reserch").unwrap_err();
        assert_eq!(error.to_string(), "unknown distribution `reserch`; did you mean `research`?");
    }

    #[test]
    fn a_roll_must_lie_below_the_chance() {
        let check = |chances: &[(&'static str, f64)], rolls: &[f64], expected: &[&str]| {
            let mut rolls = rolls.iter();
            let drawn =
                sample(chances.iter().copied(), |name| name != "ghost", || *rolls.next().unwrap());
            assert_eq!(drawn, expected, "{chances:?}");
            assert_eq!(rolls.next(), None);
        };
        check(&[("a", 50.0), ("b", 50.0)], &[0.5, 0.499], &["b"]);
        check(&[("a", 50.0), ("b", 50.0)], &[0.5, 0.5], &["a"]);
        check(&[("ghost", 99.0), ("a", 10.0), ("b", 20.0)], &[0.9, 0.9], &["b"]);
        check(&[("a", 0.0)], &[0.0], &["a"]);
        check(&[("ghost", 100.0)], &[], &[]);
        check(&[], &[], &[]);
    }

    #[test]
    fn a_seed_and_a_prompt_decide_the_draw() {
        let balanced = Distribution::named("balanced").unwrap();
        let draw = |seed, prompt| balanced.sample_seeded(seed, prompt, |_| true);
        assert_eq!(draw(7, 3), draw(7, 3));
        let over_prompts: BTreeSet<_> = (0..40).map(|prompt| draw(7, prompt)).collect();
        let over_seeds: BTreeSet<_> = (0..40).map(|seed| draw(seed, 0)).collect();
        assert!(over_prompts.len() > 10 && over_seeds.len() > 10);
        assert_eq!(Distribution::named("default").unwrap().sample_seeded(1, 1, |_| true).len(), 6);
    }
}
