//! The names of fleets and of programs.

/// The longest name of a fleet or a program, in bytes.
pub(crate) const LONGEST: usize = 128;

/// Returns whether a fleet can have this name. Braces mark the slot of the keys in a cluster.
#[cfg(feature = "tokio")]
pub(crate) fn is_name(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && !name.contains(['{', '}'])
}

/// Returns the name of the executable file as it was started, or an empty one if it is unknown. The path of the running file
/// can have another name, because a rollout may replace the file or turn a link.
#[cfg(feature = "tokio")]
pub(crate) fn name_of_program() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_suffix(std::env::consts::EXE_SUFFIX).unwrap_or(&name).to_owned()
}
