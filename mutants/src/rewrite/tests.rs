//! Small sources, what they become, and that they still mean the same.

use super::{Kind, Rewritten, constants, rewrite};
use crate::edit::{blamed, original};
use crate::tree::text;
use std::process::Command;

fn rewritten(source: &str) -> Rewritten {
    rewritten_without(source, &[])
}

fn rewritten_without(source: &str, left_out: &[&str]) -> Rewritten {
    let file = syn::parse_file(source).expect("it is Rust");
    rewrite(source, &file, 0, &constants(&file), &|_, change| left_out.contains(&change))
}

/// Returns the changes, without the uses of constants.
fn changes(source: &str) -> Vec<String> {
    let mutants = rewritten(source).mutants.into_iter();
    mutants.filter(|mutant| mutant.kind != Kind::Use).map(|mutant| mutant.change).collect()
}

#[test]
fn a_comparison_becomes_its_neighbours() {
    assert_eq!(changes("fn f(a: u8, b: u8) -> bool { a < b }"), ["a < b -> a <= b", "a < b -> a >= b"]);
    assert_eq!(changes("fn f(a: u8, b: u8) -> bool { a >= b }"), ["a >= b -> a > b", "a >= b -> a < b"]);
    assert_eq!(changes("fn f(a: u8, b: u8) -> bool { a == b }"), ["a == b -> a != b"]);
}

#[test]
fn the_operands_of_a_nested_operator_are_written_once() {
    let file = rewritten("fn f(a: u8, b: u8) -> u8 { a + b * a }");
    assert_eq!(
        text(&file),
        "fn f(a: u8, b: u8) -> u8 { (match (a, (match (b, a) { (__l, __r) => if ::mutants_switch::on(1) { __l / __r } else \
         { __l * __r } })) { (__l, __r) => if ::mutants_switch::on(0) { __l - __r } else { __l + __r } }) }"
    );
    assert_eq!(file.mutants.len(), 2);
}

#[test]
fn constants_are_changed_by_little_and_by_much() {
    assert_eq!(changes("fn f() -> u8 { 0 }"), ["0 -> 1"]);
    assert_eq!(changes("fn f() -> u8 { 1_u8 }"), ["1_u8 -> 0u8", "1_u8 -> 2u8"]);
    assert_eq!(changes("fn f() -> u32 { 30 }"), ["30 -> 15", "30 -> 31"]);
    assert_eq!(changes("fn f() -> f64 { 1.5 }"), ["1.5 -> 0.75", "1.5 -> 3.0"]);
    assert_eq!(changes("fn f() -> bool { true }"), ["true -> false"]);
    assert_eq!(
        changes("fn f() -> Duration { Duration::ZERO }"),
        ["Duration::ZERO -> ::core::time::Duration::from_millis(1)"]
    );
}

#[test]
fn statements_and_early_returns_are_dropped() {
    assert_eq!(
        changes("fn f(&self) -> u8 { if self.is() { return self.a; } self.note(); self.b }"),
        ["self.is() -> true", "self.is() -> false", "return self.a; -> dropped", "self.note(); -> dropped",]
    );
    // A block that must not end keeps its last statement.
    assert_eq!(changes("fn f(a: Option<u8>) -> u8 { let Some(a) = a else { return a; }; a }"), [""; 0]);
}

#[test]
fn conditions_with_patterns_and_guards_are_changed_as_far_as_they_can_be() {
    assert_eq!(
        changes("fn f(a: Option<u8>, b: bool) { if let Some(a) = a && b { g(a); } }"),
        ["let Some(a) = a && b -> false", "g(a); -> dropped"]
    );
    assert_eq!(
        changes("fn f(a: Option<u8>, b: bool) -> bool { match a { Some(a) if b => g(a), _ => b } }"),
        ["b -> true", "b -> false"]
    );
}

#[test]
fn tests_and_what_is_not_compiled_are_left_alone() {
    assert_eq!(changes("#[cfg(test)] mod tests { fn f() -> u8 { 1 } } #[test] fn f() { g(1); }"), [""; 0]);
    assert_eq!(changes("#[cfg(loom)] fn f() -> u8 { 1 } #[cfg(not(feature = \"test\"))] fn f() -> u8 { 1 }"), [""; 0]);
    assert_eq!(changes("#[cfg(any(loom, feature = \"test\"))] fn f() -> u8 { 0 }"), ["0 -> 1"]);
}

#[test]
fn what_must_be_known_at_compile_time_is_left_alone() {
    assert_eq!(
        changes("fn f(a: [u8; 2]) -> [u8; 3] { match a { [1, 2] => [0; 3], _ => const { [0; 3] } } }"),
        ["0 -> 1"]
    );
}

#[test]
fn a_constant_gets_a_function_that_expressions_call() {
    let file = rewritten("use super::B; const A: u8 = 2; fn f(a: u8) -> bool { match a { A => true, _ => a == A } }");
    let text = text(&file);
    assert!(
        text.contains("const A: u8 = 2; #[allow(non_snake_case)]  const fn A__m() -> u8 { (if ::mutants_switch::on("),
        "{text}"
    );
    assert!(text.contains("match a { A =>"), "patterns keep the constant: {text}");
    assert!(text.contains("A__m())"), "{text}");
    assert!(text.starts_with("use super::B;"), "another file's: {text}");
    assert!(text_of("const B: u8 = 2; mod m { use super::B; }").contains("use super::{B, B__m};"));
    let two = "#[cfg(not(loom))] const A: u8 = 2; #[cfg(loom)] const A: u8 = 1; fn f() -> u8 { A }";
    assert!(!text_of(two).contains("A__m"), "it has two values");
}

