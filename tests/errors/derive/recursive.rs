//! Generic errors that contain each other, and the bounds of their fields.

use super::{INNER, Inner, says};
use crate::support::{Failed, secs};
use retry_core::ErrorFault::{Client, Other};
use retry_core::RetrySafety::{Maybe, No, Yes};
use retry_core::{ErrorInfo, RetryInfo, RetrySafety};
use std::fmt::{Debug, Display};
use std::rc::Rc;
use std::sync::Arc;

/// A context that is not an error.
struct Silent;

trait Service {
    type Error;
}

struct Store;

impl Service for Store {
    type Error = Inner;
}

#[test]
fn two_types_may_contain_each_other() {
    #[derive(RetryInfo)]
    struct Session<T> {
        #[retry(source)]
        cause: Box<Transport<T>>,
    }

    #[derive(RetryInfo)]
    enum Transport<T> {
        #[retry(transparent)]
        Session(Box<Session<T>>),
        Leaf(#[retry(source)] T),
    }

    let error = Session { cause: Box::new(Transport::Leaf(Inner)) };
    assert_eq!(says(&error), INNER);
    let error = Session { cause: Box::new(Transport::Session(Box::new(error))) };
    assert_eq!(says(&error), INNER);
}

#[test]
fn one_pointer_of_any_kind_in_the_cycle_is_enough() {
    #[derive(RetryInfo)]
    enum First<'a, T: ?Sized> {
        #[retry(fault = "client")]
        Counted(#[retry(source)] Rc<Second<'a, T>>),
        Boxed(#[retry(source)] Option<Box<Second<'a, T>>>),
        #[retry(transparent)]
        Lent(&'a Second<'a, T>),
    }

    #[derive(RetryInfo)]
    enum Second<'a, T: ?Sized> {
        #[retry(transparent)]
        Third(Third<'a, T>),
        #[retry(transparent)]
        Leaf(&'a T),
    }

    #[derive(RetryInfo)]
    #[retry(transparent)]
    struct Third<'a, T: ?Sized>(First<'a, T>);

    let leaf = Second::<Failed>::Leaf(&Failed::THROTTLED);
    let third = Second::Third(Third(First::Lent(&leaf)));
    assert_eq!(says(&third), (Other, Yes, true, false, None));
    assert_eq!(says(&First::Boxed(None::<Box<Second<'_, Failed>>>)), (Other, No, false, false, None));
    let wait = Failed::TIMEOUT.after(secs(1));
    let error = First::Counted(Rc::new(Second::Third(Third(First::Boxed(Some(Box::new(Second::Leaf(&wait))))))));
    assert_eq!(says(&error), (Client, Maybe, false, true, Some(secs(1))));
}

#[test]
fn common_bounds_on_the_parameters_are_accepted() {
    #[derive(Debug, RetryInfo)]
    struct Session<T: Debug + Send + 'static>
    where
        T: Display,
    {
        #[retry(source)]
        cause: Option<Box<Transport<T>>>,
    }

    #[derive(Debug, RetryInfo)]
    enum Transport<T: Debug + Display + Send + 'static> {
        #[retry(transparent)]
        Session(Session<T>),
        #[retry(transparent)]
        Leaf(Box<T>),
    }

    #[derive(Debug, RetryInfo)]
    #[retry(throttling)]
    struct Shown;
    impl Display for Shown {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("shown")
        }
    }

    let leaf = Session { cause: Some(Box::new(Transport::Leaf(Box::new(Shown)))) };
    let error = Session { cause: Some(Box::new(Transport::Session(leaf))) };
    assert_eq!(says(&error), (Other, Yes, true, false, None));
}

#[test]
fn types_of_several_parameters_may_contain_each_other_if_a_bound_is_declared() {
    #[derive(RetryInfo)]
    struct Session<C, T>
    where
        T: RetryInfo,
    {
        context: C,
        #[retry(source)]
        cause: Box<Transport<C, T>>,
    }

    #[derive(RetryInfo)]
    enum Transport<C, T: RetryInfo> {
        #[retry(transparent)]
        Session(Box<Session<C, T>>),
        #[retry(transparent)]
        Leaf(T),
    }

    let leaf = Session { context: Silent, cause: Box::new(Transport::Leaf(Inner)) };
    let error = Session { context: Silent, cause: Box::new(Transport::Session(Box::new(leaf))) };
    assert_eq!(says(&error), INNER);
}

#[test]
fn a_boxed_type_is_bounded_as_a_whole_if_no_parameter_need_be_an_error() {
    /// An error with a context that is not an error.
    struct Located<C, E>(C, E);
    impl<C, E: RetryInfo> ErrorInfo for Located<C, E> {}
    impl<C, E: RetryInfo> RetryInfo for Located<C, E> {
        fn is_retry_safe(&self) -> RetrySafety {
            self.1.is_retry_safe()
        }
    }

    /// The error of a service.
    struct Of<S: Service>(S::Error);
    impl<S: Service<Error: RetryInfo>> ErrorInfo for Of<S> {}
    impl<S: Service<Error: RetryInfo>> RetryInfo for Of<S> {
        fn is_throttle(&self) -> bool {
            self.0.is_throttle()
        }
    }

    #[derive(RetryInfo)]
    enum Failure<C, E, S: Service> {
        Located(#[retry(source)] Box<Located<C, E>>),
        #[retry(transparent)]
        Of(Arc<Of<S>>),
        #[retry(transparent)]
        Service(Box<S::Error>),
    }

    /// A single parameter that is not an error, as a declared bound shows.
    #[derive(RetryInfo)]
    struct Placed<C>(#[retry(source)] Box<Located<C, Inner>>)
    where
        Box<Located<C, Inner>>: RetryInfo;

    type Concrete = Failure<Silent, Inner, Store>;
    assert_eq!(says(&Concrete::Located(Box::new(Located(Silent, Inner)))), (Other, Yes, false, false, None));
    assert_eq!(says(&Concrete::Of(Arc::new(Of(Inner)))), (Other, Yes, true, false, None));
    assert_eq!(says(&Concrete::Service(Box::new(Inner))), INNER);
    assert_eq!(says(&Placed(Box::new(Located(Silent, Inner)))), (Other, Yes, false, false, None));
}
