//! The prompts: the same ones in each run.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

pub(crate) const PROMPTS: u32 = 400;

pub(crate) struct Prompt {
    pub(crate) number: u32,
    pub(crate) tokens: u32,
}

/// Returns prompts of 100 to 4,000 tokens. Each order of magnitude is equally frequent.
pub(crate) fn prompts() -> Vec<Prompt> {
    let mut random = SmallRng::seed_from_u64(400);
    let prompt = |number| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 100 to 4,000")]
        let tokens = (100.0 * 40_f64.powf(random.random())) as u32;
        Prompt { number, tokens }
    };
    (0..PROMPTS).map(prompt).collect()
}