fn text_of(source: &str) -> String {
    text(&rewritten(source))
}

#[test]
fn equal_changes_of_a_function_are_numbered_and_do_not_depend_on_lines() {
    let changes = |source: &str| {
        let mutants = rewritten(source).mutants.into_iter();
        mutants.map(|mutant| format!("{}: {}", mutant.function, mutant.change)).collect::<Vec<_>>()
    };
    let expected = ["T for S::f: 0 -> 1", "T for S::f: 0 -> 1 (2)", "S::f: 0 -> 1"];
    assert_eq!(changes("impl T for S { fn f() { g(0, 0) } } impl S { fn f() -> u8 { 0 } }")[1..], expected);
    let moved = changes("\n\n// a\nimpl T for S {\n /// b\n fn f() { g(0, 0) } } impl S { fn f() -> u8 { 0 } }");
    assert_eq!(moved[1..], expected);
}

#[test]
fn a_mutant_that_does_not_compile_is_left_out_and_others_keep_their_numbers() {
    let source = "fn f(a: T, b: T) -> T { a + b - a }";
    let all = rewritten(source);
    let without = rewritten_without(source, &["a + b -> a - b"]);
    assert_eq!(all.mutants.len(), without.mutants.len());
    assert!(text(&without).contains("(match (a + b, a) {"), "{}", text(&without));
}

#[test]
fn an_error_is_about_the_mutant_at_its_place() {
    let file = rewritten("fn f(a: T, b: T) -> bool { a + b < a }");
    let text = text(&file);
    let at = |part: &str| text.find(part).map(|start| start..start + part.len()).expect("it is there");
    assert_eq!(blamed(&file.chunks, &at("__l - __r")), [2]);
    assert_eq!(blamed(&file.chunks, &at("*__l >= *__r")), [1]);
    // The whole of the inner expression, and of the outer one.
    assert_eq!(
        blamed(&file.chunks, &(text.find("(match (a").unwrap_or_default()..text.find(")), &(a").unwrap_or_default())),
        [2]
    );
    assert_eq!(blamed(&file.chunks, &(0..text.len())), [0, 1]);
    assert_eq!(original(&file.chunks, at("fn f").end), "fn f".len());
}

/// Runs a program without a mutant, and with each of them.
#[test]
fn without_a_mutant_the_meaning_is_the_same_and_each_mutant_changes_it() {
    let source = r#"
        use std::time::Duration;
        const STEP: u32 = 2;
        struct Limit { most: u32 }
        impl Limit {
            const NONE: Self = Self { most: 7 };
            const SOME: &'static Self = &Self { most: 9 };
            const fn some() -> &'static Self { Self::SOME }
            const fn half(&self) -> u32 { self.most / 2 }
        }
        fn count(mut number: u32) -> u32 {
            let mut steps = 0;
            for _ in 0..40 {
                if number <= 1 || number == 7 { break; }
                number = if number % STEP == 0 { number / STEP } else { 3 * number + 1 };
                steps += 1;
            }
            steps
        }
        fn texts() -> Vec<String> {
            let wait = Duration::from_secs(3).saturating_sub(Duration::from_millis(500)).min(Duration::MAX);
            let mut texts = vec![count(6).to_string(), count(27).to_string(), format!("{wait:?}")];
            texts.push(Limit::NONE.half().to_string());
            texts.push(Limit::some().most.to_string());
            texts.push((-5 + -3_i64).to_string());
            texts.push(format!("{}", !(wait.is_zero() || matches!(wait, Duration::MAX))));
            texts
        }
        fn main() { println!("{:?}", texts()); }
    "#;
    let file = rewritten(source);
    let folder = std::env::temp_dir().join(format!("mutants-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let compile = |name: &str, text: &str, arguments: &[&str]| {
        std::fs::write(folder.join(name), text).expect("it can be written");
        let mut command = Command::new("rustc");
        command.current_dir(&folder).env("RUSTC_BOOTSTRAP", "mutants_switch").args(["--edition", "2024", "-Awarnings"]);
        assert!(command.args(arguments).arg(name).status().expect("rustc runs").success(), "{text}");
    };
    compile(
        "mutants_switch.rs",
        include_str!("../../switch.rs"),
        &["--crate-type", "rlib", "--crate-name", "mutants_switch"],
    );
    compile("original.rs", source, &[]);
    compile("mutated.rs", &text(&file), &["--extern", "mutants_switch=libmutants_switch.rlib"]);
    let run = |program: &str, mutant: Option<usize>| {
        let mut command = Command::new(folder.join(program));
        command.envs(mutant.map(|number| ("MUTANT", number.to_string())));
        String::from_utf8_lossy(&command.output().expect("it runs").stdout).into_owned()
    };
    let expected = run("original", None);
    assert_eq!(run("mutated", None), expected);
    let mutants = file.mutants.iter().enumerate().filter(|(_, mutant)| mutant.kind != Kind::Use);
    let same = mutants.filter(|(number, _)| run("mutated", Some(*number)) == expected);
    let same: Vec<_> = same.map(|(_, mutant)| &*mutant.change).collect();
    std::fs::remove_dir_all(&folder).expect("it can be removed");
    assert_eq!(same, [""; 0]);
}
