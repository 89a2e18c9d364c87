//! Sizes and durations as people write them: `128KiB`, `4 MB`, `500ms`, `2m`.
//!
//! One table of units serves the allowlist file, `--limit`, the JSON Schema of the file and every
//! text that shows a limit, so what is printed can be pasted back. Sums (`1h30m`) and fractions are
//! left out: a bound needs neither, and an editor can check the short form with one pattern. A
//! duration without a unit is refused, because half the readers would take it for milliseconds.

use std::time::Duration;

use crate::diagnostic::{Diagnostic, quote};

/// Units of a size in bytes, the largest first.
const SIZES: [(&str, u64); 7] = [
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

/// Units of a duration in milliseconds.
const DURATIONS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// The longest duration: a day. Longer is a slip of the unit, and far sums overflow a clock.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// The pattern of a size for editors; [`size`] accepts the same, the unit in any case.
pub const SIZE_PATTERN: &str = "^[0-9]+ ?([GgMmKk][Ii]?)?[Bb]?$";

/// The pattern of a duration for editors; [`duration`] accepts the same.
pub const DURATION_PATTERN: &str = "^[0-9]+ ?(ms|s|m|h)$";

/// Bytes of a size; a bare number is bytes. Never 0.
///
/// # Errors
/// When the text is no whole number of a known unit, is 0, or does not fit.
pub fn size(text: &str) -> Result<usize, Diagnostic> {
    let fault = |why: &str| {
        Diagnostic::error(format!("{} is no size{why}", quote(text)))
            .help("write bytes, or a whole number of kB, KiB, MB, MiB, GB or GiB, like `128KiB`")
    };
    let (number, unit) = split(text).ok_or_else(|| fault(""))?;
    let known = |(name, _): &&(&str, u64)| unit.is_empty() || name.eq_ignore_ascii_case(unit);
    // An empty unit must be bytes, the last of the table.
    let (_, factor) = SIZES.iter().rev().find(known).ok_or_else(|| fault(""))?;
    let bytes = number.checked_mul(*factor).and_then(|bytes| usize::try_from(bytes).ok());
    match bytes {
        Some(0) => Err(fault(", since nothing fits in it")),
        Some(bytes) => Ok(bytes),
        None => Err(fault(", since it is too large")),
    }
}

/// A duration, with its unit. Never 0, at most a day.
///
/// # Errors
/// When the text is no whole number of a known unit, is 0, or is longer than a day.
pub fn duration(text: &str) -> Result<Duration, Diagnostic> {
    let fault = |why: &str| {
        Diagnostic::error(format!("{} is no duration{why}", quote(text)))
            .help("write a whole number of ms, s, m or h, like `30s`")
    };
    let (number, unit) = split(text).ok_or_else(|| fault(""))?;
    let known = DURATIONS.iter().find(|(name, _)| *name == unit);
    let (_, factor) = known.ok_or_else(|| fault(""))?;
    match number.checked_mul(*factor).map(Duration::from_millis) {
        Some(Duration::ZERO) => Err(fault(", since no time is left")),
        Some(duration) if duration <= LONGEST => Ok(duration),
        _ => Err(fault(", since it is over a day")),
    }
}

/// The digits and what follows them; `None` when there are no digits or too many.
fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, unit.strip_prefix(' ').unwrap_or(unit)))
}

/// A size as [`size`] reads it, in the largest unit that needs no fraction.
pub fn show_size(bytes: usize) -> String {
    show(bytes as u64, &SIZES)
}

/// A duration as [`duration`] reads it, to the millisecond, in the largest unit that needs no fraction.
pub fn show_duration(duration: Duration) -> String {
    show(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX), &DURATIONS)
}

fn show(number: u64, units: &[(&str, u64)]) -> String {
    let whole = |(_, factor): &&(&str, u64)| number >= *factor && number.is_multiple_of(*factor);
    match units.iter().find(whole) {
        Some((name, factor)) => format!("{}{name}", number / factor),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_in_decimal_and_binary_units() {
        let check = |text: &str, bytes: usize| assert_eq!(size(text), Ok(bytes), "{text}");
        check("1", 1);
        check("131072", 131_072);
        check("7B", 7);
        check("128KiB", 131_072);
        check("128 KiB", 131_072);
        check(" 128kib ", 131_072);
        check("128kB", 128_000);
        check("128KB", 128_000);
        check("4MiB", 4_194_304);
        check("32MB", 32_000_000);
        check("1GiB", 1_073_741_824);
        check("1GB", 1_000_000_000);
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_way_out() {
        for text in ["", "KiB", "1.5MiB", "-1", "1 potato", "128 K", "1  KiB", "0", "0KiB", "²"] {
            let fault = size(text).unwrap_err().to_string();
            assert!(fault.contains(&format!("`{text}` is no size")), "{fault}");
            assert!(fault.contains("`128KiB`"), "{fault}");
        }
        let large = size("99999999999GiB").unwrap_err();
        assert_eq!(large.message, "`99999999999GiB` is no size, since it is too large");
        assert!(size("99999999999999999999999").is_err());
    }

    #[test]
    fn durations_need_a_unit() {
        let check = |text: &str, ms: u64| {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        };
        check("30s", 30_000);
        check("30 s", 30_000);
        check("500ms", 500);
        check("2m", 120_000);
        check("1h", 3_600_000);
        check("24h", 86_400_000);
    }

    #[test]
    fn what_is_no_duration_is_refused_with_the_way_out() {
        for text in ["30", "", "s", "1.5s", "-1s", "1h30m", "30S", "0s", "25h", "99999999999h"] {
            let fault = duration(text).unwrap_err().to_string();
            assert!(fault.contains(&format!("`{text}` is no duration")), "{fault}");
            assert!(fault.contains("`30s`"), "{fault}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read_again() {
        for (bytes, text) in [
            (131_072, "128KiB"),
            (32_000_000, "32MB"),
            (1, "1B"),
            (1_048_576, "1MiB"),
            (1_001, "1001B"),
        ] {
            assert_eq!(show_size(bytes), text);
            assert_eq!(size(text), Ok(bytes));
        }
        for (ms, text) in [(30_000, "30s"), (120_000, "2m"), (1_500, "1500ms"), (3_600_000, "1h")] {
            assert_eq!(show_duration(Duration::from_millis(ms)), text);
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)));
        }
    }
}
