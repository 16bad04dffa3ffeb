//! From values to positions, and the ticks of an axis.

/// An axis that starts at `from` and ends at `to`, both in values and in positions.
#[derive(Clone, Debug)]
pub struct Scale {
    values: (f64, f64),
    positions: (f64, f64),
    is_logarithmic: bool,
    /// The values that are labelled.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// Creates an axis from `from` to at least `to`, which ends at a tick if `is_open`.
    pub fn linear((from, to): (f64, f64), positions: (f64, f64), is_open: bool) -> Self {
        let length = if to > from { to - from } else { 1.0 };
        // A label needs some room.
        let most = ((positions.1 - positions.0).abs() / 36.0).clamp(2.0, 6.0);
        let step = step(length / most);
        let (first, last) = ((from / step).ceil(), (from + length) / step);
        let last = if is_open { (last - 1e-9).ceil() } else { (last + 1e-9).floor() };
        let ticks = (0_u32..50).map(|number| first + f64::from(number)).take_while(|&tick| tick <= last);
        let ticks: Vec<f64> = ticks.map(|tick| tick * step).collect();
        let end = if is_open { ticks.last().copied().unwrap_or(to) } else { from + length };
        Self { values: (from, end), positions, is_logarithmic: false, ticks }
    }

    /// Creates a logarithmic axis with the powers of ten around the positive values.
    pub fn logarithmic((from, to): (f64, f64), positions: (f64, f64)) -> Self {
        let (from, to) = (from.max(1e-3).log10().floor(), to.max(1e-3).log10().ceil());
        let to = to.max(from + 1.0);
        #[expect(clippy::cast_possible_truncation, reason = "an axis has few ticks")]
        let ticks = (from as i32..=to as i32).map(|power| 10_f64.powi(power)).collect();
        Self { values: (from, to), positions, is_logarithmic: true, ticks }
    }

    /// Returns the position of a value, within the axis.
    pub fn at(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.max(1e-9).log10() } else { value };
        let part = ((value - self.values.0) / (self.values.1 - self.values.0)).clamp(0.0, 1.0);
        self.positions.0 + part * (self.positions.1 - self.positions.0)
    }
}

/// Returns the smallest of 1, 2, 2.5 and 5 times a power of ten that is not below a length.
fn step(length: f64) -> f64 {
    let power = 10_f64.powf(length.log10().floor());
    [1.0, 2.0, 2.5, 5.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|&step| step >= length * 0.999)
        .unwrap_or(10.0 * power)
}

/// Returns a number for an axis or a sentence: three significant digits, and commas in thousands.
pub fn number(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    let text = fixed(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns a number with this many decimals and with commas in thousands. Zero has no decimals.
pub fn fixed(value: f64, decimals: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.decimals$}");
    let digits = text.find('.').unwrap_or(text.len());
    match text.split_at_checked(digits.saturating_sub(3)) {
        Some((thousands, rest)) if !thousands.trim_start_matches('-').is_empty() => format!("{thousands},{rest}"),
        _ => text,
    }
}
