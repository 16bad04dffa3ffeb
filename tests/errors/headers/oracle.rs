//! An independent parser for the headers by which a server asks for a wait. It reads a value loosely, formats the
//! result strictly, and compares the two texts.
//!
//! The tests and the fuzz target compare the real parser with it. The fuzz target includes this file by its path, so it
//! must not use anything else of this crate.

use std::time::Duration;

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Returns the number in a value, saturating at `u64::MAX`, or `None` if the value is not only digits.
pub(crate) fn number(value: &str) -> Option<u64> {
    let digits = trim(value);
    let accepted = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
    accepted.then(|| {
        digits.bytes().fold(0_u64, |number, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
    })
}

/// Returns a number of seconds with a fraction, rounded up to a millisecond, or `None` if the value is in another form.
pub(crate) fn fraction(value: &str) -> Option<Duration> {
    let text = trim(value);
    let is_in_form = text.split('.').count() == 2
        && text.split('.').all(|part| !part.is_empty() && part.chars().all(|digit| digit.is_ascii_digit()));
    is_in_form.then(|| {
        let (whole, places) = text.split_at(text.find('.').unwrap_or_default());
        let Ok(whole) = whole.parse() else { return Duration::MAX };
        let padded = format!("{}000", &places[1..]);
        let (millis, rest) = padded.split_at(3);
        let cut = u64::from(rest.contains(|digit| digit != '0'));
        Duration::from_secs(whole).saturating_add(Duration::from_millis(millis.parse::<u64>().unwrap_or(0) + cut))
    })
}

/// Returns the time of a date in seconds since 1970, or `None` if the value is in none of the forms of a date.
pub(crate) fn date(value: &str) -> Option<u64> {
    let text = trim(value);
    let month = MONTHS.iter().position(|month| text.contains(month))?;
    // A number that does not fit into a `u16` is dropped here. The comparison at the end then fails.
    let runs = text.split(|character: char| !character.is_ascii_digit());
    let numbers: Vec<u64> = runs.filter_map(|run| run.parse::<u16>().ok()).map(u64::from).collect();
    let &[day, second, third, fourth, fifth] = numbers.as_slice() else { return None };
    // The year is the second number, or the last one in the form of asctime.
    [(second, [third, fourth, fifth]), (fifth, [second, third, fourth])].into_iter().find_map(|(year, time)| {
        let year = match year {
            0..70 => 2000 + year,
            70..100 => 1900 + year,
            _ => year,
        };
        let seconds = seconds(year, month, day, time)?;
        forms(seconds).iter().any(|form| form == text).then_some(seconds)
    })
}

/// Formats a time in all forms: the preferred one, that of RFC 850, and that of asctime with its day padded by a space
/// and by a zero.
pub(crate) fn forms(seconds: u64) -> [String; 4] {
    let (mut day, mut year, mut month) = (seconds / 86_400, 1970, 0);
    let weekday = WEEKDAYS[((day + 3) % 7) as usize];
    while day >= months(year).iter().sum() {
        day -= months(year).iter().sum::<u64>();
        year += 1;
    }
    while day >= months(year)[month] {
        day -= months(year)[month];
        month += 1;
    }
    let (day, month, short, last) = (day + 1, MONTHS[month], &weekday[..3], year % 100);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    [
        format!("{short}, {day:02} {month} {year} {time} GMT"),
        format!("{weekday}, {day:02}-{month}-{last:02} {time} GMT"),
        format!("{short} {month} {day:2} {time} {year}"),
        format!("{short} {month} {day:02} {time} {year}"),
    ]
}

/// Returns the seconds from 1970 to a time, or `None` if the year is before 1970 or after 9999. Other numbers that are
/// out of range, such as an hour of 25, are carried over.
fn seconds(year: u64, month: usize, day: u64, [hour, minute, second]: [u64; 3]) -> Option<u64> {
    if !(1970..10_000).contains(&year) {
        return None;
    }
    let years: u64 = (1970..year).flat_map(months).sum();
    let months: u64 = months(year)[..month].iter().sum();
    Some((years + months + day.checked_sub(1)?) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Returns the lengths of a year's months in days.
fn months(year: u64) -> [u64; 12] {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    [31, 28 + u64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}
