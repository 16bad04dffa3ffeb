//! The texts mean the settings of the form. The statics of some forms are in files, which are compiled here. After a change of the
//! texts, `UPDATE_EXPECT=1 cargo test -p playground --test texts` renews them.

use expect_test::expect_file;
use playground::{Form, Kind, rust, toml};
use retry_config::{RetryConfig, RetryMode};
use retry_core::strategy::StandardRetrySettings;
use retry_core::{
    AdaptiveRetryStrategy, ExponentialBackoff, Jitter, PatientRetryStrategy, RetryErrorType, RetryQuota,
    StandardRetryStrategy,
};
use retry_limits::PacedRetryStrategy;
use serde_json::json;
use std::time::Duration;

/// What a strategy does.
#[derive(Debug, PartialEq)]
struct Meaning {
    mode: RetryMode,
    settings: StandardRetrySettings,
    bases: [Duration; 4],
    cap: Duration,
    jitter: Jitter,
    quota: u32,
}

impl Meaning {
    fn new(mode: RetryMode, settings: StandardRetrySettings, backoff: &ExponentialBackoff, quota: u32) -> Self {
        let classes =
            [RetryErrorType::Throttling, RetryErrorType::Timeout, RetryErrorType::Conflict, RetryErrorType::Other];
        let (bases, cap) = (classes.map(|class| backoff.base(class)), backoff.cap());
        Self { mode, settings, bases, cap, jitter: backoff.jitter_setting(), quota }
    }

    fn of_config(config: &RetryConfig) -> Self {
        let strategy = config.build_on(StandardRetryStrategy::new()).unwrap();
        Self::new(strategy.mode(), strategy.settings(), &strategy.backoff_strategy(), strategy.quota().available())
    }

    fn of(form: &Form) -> Self {
        match form.strategy {
            Kind::Patient => Self::of_patient(&form.patient()),
            Kind::Configured(_) => Self::of_config(&form.config()),
        }
    }

    fn of_patient(store: &PatientRetryStrategy) -> Self {
        Self::of_standard(store.standard(), RetryMode::Standard)
    }

    fn of_standard<Q: RetryQuota>(store: &StandardRetryStrategy<ExponentialBackoff, Q>, mode: RetryMode) -> Self {
        Self::new(mode, store.settings(), store.backoff_strategy(), store.quota().available())
    }

    fn of_adaptive(store: &AdaptiveRetryStrategy) -> Self {
        Self::of_standard(store.standard(), RetryMode::Adaptive)
    }

    fn of_paced(store: &PacedRetryStrategy) -> Self {
        Self::of_standard(store.standard(), RetryMode::Paced)
    }
}

fn form(strategy: &str, preset: &str, [attempts, base, cap, quota]: [&str; 4]) -> Form {
    let fields = json!({
        "strategy": strategy, "preset": preset, "attempts": attempts, "base": base, "cap": cap, "quota": quota,
        "load": "80", "workers": "64", "limit": "100", "outage": "10",
    });
    Form::parse(&fields.to_string()).unwrap()
}

const PATIENT: [&str; 4] = ["10", "1000", "4", "500"];
const DEFAULT: [&str; 4] = ["5", "1000", "20", "500"];
const OTHER: [&str; 4] = ["4", "150", "5", "50"];

#[test]
fn the_file_means_the_settings() {
    for strategy in ["standard", "adaptive", "paced"] {
        for preset in ["default", "aws_2_0", "aws_2_1"] {
            for numbers in [DEFAULT, OTHER, ["1", "1", "1", "0"], ["20", "2500", "3600", "100000"]] {
                let form = form(strategy, preset, numbers);
                let text = toml(&form);
                let read: RetryConfig = toml::from_str(&text).unwrap();
                assert_eq!(read, form.config(), "{text}");
                let meaning = Meaning::of_config(&read);
                assert_eq!(
                    (Kind::Configured(meaning.mode), meaning.settings.max_attempts),
                    (form.strategy, form.attempts),
                    "{text}"
                );
                assert_eq!((meaning.bases[3], meaning.cap), (form.base, form.cap), "{text}");
                assert_eq!(meaning.quota, form.quota, "{text}");
            }
        }
    }
}

/// Compiles the static of a form from a file, and compares what both mean.
macro_rules! statics {
    ($($name:ident: $file:literal, $form:expr, $meaning:expr;)+) => {
        $(
            mod $name {
                include!($file);

                pub(super) fn meaning() -> super::Meaning {
                    $meaning(&STORE)
                }
            }
        )+

        #[test]
        fn the_static_means_the_settings() {
            $(expect_file![$file].assert_eq(&rust(&$form));)+
            $(assert_eq!($name::meaning(), Meaning::of(&$form), stringify!($name));)+
        }
    };
}

statics! {
    patient: "statics/patient.rs", form("patient", "default", PATIENT), super::Meaning::of_patient;
    patient_other: "statics/patient_other.rs", form("patient", "aws_2_1", OTHER), super::Meaning::of_patient;
    default: "statics/default.rs", form("standard", "default", DEFAULT),
        |store| super::Meaning::of_standard(store, super::RetryMode::Standard);
    other: "statics/other.rs", form("standard", "default", OTHER),
        |store| super::Meaning::of_standard(store, super::RetryMode::Standard);
    aws: "statics/aws.rs", form("standard", "aws_2_1", OTHER),
        |store| super::Meaning::of_standard(store, super::RetryMode::Standard);
    adaptive: "statics/adaptive.rs", form("adaptive", "aws_2_0", OTHER), super::Meaning::of_adaptive;
    paced: "statics/paced.rs", form("paced", "default", DEFAULT), super::Meaning::of_paced;
}
