//! The types that the derive accepts: structs, generics, recursive types, and all kinds of names and items.

use super::{INNER, Inner, says};
use crate::support::{Failed, secs};
use retry_core::ErrorFault::{self, Client, Other, Server};
use retry_core::RetrySafety::{self, Maybe, No, Yes};
use retry_core::{ErrorInfo, RetryInfo};
use std::time::Duration;

#[test]
fn structs_are_derived_like_variants() {
    #[derive(RetryInfo)]
    #[retry(transparent)]
    struct Newtype(Inner);

    #[derive(RetryInfo)]
    #[retry(timeout, fault = "server")]
    struct Named {
        #[retry(retry_after)]
        wait: Duration,
        other: u8,
    }

    #[derive(RetryInfo)]
    struct Unit;

    assert_eq!(says(&Newtype(Inner)), INNER);
    assert_eq!(says(&Named { wait: secs(1), other: 0 }), (Server, Maybe, false, true, Some(secs(1))));
    assert_eq!(says(&Unit), (Other, No, false, false, None));
}

// Rule M18.
#[test]
fn type_parameters_are_bounded_only_if_a_field_is_used() {
    struct Silent;

    #[derive(RetryInfo)]
    enum Failure<'a, E, W, T: ?Sized, const N: usize>
    where
        W: Clone,
    {
        #[retry(transparent)]
        Inner(Option1<E>),
        #[retry(safe)]
        Wait(#[retry(retry_after)] W),
        #[retry(safe)]
        Other(&'a T, [u8; N]),
    }

    struct Option1<E>(E);
    impl<E: ErrorInfo> ErrorInfo for Option1<E> {
        fn fault(&self) -> ErrorFault {
            self.0.fault()
        }
    }
    impl<E: RetryInfo> RetryInfo for Option1<E> {
        fn is_retry_safe(&self) -> RetrySafety {
            self.0.is_retry_safe()
        }
    }

    type Concrete<'a> = Failure<'a, Inner, Duration, Silent, 2>;
    assert_eq!(says(&Concrete::Inner(Option1(Inner))), (Server, Yes, false, false, None));
    assert_eq!(says(&Concrete::Wait(secs(1))), (Other, Yes, false, false, Some(secs(1))));
    assert_eq!(says(&Concrete::Other(&Silent, [0; 2])), (Other, Yes, false, false, None));
}

#[test]
fn a_type_that_contains_itself_is_derived() {
    #[derive(RetryInfo)]
    enum Tree<E> {
        #[retry(transparent)]
        Leaf(E),
        #[retry(transparent)]
        Node(Box<Tree<E>>),
    }

    assert_eq!(says(&Tree::Node(Box::new(Tree::Leaf(Inner)))), INNER);
}

#[test]
fn an_enum_without_variants_and_raw_names_are_derived() {
    #[derive(RetryInfo)]
    enum Nothing {}

    #[derive(RetryInfo)]
    enum r#Raw {
        #[retry(throttling)]
        r#Type { r#fn: u8 },
    }

    fn says_something<E: RetryInfo>() {}
    says_something::<Nothing>();
    assert!(Raw::Type { r#fn: 0 }.is_throttle());
}

#[test]
fn the_derive_works_inside_macro_rules_and_under_another_name() {
    use retry_core as renamed;

    macro_rules! failure {
        ($name:ident, $fault:literal, $inner:ty) => {
            #[derive(renamed::RetryInfo)]
            #[retry(crate = renamed)]
            enum $name {
                #[retry(fault = $fault)]
                Own,
                #[retry(transparent)]
                Inner($inner),
            }
        };
    }

    failure!(Failure, "server", Inner);
    assert_eq!(says(&Failure::Own), (Server, Maybe, false, false, None));
    assert_eq!(says(&Failure::Inner(Inner)), INNER);
}

// Rule M18.
#[test]
fn only_the_fields_that_are_used_get_bounds() {
    /// A context that is not an error.
    struct Silent;

    #[derive(RetryInfo)]
    enum Failure<A, B, C, D> {
        Asked {
            #[retry(source)]
            cause: Option1<A>,
            context: B,
        },
        Answered(#[retry(http_status)] C, D),
        /// The option of the variant decides, so the field is not used and gets no bound.
        #[retry(safe)]
        Said(#[retry(safe)] D),
    }

    struct Option1<A>(A);
    impl<A: RetryInfo> ErrorInfo for Option1<A> {}
    impl<A: RetryInfo> RetryInfo for Option1<A> {
        fn is_retry_safe(&self) -> RetrySafety {
            self.0.is_retry_safe()
        }
    }

    type Concrete = Failure<Inner, Silent, Option<u16>, Silent>;
    assert_eq!(says(&Concrete::Asked { cause: Option1(Inner), context: Silent }), (Other, Yes, false, false, None));
    assert_eq!(says(&Concrete::Answered(Some(504), Silent)), (Server, Maybe, false, true, None));
    assert_eq!(says(&Concrete::Said(Silent)), (Other, Yes, false, false, None));
}

#[test]
fn a_parameter_that_several_variants_use_is_bounded_for_all_of_them() {
    trait Service {
        type Error;
    }

    #[derive(RetryInfo)]
    enum Failure<S: Service> {
        #[retry(transparent)]
        First(S::Error),
        #[retry(throttling)]
        Second {
            #[retry(source)]
            error: S::Error,
        },
        Third(#[retry(with = judge)] S::Error),
    }

    fn judge<E>(_: &E) -> bool {
        true
    }

    struct Store;
    impl Service for Store {
        type Error = Inner;
    }

    assert_eq!(says(&Failure::<Store>::First(Inner)), INNER);
    assert_eq!(says(&Failure::<Store>::Second { error: Inner }), INNER);
    assert_eq!(says(&Failure::<Store>::Third(Inner)), (Other, Yes, false, false, None));
}

#[test]
fn a_type_that_contains_itself_as_self_is_derived() {
    #[derive(RetryInfo)]
    enum Tree<E> {
        #[retry(transparent)]
        Leaf(E),
        #[retry(fault = "client")]
        Node(#[retry(source)] Box<Self>),
    }

    assert_eq!(says(&Tree::Node(Box::new(Tree::Leaf(Failed::THROTTLED)))), (Client, Yes, true, false, None));
}

#[test]
fn variants_and_fields_that_are_configured_out_are_ignored() {
    #[derive(RetryInfo)]
    #[retry(exhaustive)]
    enum Failure {
        #[cfg(not(test))]
        Unlabelled(NoSuchType),
        #[retry(with = judge)]
        Judged {
            #[cfg(not(test))]
            gone: NoSuchType,
            #[cfg(test)]
            here: u8,
        },
        #[cfg_attr(test, retry(timeout))]
        Labelled,
    }

    fn judge(here: &u8) -> bool {
        *here > 0
    }

    assert_eq!(says(&Failure::Judged { here: 1 }), (Other, Yes, false, false, None));
    assert_eq!(says(&Failure::Labelled), (Other, Maybe, false, true, None));
}

#[test]
fn items_of_every_kind_are_derived_without_a_warning() {
    #![deny(warnings)]

    mod private {
        use retry_core::{ErrorInfo, RetryInfo};

        struct Hidden<E>(E);

        impl<E: RetryInfo> ErrorInfo for Hidden<E> {}
        impl<E: RetryInfo> RetryInfo for Hidden<E> {}

        #[derive(RetryInfo)]
        #[non_exhaustive]
        pub(crate) enum Failure<E> {
            #[retry(transparent)]
            Hidden(Hidden<E>),
            #[deprecated]
            #[retry(throttling)]
            Old,
            #[retry(timeout)]
            #[non_exhaustive]
            Growing {
                code: u8,
            },
            #[cfg(not(test))]
            #[retry(source)]
            Gone,
            Never(std::convert::Infallible),
        }

        impl<E> Failure<E> {
            pub(crate) fn all(error: E) -> [Self; 2] {
                [Self::Hidden(Hidden(error)), Self::Growing { code: 0 }]
            }
        }
    }

    let [hidden, growing] = private::Failure::all(Inner);
    assert_eq!(says(&hidden), (Other, Maybe, false, false, None));
    assert_eq!(says(&growing), (Other, Maybe, false, true, None));
}

#[test]
fn structs_accept_the_options_of_variants() {
    #[derive(RetryInfo)]
    #[retry(fault = "server", with = Self::judge)]
    struct Named {
        #[retry(retry_after)]
        r#in: Option<Duration>,
        r#final: bool,
    }

    impl Named {
        fn judge(_: &Option<Duration>, r#final: &bool) -> Option<RetrySafety> {
            r#final.then_some(No)
        }
    }

    #[derive(RetryInfo)]
    struct Tuple(#[retry(http_status)] u16, #[retry(error_code)] &'static str);

    #[derive(RetryInfo)]
    #[retry(http_status = 429)]
    struct Unit;

    #[derive(RetryInfo)]
    #[retry(with = always)]
    struct Judged;

    fn always() -> bool {
        true
    }

    assert_eq!(says(&Named { r#in: Some(secs(1)), r#final: false }), (Server, Maybe, false, false, Some(secs(1))));
    assert_eq!(says(&Named { r#in: None, r#final: true }), (Server, No, false, false, None));
    assert_eq!(says(&Tuple(503, "SlowDown")), (Server, Yes, true, false, None));
    assert_eq!(says(&Tuple(408, "")), (Client, Yes, false, true, None));
    assert_eq!(says(&Unit), (Client, Yes, true, false, None));
    assert_eq!(says(&Judged), (Other, Yes, false, false, None));
}

#[test]
fn all_options_work_inside_macro_rules() {
    macro_rules! failure {
        ($name:ident, $status:literal, $number:expr, $judge:path, $code:ty, $field:ident) => {
            #[derive(RetryInfo)]
            enum $name {
                #[retry(http_status = $status)]
                Literal,
                #[retry(http_status = $number)]
                Expression,
                #[retry(with = $judge)]
                Judged(u8),
                Answered {
                    #[retry(error_code)]
                    $field: $code,
                },
            }
        };
    }

    fn judge(number: &u8) -> bool {
        *number == 0
    }

    failure!(Failure, 429, 504, judge, Option<String>, code);
    assert_eq!(says(&Failure::Literal), (Client, Yes, true, false, None));
    assert_eq!(says(&Failure::Expression), (Server, Maybe, false, true, None));
    assert_eq!(says(&Failure::Judged(0)), (Other, Yes, false, false, None));
    assert_eq!(says(&Failure::Answered { code: Some("SlowDown".to_owned()) }), (Client, Yes, true, false, None));
}

#[test]
fn an_associated_type_with_the_name_of_the_enum_is_another_type() {
    trait Service {
        type Error;
    }
    struct Store;
    impl Service for Store {
        type Error = Failed;
    }

    #[derive(RetryInfo)]
    enum Error<S: Service> {
        #[retry(transparent)]
        Inner(S::Error),
    }

    assert!(Error::<Store>::Inner(Failed::THROTTLED).is_throttle());
}
